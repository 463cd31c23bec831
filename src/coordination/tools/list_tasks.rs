//! `list_tasks`: tasks by project, status and assignee.

use serde_json::{Value, json};

use super::{OFFSET, STATUSES};
use crate::coordination::error::not_found;
use crate::coordination::rules::task;
use crate::coordination::store::{Scope, TaskFilter, Work};
use crate::coordination::tool::{Handler, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Arguments, Effect, Kind, Parameter};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "list_tasks",
    title: "List tasks",
    description: "List tasks, most urgent first, optionally only those of a project, with a status, or of an assignee.",
    parameters: &[
        Parameter::optional("project_id", Kind::Text, "Only tasks of this project."),
        Parameter::optional("status", Kind::Text, STATUSES),
        Parameter::optional("assignee_id", Kind::Text, "Only tasks assigned to this agent."),
        OFFSET,
    ],
    effect: Effect::Read,
    handler: Handler::read(&[Scope::Agent], run),
};

fn run(work: &mut Work<'_>, arguments: &Arguments, _policy: &SessionPolicy) -> Result<Value, Error> {
    let (project, assignee) = (arguments.text("project_id"), arguments.text("assignee_id"));
    if let Some(project) = &project
        && work.project(project)?.is_none()
    {
        return Err(not_found("Project", project));
    }
    let status = arguments.text("status").map(|text| task::parse_status(&text)).transpose()?;
    let filter = TaskFilter { project: project.as_deref(), status, assignee: assignee.as_deref() };
    Ok(json!({"success": true, "tasks": work.tasks(&filter)?}))
}
