//! `get_task_context`: what was noted about a task.

use serde_json::{Value, json};

use super::{OFFSET, TASK_ID, given};
use crate::coordination::rules::task;
use crate::coordination::store::{Scope, Work};
use crate::coordination::tool::{Run, Tool};
use crate::coordination::{Error, Terms};
use crate::toolkit::{Arguments, Effect, Kind, Parameter};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "get_task_context",
    title: "Get a task's context",
    description: "Get what was noted about a task: of each field the latest, and with include_history every note, newest first.",
    parameters: &[TASK_ID, Parameter::optional("include_history", Kind::FLAG, "Every note, too."), OFFSET],
    scopes: &[Scope::Agent],
    effect: Effect::Read,
    deprecated: false,
    run: Run::Read(run),
};

fn run(work: &mut Work<'_>, arguments: &Arguments, _terms: &Terms) -> Result<Value, Error> {
    context(work, &given(arguments, "task_id"), arguments.flag("include_history"))
}

/// What was noted about a task.
pub(crate) fn context(work: &mut Work<'_>, task: &str, with_history: bool) -> Result<Value, Error> {
    let task = task::find(work, task)?;
    let latest = work.latest_context(&task.id)?;
    let mut shown = json!({"success": true, "task_id": task.id, "latest_context": latest});
    if with_history {
        shown["contexts"] = json!(work.contexts(&task.id)?);
    }
    Ok(shown)
}
