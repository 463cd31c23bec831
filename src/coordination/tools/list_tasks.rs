//! `list_tasks`: tasks of a project, a state, an agent.

use serde_json::{Value, json};

use super::{OFFSET, STATUSES};
use crate::coordination::error::not_found;
use crate::coordination::rules::task;
use crate::coordination::store::{Scope, TaskFilter, Work};
use crate::coordination::tool::{Run, Tool};
use crate::coordination::{Error, Terms};
use crate::toolkit::{Arguments, Effect, Kind, Parameter};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "list_tasks",
    title: "List tasks",
    description: "List tasks, the most urgent first; give a project, a status or an assignee to narrow.",
    parameters: &[
        Parameter::optional("project_id", Kind::Text, "Only of this project."),
        Parameter::optional("status", Kind::Text, STATUSES),
        Parameter::optional("assignee_id", Kind::Text, "Only of this agent."),
        OFFSET,
    ],
    scopes: &[Scope::Agent],
    effect: Effect::Read,
    deprecated: false,
    run: Run::Read(run),
};

fn run(work: &mut Work<'_>, arguments: &Arguments, _terms: &Terms) -> Result<Value, Error> {
    let (project, assignee) = (arguments.text("project_id"), arguments.text("assignee_id"));
    if let Some(project) = &project
        && work.project(project)?.is_none()
    {
        return Err(not_found("Project", project));
    }
    let status = arguments.text("status").map(|word| task::status(&word)).transpose()?;
    let filter = TaskFilter { project: project.as_deref(), status, assignee: assignee.as_deref() };
    Ok(json!({"success": true, "tasks": work.tasks(&filter)?}))
}
