//! `update_task_status`: moves a task to another status.

use serde_json::{Value, json};

use super::{STATUSES, TASK_ID, required_text};
use crate::coordination::rules::task;
use crate::coordination::rules::task::Actor;
use crate::coordination::store::{Scope, Work};
use crate::coordination::tool::{Handler, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Arguments, Effect, Kind, Parameter};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "update_task_status",
    title: "Update a task's status",
    description: "Move a task to another status: backlog to todo or cancelled; todo to in_progress, backlog or cancelled; in_progress to done, blocked or todo; blocked to in_progress or cancelled.",
    parameters: &[TASK_ID, Parameter::required("status", Kind::Text, STATUSES)],
    effect: Effect::Overwrite,
    handler: Handler::write(&[Scope::Agent], run),
};

fn run(work: &mut Work<'_>, arguments: &Arguments, _policy: &SessionPolicy) -> Result<Value, Error> {
    let to = task::parse_status(&required_text(arguments, "status"))?;
    let task = task::find_for_update(work, &required_text(arguments, "task_id"))?;
    let moved = task::move_to(work, &task, to, Actor::default())?;
    Ok(json!({"success": true, "task": {
        "id": moved.id,
        "title": moved.title,
        "previous_status": task.status,
        "new_status": moved.status,
    }}))
}
