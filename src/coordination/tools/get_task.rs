//! `get_task`: one task, with its current context.

use serde_json::{Value, json};

use super::TASK_ID;
use crate::coordination::caller::Concern;
use crate::coordination::rules::task;
use crate::coordination::store::{Scope, Work};
use crate::coordination::tool::{Handler, Rule, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Effect, Text, arguments};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "get_task",
    title: "Get a task",
    description: "Get a task, with its current context.",
    parameters: GetTask::PARAMETERS,
    effect: Effect::Read,
    handler: Handler::read::<GetTask>(&[Scope::Agent]),
};

arguments! {
    struct GetTask: snake_case {
        task_id: Text = TASK_ID,
    }
}

impl Rule for GetTask {
    fn concerns(&self) -> Vec<Concern<'_>> {
        vec![Concern::Task(&self.task_id)]
    }

    fn run(&self, work: &mut Work<'_>, _policy: &SessionPolicy) -> Result<Value, Error> {
        let task = task(work, &self.task_id)?;
        Ok(json!({"success": true, "task": task}))
    }
}

/// A task, with its current context.
pub(crate) fn task(work: &mut Work<'_>, id: &str) -> Result<Value, Error> {
    let mut shown = json!(task::find(work, id)?);
    shown["latest_context"] = json!(work.latest_context(id)?);
    Ok(shown)
}
