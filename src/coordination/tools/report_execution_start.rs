//! `report_execution_start`: deprecated; begins an execution.

use serde_json::{Value, json};

use super::{SESSION_TOKEN, TASK_ID, given, refusal};
use crate::coordination::rules::{execution, session};
use crate::coordination::store::{Scope, Work};
use crate::coordination::tool::{Run, Tool};
use crate::coordination::{Error, Terms};
use crate::toolkit::{Arguments, Effect};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "report_execution_start",
    title: "Report the start of an execution",
    description: "[DEPRECATED] get_my_task does it. Say that you begin a task.",
    parameters: &[SESSION_TOKEN, TASK_ID],
    scopes: &[Scope::Agent],
    effect: Effect::Ensure,
    deprecated: true,
    run: Run::Write(run),
};

fn run(work: &mut Work<'_>, arguments: &Arguments, terms: &Terms) -> Result<Value, Error> {
    const REFUSED: &str = "Invalid session_token or task_id";
    let (token, task) = (given(arguments, "session_token"), given(arguments, "task_id"));
    let mut session = session::alive(work, &token, terms)?.ok_or_else(|| Error::refused(REFUSED))?;
    let task = work.task(&task)?.filter(|task| task.is_for(&session.agent_id) && task.project_id == session.project_id);
    let Some(task) = task else {
        // The session was used, and lives on.
        return Ok(refusal(REFUSED));
    };
    if session.task_id.is_none() {
        session.task_id = Some(task.id.clone());
        work.change_session(&session)?;
    }
    let execution = execution::running_or_new(work, &session, &task.id)?;
    Ok(json!({"success": true, "execution_id": execution.id, "started_at": execution.started_at}))
}
