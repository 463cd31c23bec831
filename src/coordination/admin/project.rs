//! `admin project …`: adds and lists projects, and sets their status.

use serde_json::{Value, json};

use super::{ID, NEW_ID, required_text};
use crate::coordination::error::not_found;
use crate::coordination::secret;
use crate::coordination::store::{Entity, Event, Project, ProjectStatus, Work};
use crate::coordination::tool::{Handler, Tool};
use crate::coordination::tools::list_projects;
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Arguments, Effect, Kind, Parameter};

/// `project add`.
pub static ADD: Tool = Tool {
    name: "admin_project_add",
    title: "Add a project",
    description: "Add a project that agents can be assigned to.",
    parameters: &[
        NEW_ID,
        Parameter::required("name", Kind::Text, "Its name."),
        Parameter::required("working_directory", Kind::Text, "The folder its agents are started in."),
        Parameter::optional("description", Kind::AnyText, "What it is about."),
    ],
    effect: Effect::Add,
    handler: Handler::write(&[], add),
};

/// `project list`.
pub static LIST: Tool = Tool {
    name: "admin_project_list",
    title: "List projects",
    description: "List all projects.",
    parameters: &[],
    effect: Effect::Read,
    handler: Handler::read(&[], list_projects::run),
};

/// `project set-status`.
pub static SET_STATUS: Tool = Tool {
    name: "admin_project_set_status",
    title: "Set a project's status",
    description: "Archive a project, or reactivate it. Agents are started in active projects only.",
    parameters: &[ID, Parameter::required("status", Kind::Choice(ProjectStatus::VALUES), "Its new status.")],
    effect: Effect::Overwrite,
    handler: Handler::write(&[], set_status),
};

fn add(work: &mut Work<'_>, arguments: &Arguments, _policy: &SessionPolicy) -> Result<Value, Error> {
    let id = arguments.text("id").unwrap_or_else(|| secret::id("prj_"));
    let now = work.now();
    let project = Project {
        id,
        name: required_text(arguments, "name"),
        description: arguments.text("description"),
        status: ProjectStatus::Active,
        working_directory: required_text(arguments, "working_directory"),
        created_at: now,
        updated_at: now,
    };
    if !work.add_project(&project)? {
        return Err(Error::refused(format!("Project already exists: {}", project.id)));
    }
    record(work, &project, "added")?;
    Ok(json!({"success": true, "project": project}))
}

fn set_status(work: &mut Work<'_>, arguments: &Arguments, _policy: &SessionPolicy) -> Result<Value, Error> {
    let id = required_text(arguments, "id");
    work.lock_project(&id)?;
    let project = work.project(&id)?.ok_or_else(|| not_found("Project", &id))?;
    let status = ProjectStatus::parse(&required_text(arguments, "status")).unwrap_or(project.status);
    let project = Project { status, updated_at: work.now(), ..project };
    work.change_project(&project)?;
    record(work, &project, "status_changed")?;
    Ok(json!({"success": true, "project": project}))
}

/// Records an event with the project's new state.
pub(super) fn record(work: &mut Work<'_>, project: &Project, event: &str) -> Result<(), Error> {
    work.record(&Event {
        project: Some(&project.id),
        after: Some(json!(project)),
        ..Event::new(Entity::Project, &project.id, event)
    })?;
    Ok(())
}
