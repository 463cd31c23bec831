//! Agents.

use serde::Serialize;

use super::row::row;
use super::sql::{Cell, Column, SqlValue, values};
use super::{StoreError, Time, Work};
use crate::toolkit::words;

words! {
    /// Whether an agent can work.
    pub enum AgentStatus {
        /// It can authenticate and be started.
        Active = "active",
        /// It is not needed for now.
        Inactive = "inactive",
        /// An administrator stopped it.
        Suspended = "suspended",
        /// It is kept for its history only.
        Archived = "archived",
    }
}

words! {
    /// Whether an agent is a program or a person.
    pub enum AgentType {
        /// A program.
        Ai = "ai",
        /// A person.
        Human = "human",
    }
}

row! {
    /// An agent. The skipped fields are not part of answers.
    #[derive(Clone, Debug, Serialize)]
    #[allow(missing_docs, reason = "the contract names the members")]
    pub struct Agent in "agents" {
        pub id: String,
        pub name: String,
        pub role: Option<String>,
        pub capabilities: Vec<String>,
        #[serde(rename = "type")]
        pub kind: AgentType = "type",
        pub ai_type: String,
        pub status: AgentStatus,
        pub created_at: Time,
        #[serde(skip)]
        pub updated_at: Time,
        #[serde(skip)]
        pub system_prompt: Option<String>,
    }
}

/// An agent's capabilities, stored as JSON.
impl Column for Vec<String> {
    fn read(cell: Cell) -> Result<Self, StoreError> {
        serde_json::from_str(&String::read(cell)?).map_err(|error| {
            StoreError::Corrupt(format!("an agent's capabilities are not a JSON list of strings: {error}"))
        })
    }

    fn value(&self) -> SqlValue<'_> {
        SqlValue::Text(serde_json::Value::from(self.as_slice()).to_string().into())
    }
}

impl Work<'_> {
    /// The agent with this id.
    pub(crate) fn agent(&mut self, id: &str) -> Result<Option<Agent>, StoreError> {
        self.sql.select_one("WHERE id = ?1", values![id])
    }

    /// All agents, by id.
    pub(crate) fn agents(&mut self) -> Result<Vec<Agent>, StoreError> {
        self.sql.select("ORDER BY id", values![])
    }

    /// Locks an agent against other changes until this transaction ends.
    pub(crate) fn lock_agent(&mut self, id: &str) -> Result<(), StoreError> {
        self.sql.lock("SELECT id FROM agents WHERE id = ?1 FOR NO KEY UPDATE", values![id])
    }

    /// Adds an agent. Returns `false`, and changes nothing, if the id is taken.
    pub(crate) fn add_agent(&mut self, agent: &Agent) -> Result<bool, StoreError> {
        self.sql.insert_new(agent, [])
    }

    /// Updates every column of an agent except its id.
    pub(crate) fn change_agent(&mut self, agent: &Agent) -> Result<(), StoreError> {
        self.sql.update(agent)
    }

    /// The type of AI to start for an agent in a project; `None` unless both are active, the agent is assigned
    /// to the project, has a task in progress there, and is not running there.
    pub(crate) fn ai_type_to_start(&mut self, agent: &str, project: &str) -> Result<Option<String>, StoreError> {
        const QUERY: &str = "SELECT a.ai_type FROM agents a
            JOIN project_agents m ON m.agent_id = a.id AND m.project_id = ?2 AND m.unassigned_at IS NULL
            JOIN projects p ON p.id = m.project_id
            WHERE a.id = ?1 AND a.status = 'active' AND p.status = 'active'
            AND NOT EXISTS (SELECT 1 FROM sessions s
                WHERE s.agent_id = ?1 AND s.project_id = ?2 AND s.ended_at IS NULL AND s.expires_at > ?3)
            AND EXISTS (SELECT 1 FROM tasks t
                WHERE t.assignee_id = ?1 AND t.project_id = ?2 AND t.status = 'in_progress')";
        self.sql.query(QUERY, values![agent, project, &self.now])?.pop().map(|mut row| row.next()).transpose()
    }
}
