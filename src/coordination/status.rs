//! What is going on, for people: projects, who runs, tasks by state, the last executions.

use indexmap::IndexMap;
use serde::Serialize;

use super::store::{Execution, Pair, Project, TaskStatus, Time, Work};
use super::{Coordinator, Error};

/// Executions that are shown.
const EXECUTIONS: i64 = 10;

/// All of it, at one moment.
#[derive(Debug, Serialize)]
pub struct Status {
    /// When.
    pub at: Time,
    /// Each project.
    pub projects: Vec<ProjectView>,
    /// The last executions, newest first.
    pub executions: Vec<Execution>,
}

/// One project.
#[derive(Debug, Serialize)]
pub struct ProjectView {
    /// The project.
    #[serde(flatten)]
    pub project: Project,
    /// How many tasks are in each state; states without any are left out.
    pub tasks: IndexMap<&'static str, i64>,
    /// Its agents.
    pub agents: Vec<Pair>,
}

impl Coordinator {
    /// What is going on.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn status(&self) -> Result<Status, Error> {
        self.store.read(read).await
    }
}

fn read(work: &mut Work<'_>) -> Result<Status, Error> {
    let (pairs, counts) = (work.pairs()?, work.task_counts()?);
    let projects = work.projects()?.into_iter().map(|project| {
        let count = |status: &&'static str| {
            let status = TaskStatus::parse(status)?;
            let found = counts.iter().find(|(id, at, _)| *id == project.id && *at == status)?;
            Some((status.word(), found.2))
        };
        let tasks = TaskStatus::WORDS.iter().filter_map(count).collect();
        let agents = pairs.iter().filter(|pair| pair.project_id == project.id).cloned().collect();
        ProjectView { project, tasks, agents }
    });
    let projects = projects.collect();
    Ok(Status { at: work.now(), projects, executions: work.executions(None, None, EXECUTIONS)? })
}
