//! `list_execution_logs`: which agent worked on which task.

use serde_json::{Value, json};

use crate::coordination::store::{Scope, Work};
use crate::coordination::tool::{Handler, Rule, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Effect, IntegerOr, Text, arguments};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "list_execution_logs",
    title: "List execution logs",
    description: "List which agent worked on which task, newest first. These are execution logs of agents, not executions of n8n.",
    parameters: ListExecutionLogs::PARAMETERS,
    effect: Effect::Read,
    handler: Handler::read::<ListExecutionLogs>(&[Scope::Runner]),
};

arguments! {
    struct ListExecutionLogs: snake_case {
        task_id: Option<Text> = "Only logs of this task.",
        agent_id: Option<Text> = "Only logs of this agent.",
        limit: IntegerOr<20, 1, 100> = "The maximum number of logs.",
    }
}

impl Rule for ListExecutionLogs {
    fn run(&self, work: &mut Work<'_>, _policy: &SessionPolicy) -> Result<Value, Error> {
        let (task, agent, limit) = (self.task_id.as_deref(), self.agent_id.as_deref(), self.limit.cast_signed());
        Ok(json!({"success": true, "logs": work.executions(task, agent, limit)?}))
    }
}
