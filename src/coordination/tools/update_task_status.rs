//! `update_task_status`: moves a task to another state.

use serde_json::{Value, json};

use super::{STATUSES, TASK_ID, given};
use crate::coordination::rules::task;
use crate::coordination::rules::task::By;
use crate::coordination::store::{Scope, Work};
use crate::coordination::tool::{Run, Tool};
use crate::coordination::{Error, Terms};
use crate::toolkit::{Arguments, Effect, Kind, Parameter};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "update_task_status",
    title: "Update a task's status",
    description: "Move a task to another status: backlog to todo or cancelled; todo to in_progress, backlog or cancelled; in_progress to done, blocked or todo; blocked to in_progress or cancelled.",
    parameters: &[TASK_ID, Parameter::required("status", Kind::Text, STATUSES)],
    scopes: &[Scope::Agent],
    effect: Effect::Overwrite,
    deprecated: false,
    run: Run::Write(run),
};

fn run(work: &mut Work<'_>, arguments: &Arguments, _terms: &Terms) -> Result<Value, Error> {
    let to = task::status(&given(arguments, "status"))?;
    let task = task::find_to_change(work, &given(arguments, "task_id"))?;
    let moved = task::move_to(work, &task, to, By::default())?;
    Ok(json!({"success": true, "task": {
        "id": moved.id,
        "title": moved.title,
        "previous_status": task.status,
        "new_status": moved.status,
    }}))
}
