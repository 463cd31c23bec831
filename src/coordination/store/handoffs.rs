//! Handoffs of tasks from one agent to another.

use serde::Serialize;

use super::row::row;
use super::sql::values;
use super::{StoreError, Time, Work};

row! {
    /// A handoff.
    #[derive(Clone, Debug, Serialize)]
    #[allow(missing_docs, reason = "the contract names the members")]
    pub struct Handoff in "handoffs" {
        pub id: String,
        pub task_id: String,
        pub from_agent_id: String,
        /// `None` if it is open to any agent of the project.
        pub to_agent_id: Option<String>,
        pub summary: String,
        pub context: Option<String>,
        pub recommendations: Option<String>,
        pub accepted_at: Option<Time>,
        pub created_at: Time,
        #[serde(skip)]
        pub accepted_by: Option<String>,
    }
}

impl Work<'_> {
    /// The handoff with this id. Its project is locked against other changes until this transaction ends.
    pub(crate) fn handoff_for_update(&mut self, id: &str) -> Result<Option<Handoff>, StoreError> {
        const LOCK: &str = "SELECT p.id FROM projects p WHERE p.id =
            (SELECT t.project_id FROM handoffs h JOIN tasks t ON t.id = h.task_id WHERE h.id = ?1) FOR NO KEY UPDATE";
        self.sql.lock(LOCK, values![id])?;
        self.handoff(id)
    }

    /// The handoff with this id.
    pub(crate) fn handoff(&mut self, id: &str) -> Result<Option<Handoff>, StoreError> {
        self.sql.select_one("WHERE id = ?1", values![id])
    }

    /// All handoffs of a task, newest first.
    pub(crate) fn handoffs(&mut self, task: &str) -> Result<Vec<Handoff>, StoreError> {
        self.sql.select("WHERE task_id = ?1 ORDER BY seq DESC", values![task])
    }

    /// The newest handoff of a task, accepted or not.
    pub(crate) fn latest_handoff(&mut self, task: &str) -> Result<Option<Handoff>, StoreError> {
        self.sql.select_one("WHERE task_id = ?1 ORDER BY seq DESC LIMIT 1", values![task])
    }

    /// Handoffs of open tasks that have not been accepted, oldest first. For an agent: those addressed to it,
    /// and the unaddressed ones of its projects that it did not create itself, unless their task now belongs to another agent.
    pub(crate) fn pending_handoffs(&mut self, agent: Option<&str>) -> Result<Vec<Handoff>, StoreError> {
        self.sql.select(
            "WHERE accepted_at IS NULL AND EXISTS (SELECT 1 FROM tasks t
                WHERE t.id = handoffs.task_id AND t.status NOT IN ('done', 'cancelled')
                AND (CAST(?1 AS TEXT) IS NULL OR t.assignee_id IS NULL OR t.assignee_id = ?1
                OR (to_agent_id IS NULL AND t.assignee_id = from_agent_id))) AND (CAST(?1 AS TEXT) IS NULL OR to_agent_id = ?1
                OR (to_agent_id IS NULL AND from_agent_id <> ?1 AND EXISTS (SELECT 1 FROM tasks t
                    JOIN project_agents m ON m.project_id = t.project_id AND m.unassigned_at IS NULL
                    WHERE t.id = handoffs.task_id AND m.agent_id = ?1))) ORDER BY seq",
            values![agent],
        )
    }

    /// Adds a handoff.
    pub(crate) fn add_handoff(&mut self, handoff: &Handoff) -> Result<(), StoreError> {
        self.sql.insert(handoff, [])
    }

    /// Accepts a handoff. Returns `false`, and changes nothing, if it has been accepted already.
    pub(crate) fn accept_handoff(&mut self, id: &str, agent: &str) -> Result<bool, StoreError> {
        const STATEMENT: &str =
            "UPDATE handoffs SET accepted_at = ?3, accepted_by = ?2 WHERE id = ?1 AND accepted_at IS NULL";
        Ok(self.sql.execute(STATEMENT, values![id, agent, &self.now])? == 1)
    }
}
