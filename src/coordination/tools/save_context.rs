//! `save_context`: notes how a task stands.

use serde_json::{Value, json};

use super::{TASK_ID, given};
use crate::coordination::rules::task;
use crate::coordination::rules::task::{By, Note};
use crate::coordination::store::{Scope, Work};
use crate::coordination::tool::{Run, Tool};
use crate::coordination::{Error, Terms};
use crate::toolkit::{Arguments, Effect, Kind, Parameter};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "save_context",
    title: "Save context",
    description: "Note how a task stands, for whoever goes on with it. Give at least one field; those left out stay as they were noted before, an empty string clears one.",
    parameters: &[
        TASK_ID,
        Parameter::optional("progress", Kind::AnyText, "What was done."),
        Parameter::optional("findings", Kind::AnyText, "What was found out."),
        Parameter::optional("blockers", Kind::AnyText, "What is in the way."),
        Parameter::optional("next_steps", Kind::AnyText, "What is to be done next."),
    ],
    scopes: &[Scope::Agent],
    effect: Effect::Add,
    deprecated: false,
    run: Run::Write(run),
};

fn run(work: &mut Work<'_>, arguments: &Arguments, _terms: &Terms) -> Result<Value, Error> {
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
    let task = task::find_to_change(work, &given(arguments, "task_id"))?;
    let context = task::note(work, &task, note, By::default())?;
    Ok(json!({"success": true, "context": context}))
}
