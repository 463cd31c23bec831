//! Projects, and the agents assigned to them.

use serde::Serialize;

use super::row::{TableRow, row};
use super::sql::values;
use super::{StoreError, Time, Work};
use crate::toolkit::words;

words! {
    /// Whether a project is being worked on.
    pub enum ProjectStatus {
        /// Yes: agents are started in it.
        Active = "active",
        /// No longer.
        Archived = "archived",
    }
}

row! {
    /// A project.
    #[derive(Clone, Debug, Serialize)]
    #[allow(missing_docs, reason = "the contract names the members")]
    pub struct Project in "projects" {
        pub id: String,
        pub name: String,
        pub description: Option<String>,
        pub status: ProjectStatus,
        pub working_directory: String,
        pub created_at: Time,
        pub updated_at: Time,
    }
}

impl Work<'_> {
    /// Locks a project and everything in it, especially its tasks and sessions, against other changes until this
    /// transaction ends.
    pub(crate) fn lock_project(&mut self, project: &str) -> Result<(), StoreError> {
        self.sql.lock("SELECT id FROM projects WHERE id = ?1 FOR NO KEY UPDATE", values![project])
    }

    /// The project with this id.
    pub(crate) fn project(&mut self, id: &str) -> Result<Option<Project>, StoreError> {
        self.sql.select_one("WHERE id = ?1", values![id])
    }

    /// All projects, by id.
    pub(crate) fn projects(&mut self) -> Result<Vec<Project>, StoreError> {
        self.sql.select("ORDER BY id", values![])
    }

    /// Active projects, by id, with the ids of their active agents.
    pub(crate) fn active_projects(&mut self) -> Result<Vec<(Project, Vec<String>)>, StoreError> {
        let query = format!(
            "SELECT {}, member FROM projects
            LEFT JOIN (SELECT m.project_id, a.id AS member FROM project_agents m
                JOIN agents a ON a.id = m.agent_id AND a.status = 'active'
                WHERE m.unassigned_at IS NULL) members ON members.project_id = projects.id
            WHERE status = 'active' ORDER BY id, member",
            Project::COLUMNS.join(", ")
        );
        let mut projects: Vec<(Project, Vec<String>)> = Vec::new();
        for mut row in self.sql.query(&query, values![])? {
            let (project, agent): (_, Option<String>) = (Project::read(&mut row)?, row.next()?);
            match projects.last_mut() {
                Some((last, agents)) if last.id == project.id => agents.extend(agent),
                _ => projects.push((project, agent.into_iter().collect())),
            }
        }
        Ok(projects)
    }

    /// Adds a project. Returns `false`, and changes nothing, if the id is taken.
    pub(crate) fn add_project(&mut self, project: &Project) -> Result<bool, StoreError> {
        self.sql.insert_new(project, [])
    }

    /// Updates every column of a project except its id.
    pub(crate) fn change_project(&mut self, project: &Project) -> Result<(), StoreError> {
        self.sql.update(project)
    }

    /// The ids of the agents assigned to a project.
    pub(crate) fn agents_of(&mut self, project: &str) -> Result<Vec<String>, StoreError> {
        const QUERY: &str =
            "SELECT agent_id FROM project_agents WHERE project_id = ?1 AND unassigned_at IS NULL ORDER BY agent_id";
        self.sql.query(QUERY, values![project])?.into_iter().map(|mut row| row.next()).collect()
    }

    /// Whether an agent is assigned to a project.
    pub(crate) fn is_assigned(&mut self, project: &str, agent: &str) -> Result<bool, StoreError> {
        const QUERY: &str =
            "SELECT agent_id FROM project_agents WHERE project_id = ?1 AND agent_id = ?2 AND unassigned_at IS NULL";
        Ok(!self.sql.query(QUERY, values![project, agent])?.is_empty())
    }

    /// Assigns an agent to a project. Returns `false` if it was assigned already.
    pub(crate) fn assign_agent(&mut self, project: &str, agent: &str) -> Result<bool, StoreError> {
        const STATEMENT: &str = "INSERT INTO project_agents (project_id, agent_id, assigned_at) VALUES (?1, ?2, ?3)
            ON CONFLICT (project_id, agent_id) DO UPDATE SET assigned_at = excluded.assigned_at, unassigned_at = NULL
            WHERE project_agents.unassigned_at IS NOT NULL";
        Ok(self.sql.execute(STATEMENT, values![project, agent, &self.now])? == 1)
    }

    /// Removes an agent from a project. Returns `false` if it was not assigned. The row stays, since sessions
    /// refer to it.
    pub(crate) fn unassign_agent(&mut self, project: &str, agent: &str) -> Result<bool, StoreError> {
        const STATEMENT: &str = "UPDATE project_agents SET unassigned_at = ?3
            WHERE project_id = ?1 AND agent_id = ?2 AND unassigned_at IS NULL";
        Ok(self.sql.execute(STATEMENT, values![project, agent, &self.now])? == 1)
    }
}
