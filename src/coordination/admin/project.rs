//! `admin project …`: adds and lists projects, and sets their status.

use serde_json::{Value, json};

use super::{ID, NEW_ID};
use crate::coordination::rules::find_project;
use crate::coordination::secret;
use crate::coordination::store::{Entity, Event, Project, ProjectStatus, Work};
use crate::coordination::tool::{Handler, Rule, Tool};
use crate::coordination::tools::list_projects::ListProjects;
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{AnyText, Choice, Effect, Text, arguments};

/// `project add`.
pub static ADD: Tool = Tool {
    name: "admin_project_add",
    title: "Add a project",
    description: "Add a project that agents can be assigned to.",
    parameters: AddProject::PARAMETERS,
    effect: Effect::Add,
    handler: Handler::write::<AddProject>(&[]),
};

arguments! {
    struct AddProject: snake_case {
        id: Option<Text> = NEW_ID,
        name: Text = "Its name.",
        working_directory: Text = "The folder its agents are started in.",
        description: Option<AnyText> = "What it is about.",
    }
}

/// `project list`.
pub static LIST: Tool = Tool {
    name: "admin_project_list",
    title: "List projects",
    description: "List all projects.",
    parameters: &[],
    effect: Effect::Read,
    handler: Handler::read::<ListProjects>(&[]),
};

/// `project set-status`.
pub static SET_STATUS: Tool = Tool {
    name: "admin_project_set_status",
    title: "Set a project's status",
    description: "Archive a project, or reactivate it. Agents are started in active projects only.",
    parameters: SetProjectStatus::PARAMETERS,
    effect: Effect::Overwrite,
    handler: Handler::write::<SetProjectStatus>(&[]),
};

arguments! {
    struct SetProjectStatus: snake_case {
        id: Text = ID,
        status: Choice<ProjectStatus> = "Its new status.",
    }
}

impl Rule for AddProject {
    fn run(&self, work: &mut Work<'_>, _policy: &SessionPolicy) -> Result<Value, Error> {
        let now = work.now();
        let project = Project {
            id: self.id.clone().unwrap_or_else(|| secret::id("prj_")),
            name: self.name.clone(),
            description: self.description.clone(),
            status: ProjectStatus::Active,
            working_directory: self.working_directory.clone(),
            created_at: now,
            updated_at: now,
        };
        if !work.add_project(&project)? {
            return Err(Error::refused(format!("Project already exists: {}", project.id)));
        }
        record(work, &project, "added")?;
        Ok(json!({"success": true, "project": project}))
    }
}

impl Rule for SetProjectStatus {
    fn run(&self, work: &mut Work<'_>, _policy: &SessionPolicy) -> Result<Value, Error> {
        work.lock_project(&self.id)?;
        let project = find_project(work, &self.id)?;
        let project = Project { status: self.status, updated_at: work.now(), ..project };
        work.change_project(&project)?;
        record(work, &project, "status_changed")?;
        Ok(json!({"success": true, "project": project}))
    }
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
