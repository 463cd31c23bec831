//! `list_execution_logs`: which agent worked on which task.

use serde_json::{Value, json};

use crate::coordination::store::{Scope, Work};
use crate::coordination::tool::{Handler, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Arguments, Effect, Kind, Parameter};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "list_execution_logs",
    title: "List execution logs",
    description: "List which agent worked on which task, newest first. These are execution logs of agents, not executions of n8n.",
    parameters: &[
        Parameter::optional("task_id", Kind::Text, "Only logs of this task."),
        Parameter::optional("agent_id", Kind::Text, "Only logs of this agent."),
        Parameter::optional(
            "limit",
            Kind::Integer { range: 1..=100, default: Some(20) },
            "The maximum number of logs.",
        ),
    ],
    effect: Effect::Read,
    handler: Handler::read(&[Scope::Runner], run),
};

fn run(work: &mut Work<'_>, arguments: &Arguments, _policy: &SessionPolicy) -> Result<Value, Error> {
    let (task, agent) = (arguments.text("task_id"), arguments.text("agent_id"));
    let limit = arguments.integer("limit").and_then(|limit| i64::try_from(limit).ok()).unwrap_or(20);
    let logs = work.executions(task.as_deref(), agent.as_deref(), limit)?;
    Ok(json!({"success": true, "logs": logs}))
}
