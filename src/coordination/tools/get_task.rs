//! `get_task`: one task with its latest context.

use serde_json::{Value, json};

use super::{TASK_ID, given};
use crate::coordination::rules::task;
use crate::coordination::store::{Scope, Work};
use crate::coordination::tool::{Run, Tool};
use crate::coordination::{Error, Terms};
use crate::toolkit::{Arguments, Effect};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "get_task",
    title: "Get a task",
    description: "Get a task with what was noted about it last.",
    parameters: &[TASK_ID],
    scopes: &[Scope::Agent],
    effect: Effect::Read,
    deprecated: false,
    run: Run::Read(run),
};

fn run(work: &mut Work<'_>, arguments: &Arguments, _terms: &Terms) -> Result<Value, Error> {
    let task = task(work, &given(arguments, "task_id"))?;
    Ok(json!({"success": true, "task": task}))
}

/// A task with what was noted about it.
pub(crate) fn task(work: &mut Work<'_>, id: &str) -> Result<Value, Error> {
    let mut shown = json!(task::find(work, id)?);
    shown["latest_context"] = json!(work.latest_context(id)?);
    Ok(shown)
}
