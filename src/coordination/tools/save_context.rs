//! `save_context`: saves a note about a task.

use serde_json::{Value, json};

use super::TASK_ID;
use crate::coordination::caller::Concern;
use crate::coordination::rules::task;
use crate::coordination::rules::task::{Actor, Note};
use crate::coordination::store::{Scope, Work};
use crate::coordination::tool::{Handler, Rule, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{AnyText, Effect, Text, arguments};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "save_context",
    title: "Save context",
    description: "Record the state of a task for the agent that continues it. Give at least one field; omitted fields keep their values, and an empty string clears a field.",
    parameters: SaveContext::PARAMETERS,
    effect: Effect::Add,
    handler: Handler::write::<SaveContext>(&[Scope::Agent]),
};

arguments! {
    struct SaveContext: snake_case {
        task_id: Text = TASK_ID,
        progress: Option<AnyText> = "What has been done.",
        findings: Option<AnyText> = "What was found.",
        blockers: Option<AnyText> = "What is in the way.",
        next_steps: Option<AnyText> = "What to do next.",
    }
}

impl Rule for SaveContext {
    fn concerns(&self) -> Vec<Concern<'_>> {
        vec![Concern::TaskChange(&self.task_id)]
    }

    fn run(&self, work: &mut Work<'_>, _policy: &SessionPolicy) -> Result<Value, Error> {
        let note = Note {
            progress: self.progress.clone(),
            findings: self.findings.clone(),
            blockers: self.blockers.clone(),
            next_steps: self.next_steps.clone(),
        };
        if note.is_empty() {
            return Err(Error::refused(
                "Nothing to save: give at least one of progress, findings, blockers, next_steps",
            ));
        }
        let task = task::find_for_update(work, &self.task_id)?;
        let context = task::save_note(work, &task, note, Actor::default())?;
        Ok(json!({"success": true, "context": context}))
    }
}
