//! `assign_task`: assigns a task to an agent, or to no one.

use serde_json::{Value, json};

use super::TASK_ID;
use crate::coordination::caller::Concern;
use crate::coordination::rules::task;
use crate::coordination::rules::task::Actor;
use crate::coordination::store::{Scope, Work};
use crate::coordination::tool::{Handler, Rule, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Effect, Text, TextOrNull, arguments};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "assign_task",
    title: "Assign a task",
    description: "Assign a task to an agent of its project, or to no one with null.",
    parameters: AssignTask::PARAMETERS,
    effect: Effect::Overwrite,
    handler: Handler::write::<AssignTask>(&[Scope::Agent]),
};

arguments! {
    struct AssignTask: snake_case {
        task_id: Text = TASK_ID,
        assignee_id: TextOrNull = "The agent, or null to unassign the task.",
    }
}

impl Rule for AssignTask {
    fn concerns(&self) -> Vec<Concern<'_>> {
        vec![Concern::TaskChange(&self.task_id)]
    }

    fn run(&self, work: &mut Work<'_>, _policy: &SessionPolicy) -> Result<Value, Error> {
        let task = task::find_for_update(work, &self.task_id)?;
        let assigned = task::assign(work, &task, self.assignee_id.as_deref(), Actor::default())?;
        Ok(json!({"success": true, "task": assigned}))
    }
}
