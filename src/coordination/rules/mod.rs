//! Rules shared by several tools: functions over one unit of work.

pub(super) mod execution;
pub(super) mod session;
pub(super) mod task;

use super::Error;
use super::error::not_found;
use super::store::{Agent, Project, Work};

/// The agent with this id; refuses one that does not exist.
pub(super) fn find_agent(work: &mut Work<'_>, id: &str) -> Result<Agent, Error> {
    work.agent(id)?.ok_or_else(|| not_found("Agent", id))
}

/// The project with this id; refuses one that does not exist.
pub(super) fn find_project(work: &mut Work<'_>, id: &str) -> Result<Project, Error> {
    work.project(id)?.ok_or_else(|| not_found("Project", id))
}
