//! `assign_task`: gives a task to an agent.

use serde_json::{Value, json};

use super::{TASK_ID, given};
use crate::coordination::rules::task;
use crate::coordination::rules::task::By;
use crate::coordination::store::{Scope, Work};
use crate::coordination::tool::{Run, Tool};
use crate::coordination::{Error, Terms};
use crate::toolkit::{Arguments, Effect, Kind, Parameter};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "assign_task",
    title: "Assign a task",
    description: "Give a task to an agent of its project, or to nobody with null.",
    parameters: &[TASK_ID, Parameter::required("assignee_id", Kind::TextOrNull, "The agent, or null for nobody.")],
    scopes: &[Scope::Agent],
    effect: Effect::Overwrite,
    deprecated: false,
    run: Run::Write(run),
};

fn run(work: &mut Work<'_>, arguments: &Arguments, _terms: &Terms) -> Result<Value, Error> {
    let task = task::find_to_change(work, &given(arguments, "task_id"))?;
    let assigned = task::assign(work, &task, arguments.text("assignee_id").as_deref(), By::default())?;
    Ok(json!({"success": true, "task": assigned}))
}
