//! `admin assign` and `admin unassign`: which agents work in which projects.

use serde_json::{Value, json};

use super::{AGENT, PROJECT};
use crate::coordination::rules::task::Actor;
use crate::coordination::rules::{find_agent, find_project, session, task};
use crate::coordination::store::{Entity, Event, TaskFilter, TaskStatus, Work};
use crate::coordination::tool::{Handler, Rule, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Effect, Text, arguments};

/// `assign`.
pub static ASSIGN: Tool = Tool {
    name: "admin_assign",
    title: "Assign an agent to a project",
    description: "Assign an agent to a project, so that it can be started there and given tasks.",
    parameters: Assign::PARAMETERS,
    effect: Effect::Ensure,
    handler: Handler::write::<Assign>(&[]),
};

arguments! {
    struct Assign: snake_case {
        project: Text = PROJECT,
        agent: Text = AGENT,
    }
}

/// `unassign`.
pub static UNASSIGN: Tool = Tool {
    name: "admin_unassign",
    title: "Remove an agent from a project",
    description: "Remove an agent from a project and unassign its open tasks. Refused while the agent is running there.",
    parameters: Unassign::PARAMETERS,
    effect: Effect::Overwrite,
    handler: Handler::write::<Unassign>(&[]),
};

arguments! {
    struct Unassign: snake_case {
        project: Text = PROJECT,
        agent: Text = AGENT,
    }
}

impl Rule for Assign {
    fn run(&self, work: &mut Work<'_>, _policy: &SessionPolicy) -> Result<Value, Error> {
        let Self { project, agent } = self;
        let added = add_to_project(work, project, agent)?;
        Ok(json!({"success": true, "project_id": project, "agent_id": agent, "changed": added}))
    }
}

/// Assigns an agent to a project. Returns `false` if it was assigned already.
pub(super) fn add_to_project(work: &mut Work<'_>, project: &str, agent: &str) -> Result<bool, Error> {
    work.lock_project(project)?;
    find_project(work, project)?;
    find_agent(work, agent)?;
    let added = work.assign_agent(project, agent)?;
    if added {
        record(work, project, agent, "agent_assigned")?;
    }
    Ok(added)
}

impl Rule for Unassign {
    fn run(&self, work: &mut Work<'_>, _policy: &SessionPolicy) -> Result<Value, Error> {
        let Self { project, agent } = self;
        work.lock_project(project)?;
        find_project(work, project)?;
        find_agent(work, agent)?;
        if let Some(open) = work.open_session(agent, project)? {
            if session::is_alive(&open, work.now()) {
                return Err(Error::refused(format!(
                    "Agent {agent} is running in project {project}. Wait for its report, or revoke its session first."
                )));
            }
            session::expire(work, &open)?;
        }
        let filter = TaskFilter { project: Some(project), status: None, assignee: Some(agent) };
        let mut released = Vec::new();
        for task in work.tasks(&filter)? {
            if !matches!(task.status, TaskStatus::Done | TaskStatus::Cancelled) {
                task::assign(work, &task, None, Actor::default())?;
                released.push(task.id);
            }
        }
        let removed = work.unassign_agent(project, agent)?;
        if removed {
            record(work, project, agent, "agent_unassigned")?;
        }
        Ok(json!({
            "success": true,
            "project_id": project,
            "agent_id": agent,
            "changed": removed,
            "released_tasks": released,
        }))
    }
}

fn record(work: &mut Work<'_>, project: &str, agent: &str, event: &str) -> Result<(), Error> {
    work.record(&Event {
        project: Some(project),
        after: Some(json!({ "agent_id": agent })),
        ..Event::new(Entity::Project, project, event)
    })?;
    Ok(())
}
