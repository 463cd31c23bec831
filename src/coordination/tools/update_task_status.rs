//! `update_task_status`: moves a task to another status.

use serde_json::{Value, json};

use super::{STATUSES, TASK_ID};
use crate::coordination::caller::Concern;
use crate::coordination::rules::task;
use crate::coordination::rules::task::Actor;
use crate::coordination::store::{Scope, Work};
use crate::coordination::tool::{Handler, Rule, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Effect, Text, arguments};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "update_task_status",
    title: "Update a task's status",
    description: "Move a task to another status: backlog to todo or cancelled; todo to in_progress, backlog or cancelled; in_progress to done, blocked or todo; blocked to in_progress or cancelled.",
    parameters: UpdateTaskStatus::PARAMETERS,
    effect: Effect::Overwrite,
    handler: Handler::write::<UpdateTaskStatus>(&[Scope::Agent]),
};

arguments! {
    struct UpdateTaskStatus: snake_case {
        task_id: Text = TASK_ID,
        status: Text = STATUSES,
    }
}

impl Rule for UpdateTaskStatus {
    fn concerns(&self) -> Vec<Concern<'_>> {
        vec![Concern::TaskChange(&self.task_id)]
    }

    fn run(&self, work: &mut Work<'_>, _policy: &SessionPolicy) -> Result<Value, Error> {
        let to = task::parse_status(&self.status)?;
        let task = task::find_for_update(work, &self.task_id)?;
        let moved = task::move_to(work, &task, to, Actor::default())?;
        Ok(json!({"success": true, "task": {
            "id": moved.id,
            "title": moved.title,
            "previous_status": task.status,
            "new_status": moved.status,
        }}))
    }
}
