//! Projects, and the agents assigned to them.

use serde::Serialize;

use super::sql::{Row, values};
use super::text_enum::text_enum;
use super::{StoreError, Time, Work};

text_enum! {
    /// Whether a project is being worked on.
    pub enum ProjectStatus {
        /// It is: agents are started in it.
        Active = "active",
        /// It is not any more.
        Archived = "archived",
    }
}

/// A project.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the contract names the members")]
pub struct Project {
    pub id: String,
    pub name: String,
    pub description: Option<String>,
    pub status: ProjectStatus,
    pub working_directory: String,
    pub created_at: Time,
    pub updated_at: Time,
}

/// A query for whole rows, with the columns in the order in which [`Project::read`] reads them.
macro_rules! select {
    ($of:literal) => {
        concat!("SELECT id, name, description, status, working_directory, created_at, updated_at FROM projects ", $of)
    };
}

impl Project {
    fn read(mut row: Row) -> Result<Self, StoreError> {
        Self::read_from(&mut row)
    }

    fn read_from(row: &mut Row) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.next()?,
            name: row.next()?,
            description: row.next()?,
            status: row.next()?,
            working_directory: row.next()?,
            created_at: row.next()?,
            updated_at: row.next()?,
        })
    }
}

impl Work<'_> {
    /// Locks a project and everything in it, above all its tasks and sessions, against other changes until this
    /// transaction ends.
    pub(crate) fn lock_project(&mut self, project: &str) -> Result<(), StoreError> {
        self.sql.lock("SELECT id FROM projects WHERE id = ?1 FOR NO KEY UPDATE", values![project])
    }

    /// The project with this id.
    pub(crate) fn project(&mut self, id: &str) -> Result<Option<Project>, StoreError> {
        const QUERY: &str = select!("WHERE id = ?1");
        self.sql.query(QUERY, values![id])?.pop().map(Project::read).transpose()
    }

    /// All projects, by id.
    pub(crate) fn projects(&mut self) -> Result<Vec<Project>, StoreError> {
        const QUERY: &str = select!("ORDER BY id");
        self.sql.query(QUERY, values![])?.into_iter().map(Project::read).collect()
    }

    /// Active projects, by id, with the ids of their active agents.
    pub(crate) fn active_projects(&mut self) -> Result<Vec<(Project, Vec<String>)>, StoreError> {
        const QUERY: &str =
            "SELECT p.id, p.name, p.description, p.status, p.working_directory, p.created_at, p.updated_at, a.id
            FROM projects p
            LEFT JOIN project_agents m ON m.project_id = p.id AND m.unassigned_at IS NULL
            LEFT JOIN agents a ON a.id = m.agent_id AND a.status = 'active'
            WHERE p.status = 'active' ORDER BY p.id, a.id";
        let mut projects: Vec<(Project, Vec<String>)> = Vec::new();
        for mut row in self.sql.query(QUERY, values![])? {
            let project = Project::read_from(&mut row)?;
            let agent: Option<String> = row.next()?;
            match projects.last_mut() {
                Some((last, agents)) if last.id == project.id => agents.extend(agent),
                _ => projects.push((project, agent.into_iter().collect())),
            }
        }
        Ok(projects)
    }

    /// Adds a project. Returns `false`, and changes nothing, if the id is taken.
    pub(crate) fn add_project(&mut self, project: &Project) -> Result<bool, StoreError> {
        const STATEMENT: &str = "INSERT INTO projects
            (id, name, description, status, working_directory, created_at, updated_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING";
        self.write_project(STATEMENT, project)
    }

    /// Updates every column of a project except its id.
    pub(crate) fn change_project(&mut self, project: &Project) -> Result<(), StoreError> {
        const STATEMENT: &str = "UPDATE projects SET name = ?2, description = ?3, status = ?4, working_directory = ?5,
            created_at = ?6, updated_at = ?7 WHERE id = ?1";
        self.write_project(STATEMENT, project).map(drop)
    }

    fn write_project(&mut self, statement: &'static str, project: &Project) -> Result<bool, StoreError> {
        let Project { id, name, description, status, working_directory, created_at, updated_at } = project;
        let values = values![id, name, description.as_ref(), *status, working_directory, *created_at, *updated_at];
        Ok(self.sql.execute(statement, values)? == 1)
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
        Ok(self.sql.execute(STATEMENT, values![project, agent, self.now])? == 1)
    }

    /// Removes an agent from a project. Returns `false` if it was not assigned. The row stays, since sessions
    /// refer to it.
    pub(crate) fn unassign_agent(&mut self, project: &str, agent: &str) -> Result<bool, StoreError> {
        const STATEMENT: &str = "UPDATE project_agents SET unassigned_at = ?3
            WHERE project_id = ?1 AND agent_id = ?2 AND unassigned_at IS NULL";
        Ok(self.sql.execute(STATEMENT, values![project, agent, self.now])? == 1)
    }
}
