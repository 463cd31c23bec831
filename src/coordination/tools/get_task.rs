//! `get_task`: one task, with its current context.

use serde_json::{Value, json};

use super::{TASK_ID, required_text};
use crate::coordination::rules::task;
use crate::coordination::store::{Scope, Work};
use crate::coordination::tool::{Handler, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Arguments, Effect};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "get_task",
    title: "Get a task",
    description: "Get a task, with its current context.",
    parameters: &[TASK_ID],
    effect: Effect::Read,
    handler: Handler::read(&[Scope::Agent], run),
};

fn run(work: &mut Work<'_>, arguments: &Arguments, _policy: &SessionPolicy) -> Result<Value, Error> {
    let task = task(work, &required_text(arguments, "task_id"))?;
    Ok(json!({"success": true, "task": task}))
}

/// A task, with its current context.
pub(crate) fn task(work: &mut Work<'_>, id: &str) -> Result<Value, Error> {
    let mut shown = json!(task::find(work, id)?);
    shown["latest_context"] = json!(work.latest_context(id)?);
    Ok(shown)
}
