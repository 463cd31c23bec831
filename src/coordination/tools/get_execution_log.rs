//! `get_execution_log`: one execution log.

use serde_json::{Value, json};

use crate::coordination::error::not_found;
use crate::coordination::store::{Scope, Work};
use crate::coordination::tool::{Handler, Rule, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Effect, Text, arguments};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "get_execution_log",
    title: "Get an execution log",
    description: "Get one execution log of an agent, with the path of its log file.",
    parameters: GetExecutionLog::PARAMETERS,
    effect: Effect::Read,
    handler: Handler::read::<GetExecutionLog>(&[Scope::Runner]),
};

arguments! {
    struct GetExecutionLog: snake_case {
        execution_id: Text = "The id of an execution log, from list_execution_logs.",
    }
}

impl Rule for GetExecutionLog {
    fn run(&self, work: &mut Work<'_>, _policy: &SessionPolicy) -> Result<Value, Error> {
        let log = execution_log(work, &self.execution_id)?;
        Ok(json!({"success": true, "log": log}))
    }
}

/// An execution log, with the path of its log file.
pub(crate) fn execution_log(work: &mut Work<'_>, id: &str) -> Result<Value, Error> {
    let execution = work.execution(id)?.ok_or_else(|| not_found("Execution log", id))?;
    let mut log = json!(execution);
    log["logFilePath"] = json!(execution.log_file_path);
    Ok(log)
}
