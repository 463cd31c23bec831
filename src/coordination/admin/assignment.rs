//! Which agents are in which projects.

use serde_json::{Value, json};

use super::{AGENT, PROJECT, given};
use crate::coordination::error::not_found;
use crate::coordination::rules::session;
use crate::coordination::rules::task::{self, By};
use crate::coordination::store::{Change, Entity, TaskFilter, TaskStatus, Work};
use crate::coordination::tool::{Run, Tool};
use crate::coordination::{Error, Terms};
use crate::toolkit::{Arguments, Effect};

/// `assign`.
pub static ASSIGN: Tool = Tool {
    name: "admin_assign",
    title: "Assign an agent to a project",
    description: "Let an agent work in a project.",
    parameters: &[PROJECT, AGENT],
    scopes: &[],
    effect: Effect::Ensure,
    deprecated: false,
    run: Run::Write(assign),
};

/// `unassign`.
pub static UNASSIGN: Tool = Tool {
    name: "admin_unassign",
    title: "Take an agent out of a project",
    description: "Take an agent out of a project; its open tasks are nobody's then. Refused while it runs there.",
    parameters: &[PROJECT, AGENT],
    scopes: &[],
    effect: Effect::Overwrite,
    deprecated: false,
    run: Run::Write(unassign),
};

fn assign(work: &mut Work<'_>, arguments: &Arguments, _terms: &Terms) -> Result<Value, Error> {
    let (project, agent) = (given(arguments, "project"), given(arguments, "agent"));
    let added = join(work, &project, &agent)?;
    Ok(json!({"success": true, "project_id": project, "agent_id": agent, "changed": added}))
}

/// Assigns an agent to a project; whether it was not.
pub(super) fn join(work: &mut Work<'_>, project: &str, agent: &str) -> Result<bool, Error> {
    work.lock_project(project)?;
    if work.project(project)?.is_none() {
        return Err(not_found("Project", project));
    }
    if work.agent(agent)?.is_none() {
        return Err(not_found("Agent", agent));
    }
    let added = work.assign_agent(project, agent)?;
    if added {
        record(work, project, agent, "agent_assigned")?;
    }
    Ok(added)
}

fn unassign(work: &mut Work<'_>, arguments: &Arguments, _terms: &Terms) -> Result<Value, Error> {
    let (project, agent) = (given(arguments, "project"), given(arguments, "agent"));
    work.lock_project(&project)?;
    if work.project(&project)?.is_none() {
        return Err(not_found("Project", &project));
    }
    if work.agent(&agent)?.is_none() {
        return Err(not_found("Agent", &agent));
    }
    if let Some(open) = work.open_session(&agent, &project)? {
        if session::is_alive(&open, work.now()) {
            return Err(Error::refused(format!(
                "Agent {agent} runs in project {project}. Wait for its report, or revoke its session first."
            )));
        }
        session::expire(work, &open)?;
    }
    let filter = TaskFilter { project: Some(&project), status: None, assignee: Some(&agent) };
    let mut released = Vec::new();
    for task in work.tasks(&filter)? {
        if !matches!(task.status, TaskStatus::Done | TaskStatus::Cancelled) {
            task::assign(work, &task, None, By::default())?;
            released.push(task.id);
        }
    }
    let removed = work.unassign_agent(&project, &agent)?;
    if removed {
        record(work, &project, &agent, "agent_unassigned")?;
    }
    Ok(json!({
        "success": true,
        "project_id": project,
        "agent_id": agent,
        "changed": removed,
        "released_tasks": released,
    }))
}

fn record(work: &mut Work<'_>, project: &str, agent: &str, event: &str) -> Result<(), Error> {
    work.record(&Change {
        project: Some(project),
        after: Some(json!({ "agent_id": agent })),
        ..Change::new(Entity::Project, project, event)
    })?;
    Ok(())
}
