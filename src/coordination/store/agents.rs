//! Agents.

use serde::Serialize;

use super::sql::{Row, values};
use super::text_enum::text_enum;
use super::{StoreError, Time, Work};

text_enum! {
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

text_enum! {
    /// Whether an agent is a program or a person.
    pub enum AgentType {
        /// A program.
        Ai = "ai",
        /// A person.
        Human = "human",
    }
}

/// An agent. The skipped fields are not part of answers.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the contract names the members")]
pub struct Agent {
    pub id: String,
    pub name: String,
    pub role: Option<String>,
    pub capabilities: Vec<String>,
    #[serde(rename = "type")]
    pub kind: AgentType,
    pub ai_type: String,
    pub status: AgentStatus,
    pub created_at: Time,
    #[serde(skip)]
    pub updated_at: Time,
    #[serde(skip)]
    pub system_prompt: Option<String>,
}

/// A query for whole rows, with the columns in the order in which [`Agent::read`] reads them.
macro_rules! select {
    ($of:literal) => {
        concat!(
            "SELECT id, name, role, capabilities, type, ai_type, status, created_at, updated_at, system_prompt FROM agents ",
            $of
        )
    };
}

impl Agent {
    fn read(mut row: Row) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.next()?,
            name: row.next()?,
            role: row.next()?,
            capabilities: serde_json::from_str(&row.next::<String>()?).map_err(|error| {
                StoreError::Corrupt(format!("an agent's capabilities are not a JSON list of strings: {error}"))
            })?,
            kind: row.next()?,
            ai_type: row.next()?,
            status: row.next()?,
            created_at: row.next()?,
            updated_at: row.next()?,
            system_prompt: row.next()?,
        })
    }
}

impl Work<'_> {
    /// The agent with this id.
    pub(crate) fn agent(&mut self, id: &str) -> Result<Option<Agent>, StoreError> {
        const QUERY: &str = select!("WHERE id = ?1");
        self.sql.query(QUERY, values![id])?.pop().map(Agent::read).transpose()
    }

    /// All agents, by id.
    pub(crate) fn agents(&mut self) -> Result<Vec<Agent>, StoreError> {
        const QUERY: &str = select!("ORDER BY id");
        self.sql.query(QUERY, values![])?.into_iter().map(Agent::read).collect()
    }

    /// Locks an agent against other changes until this transaction ends.
    pub(crate) fn lock_agent(&mut self, id: &str) -> Result<(), StoreError> {
        self.sql.lock("SELECT id FROM agents WHERE id = ?1 FOR NO KEY UPDATE", values![id])
    }

    /// Adds an agent. Returns `false`, and changes nothing, if the id is taken.
    pub(crate) fn add_agent(&mut self, agent: &Agent) -> Result<bool, StoreError> {
        const STATEMENT: &str = "INSERT INTO agents
            (id, name, role, capabilities, type, ai_type, status, created_at, updated_at, system_prompt)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT DO NOTHING";
        self.write_agent(STATEMENT, agent)
    }

    /// Updates every column of an agent except its id.
    pub(crate) fn change_agent(&mut self, agent: &Agent) -> Result<(), StoreError> {
        const STATEMENT: &str = "UPDATE agents SET name = ?2, role = ?3, capabilities = ?4, type = ?5, ai_type = ?6,
            status = ?7, created_at = ?8, updated_at = ?9, system_prompt = ?10 WHERE id = ?1";
        self.write_agent(STATEMENT, agent).map(drop)
    }

    fn write_agent(&mut self, statement: &'static str, agent: &Agent) -> Result<bool, StoreError> {
        let capabilities = serde_json::Value::from(agent.capabilities.clone()).to_string();
        let values = values![
            &agent.id,
            &agent.name,
            agent.role.as_ref(),
            &capabilities,
            agent.kind,
            &agent.ai_type,
            agent.status,
            agent.created_at,
            agent.updated_at,
            agent.system_prompt.as_ref(),
        ];
        Ok(self.sql.execute(statement, values)? == 1)
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
        self.sql.query(QUERY, values![agent, project, self.now])?.pop().map(|mut row| row.next()).transpose()
    }
}
