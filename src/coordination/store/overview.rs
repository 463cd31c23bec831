//! Queries for the overview that people see.

use serde::Serialize;

use super::row::row;
use super::sql::values;
use super::{StoreError, TaskStatus, Time, Work};

row! {
    /// An agent assigned to a project, and its session if it is running there.
    #[derive(Clone, Debug, Serialize)]
    pub struct AssignedAgent in "project_agents m" {
        /// The project.
        pub project_id: String = "m.project_id",
        /// The agent.
        pub agent_id: String = "m.agent_id",
        /// The agent's name.
        pub agent_name: String = "a.name",
        /// When its session began; `None` if it is not running.
        pub running_since: Option<Time> = "s.created_at",
        /// The task it is working on.
        pub task_id: Option<String> = "s.task_id",
        /// When its session was last used.
        pub last_seen_at: Option<Time> = "s.last_seen_at",
    }
}

impl Work<'_> {
    /// All assigned agents, by project and agent.
    pub(crate) fn assigned_agents(&mut self) -> Result<Vec<AssignedAgent>, StoreError> {
        self.sql.select(
            "JOIN agents a ON a.id = m.agent_id
            LEFT JOIN sessions s ON s.agent_id = m.agent_id AND s.project_id = m.project_id
                AND s.ended_at IS NULL AND s.expires_at > ?1
            WHERE m.unassigned_at IS NULL ORDER BY m.project_id, m.agent_id",
            values![&self.now],
        )
    }

    /// The number of tasks per project and status.
    pub(crate) fn task_counts(&mut self) -> Result<Vec<(String, TaskStatus, i64)>, StoreError> {
        const QUERY: &str = "SELECT project_id, status, COUNT(*) FROM tasks GROUP BY project_id, status";
        let rows = self.sql.query(QUERY, values![])?;
        rows.into_iter().map(|mut row| Ok((row.next()?, row.next()?, row.next()?))).collect()
    }
}
