//! `get_task_context`: a task's current context and the notes behind it.

use serde_json::{Value, json};

use super::{OFFSET, TASK_ID, required_text};
use crate::coordination::rules::task;
use crate::coordination::store::{Scope, Work};
use crate::coordination::tool::{Handler, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Arguments, Effect, Kind, Parameter};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "get_task_context",
    title: "Get a task's context",
    description: "Get a task's current context: the latest value of each field, and with include_history every saved note, newest first.",
    parameters: &[TASK_ID, Parameter::optional("include_history", Kind::FLAG, "Also return every saved note."), OFFSET],
    effect: Effect::Read,
    handler: Handler::read(&[Scope::Agent], run),
};

fn run(work: &mut Work<'_>, arguments: &Arguments, _policy: &SessionPolicy) -> Result<Value, Error> {
    context(work, &required_text(arguments, "task_id"), arguments.flag("include_history"))
}

/// A task's current context, and with history all of its notes.
pub(crate) fn context(work: &mut Work<'_>, task: &str, with_history: bool) -> Result<Value, Error> {
    let task = task::find(work, task)?;
    let latest = work.latest_context(&task.id)?;
    let mut shown = json!({"success": true, "task_id": task.id, "latest_context": latest});
    if with_history {
        shown["contexts"] = json!(work.contexts(&task.id)?);
    }
    Ok(shown)
}
