//! `get_task_context`: a task's current context and the notes that led to it.

use serde_json::{Value, json};

use super::{OFFSET, TASK_ID};
use crate::coordination::caller::Concern;
use crate::coordination::rules::task;
use crate::coordination::store::{Scope, Work};
use crate::coordination::tool::{Handler, Rule, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Effect, Offset, Switch, Text, arguments};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "get_task_context",
    title: "Get a task's context",
    description: "Get a task's current context: the latest value of each field, and with include_history every saved note, newest first.",
    parameters: GetTaskContext::PARAMETERS,
    effect: Effect::Read,
    handler: Handler::read::<GetTaskContext>(&[Scope::Agent]),
};

arguments! {
    struct GetTaskContext: snake_case {
        task_id: Text = TASK_ID,
        include_history: Switch = "Also return every saved note.",
        offset: Offset = OFFSET,
    }
}

impl Rule for GetTaskContext {
    fn concerns(&self) -> Vec<Concern<'_>> {
        vec![Concern::Task(&self.task_id)]
    }

    fn offset(&self) -> u64 {
        self.offset
    }

    fn run(&self, work: &mut Work<'_>, _policy: &SessionPolicy) -> Result<Value, Error> {
        context(work, &self.task_id, self.include_history)
    }
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
