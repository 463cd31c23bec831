//! `list_execution_logs`: who worked on what.

use serde_json::{Value, json};

use crate::coordination::store::{Scope, Work};
use crate::coordination::tool::{Run, Tool};
use crate::coordination::{Error, Terms};
use crate::toolkit::{Arguments, Effect, Kind, Parameter};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "list_execution_logs",
    title: "List execution logs",
    description: "List who worked on what, newest first: execution logs of agents, not executions of n8n.",
    parameters: &[
        Parameter::optional("task_id", Kind::Text, "Only of this task."),
        Parameter::optional("agent_id", Kind::Text, "Only of this agent."),
        Parameter::optional("limit", Kind::Integer { range: 1..=100, default: Some(20) }, "How many at most."),
    ],
    scopes: &[Scope::Runner],
    effect: Effect::Read,
    deprecated: false,
    run: Run::Read(run),
};

fn run(work: &mut Work<'_>, arguments: &Arguments, _terms: &Terms) -> Result<Value, Error> {
    let (task, agent) = (arguments.text("task_id"), arguments.text("agent_id"));
    let limit = arguments.integer("limit").and_then(|limit| i64::try_from(limit).ok()).unwrap_or(20);
    let logs = work.executions(task.as_deref(), agent.as_deref(), limit)?;
    Ok(json!({"success": true, "logs": logs}))
}
