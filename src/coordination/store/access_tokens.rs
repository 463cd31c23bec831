//! Bearer tokens of HTTP clients, stored as SHA-256 hashes.

use serde::Serialize;

use super::sql::{Row, values};
use super::text_enum::text_enum;
use super::{StoreError, Time, Work};

text_enum! {
    /// What an HTTP client may do.
    pub enum Scope {
        /// See which agents to start, and their execution logs.
        Runner = "runner",
        /// Work as one agent.
        Agent = "agent",
        /// Everything.
        Admin = "admin",
    }
}

/// A valid token, without its text.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the columns")]
pub struct AccessToken {
    pub id: String,
    pub scope: Scope,
    /// The agent it acts for; set for scope `agent` only.
    pub agent_id: Option<String>,
    pub created_at: Time,
}

impl AccessToken {
    fn read(mut row: Row) -> Result<Self, StoreError> {
        Ok(Self { id: row.next()?, scope: row.next()?, agent_id: row.next()?, created_at: row.next()? })
    }
}

impl Work<'_> {
    /// The valid token with this hash. A token of an agent is valid only while the agent is active.
    pub(crate) fn access_token(&mut self, token_hash: &[u8; 32]) -> Result<Option<AccessToken>, StoreError> {
        const QUERY: &str = "SELECT t.id, t.scope, t.agent_id, t.created_at
            FROM access_tokens t LEFT JOIN agents a ON a.id = t.agent_id
            WHERE t.token_hash = ?1 AND t.revoked_at IS NULL AND (t.agent_id IS NULL OR a.status = 'active')";
        self.sql.query(QUERY, values![token_hash])?.pop().map(AccessToken::read).transpose()
    }

    /// All tokens that are not revoked, oldest first.
    pub(crate) fn access_tokens(&mut self) -> Result<Vec<AccessToken>, StoreError> {
        const QUERY: &str = "SELECT id, scope, agent_id, created_at FROM access_tokens WHERE revoked_at IS NULL ORDER BY created_at, id";
        self.sql.query(QUERY, values![])?.into_iter().map(AccessToken::read).collect()
    }

    /// Adds a token.
    pub(crate) fn add_access_token(&mut self, token: &AccessToken, token_hash: &[u8; 32]) -> Result<(), StoreError> {
        const STATEMENT: &str =
            "INSERT INTO access_tokens (id, scope, agent_id, token_hash, created_at) VALUES (?1, ?2, ?3, ?4, ?5)";
        let values = values![&token.id, token.scope, token.agent_id.as_ref(), token_hash, token.created_at];
        self.sql.execute(STATEMENT, values).map(drop)
    }

    /// Revokes a token. Returns whether it was valid.
    pub(crate) fn revoke_access_token(&mut self, id: &str) -> Result<bool, StoreError> {
        const STATEMENT: &str = "UPDATE access_tokens SET revoked_at = ?2 WHERE id = ?1 AND revoked_at IS NULL";
        Ok(self.sql.execute(STATEMENT, values![id, self.now])? == 1)
    }
}
