//! An overview for people: projects, running agents, task counts, the latest executions.

use indexmap::IndexMap;
use serde::Serialize;

use super::store::{AssignedAgent, Execution, Project, TaskStatus, Time, Work};
use super::{Coordinator, Error};
use crate::toolkit::Words;

/// The number of executions shown.
const MAX_EXECUTIONS: i64 = 10;

/// The overview at one point in time.
#[derive(Debug, Serialize)]
pub struct Status {
    /// That point in time.
    pub at: Time,
    /// All projects, by id.
    pub projects: Vec<ProjectView>,
    /// The latest executions, newest first; at most 10.
    pub executions: Vec<Execution>,
}

/// One project.
#[derive(Debug, Serialize)]
pub struct ProjectView {
    /// The project.
    #[serde(flatten)]
    pub project: Project,
    /// The number of tasks per status; statuses without tasks are left out.
    pub tasks: IndexMap<&'static str, i64>,
    /// The agents assigned to it.
    pub agents: Vec<AssignedAgent>,
}

impl Coordinator {
    /// The overview, read in one transaction.
    ///
    /// # Errors
    /// [`Error::Store`] if the database cannot be read.
    pub async fn status(&self) -> Result<Status, Error> {
        self.store.read(overview).await
    }
}

fn overview(work: &mut Work<'_>) -> Result<Status, Error> {
    let (agents, counts) = (work.assigned_agents()?, work.task_counts()?);
    let projects = work.projects()?.into_iter().map(|project| {
        let count = |status: &&'static str| {
            let status = TaskStatus::named(status)?;
            let found = counts.iter().find(|(id, at, _)| *id == project.id && *at == status)?;
            Some((status.word(), found.2))
        };
        let tasks = TaskStatus::WORDS.iter().filter_map(count).collect();
        let agents = agents.iter().filter(|agent| agent.project_id == project.id).cloned().collect();
        ProjectView { project, tasks, agents }
    });
    let projects = projects.collect();
    Ok(Status { at: work.now(), projects, executions: work.executions(None, None, MAX_EXECUTIONS)? })
}
