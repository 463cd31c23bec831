//! `assign_task`: assigns a task to an agent, or to no one.

use serde_json::{Value, json};

use super::{TASK_ID, required_text};
use crate::coordination::rules::task;
use crate::coordination::rules::task::Actor;
use crate::coordination::store::{Scope, Work};
use crate::coordination::tool::{Handler, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Arguments, Effect, Kind, Parameter};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "assign_task",
    title: "Assign a task",
    description: "Assign a task to an agent of its project, or to no one with null.",
    parameters: &[
        TASK_ID,
        Parameter::required("assignee_id", Kind::TextOrNull, "The agent, or null to unassign the task."),
    ],
    effect: Effect::Overwrite,
    handler: Handler::write(&[Scope::Agent], run),
};

fn run(work: &mut Work<'_>, arguments: &Arguments, _policy: &SessionPolicy) -> Result<Value, Error> {
    let task = task::find_for_update(work, &required_text(arguments, "task_id"))?;
    let assigned = task::assign(work, &task, arguments.text("assignee_id").as_deref(), Actor::default())?;
    Ok(json!({"success": true, "task": assigned}))
}
