//! `save_context`: saves a note about a task.

use serde_json::{Value, json};

use super::{TASK_ID, required_text};
use crate::coordination::rules::task;
use crate::coordination::rules::task::{Actor, Note};
use crate::coordination::store::{Scope, Work};
use crate::coordination::tool::{Handler, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Arguments, Effect, Kind, Parameter};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "save_context",
    title: "Save context",
    description: "Record the state of a task for the agent that continues it. Give at least one field; omitted fields keep their values, and an empty string clears a field.",
    parameters: &[
        TASK_ID,
        Parameter::optional("progress", Kind::AnyText, "What has been done."),
        Parameter::optional("findings", Kind::AnyText, "What was found."),
        Parameter::optional("blockers", Kind::AnyText, "What is in the way."),
        Parameter::optional("next_steps", Kind::AnyText, "What to do next."),
    ],
    effect: Effect::Add,
    handler: Handler::write(&[Scope::Agent], run),
};

fn run(work: &mut Work<'_>, arguments: &Arguments, _policy: &SessionPolicy) -> Result<Value, Error> {
    let text = |name| arguments.text(name);
    let note = Note {
        progress: text("progress"),
        findings: text("findings"),
        blockers: text("blockers"),
        next_steps: text("next_steps"),
    };
    if note.is_empty() {
        return Err(Error::refused("Nothing to save: give at least one of progress, findings, blockers, next_steps"));
    }
    let task = task::find_for_update(work, &required_text(arguments, "task_id"))?;
    let context = task::save_note(work, &task, note, Actor::default())?;
    Ok(json!({"success": true, "context": context}))
}
