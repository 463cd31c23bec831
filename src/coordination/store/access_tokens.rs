//! Bearer tokens of HTTP clients, stored as SHA-256 hashes.

use serde::Serialize;

use super::row::row;
use super::sql::values;
use super::{StoreError, Time, Work};
use crate::toolkit::words;

words! {
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

row! {
    /// A valid token, without its text.
    #[derive(Clone, Debug, Serialize)]
    #[allow(missing_docs, reason = "the columns")]
    pub struct AccessToken in "access_tokens" {
        pub id: String,
        pub scope: Scope,
        /// The agent it acts for; set for scope `agent` only.
        pub agent_id: Option<String>,
        pub created_at: Time,
    }
}

impl Work<'_> {
    /// The valid token with this hash. A token of an agent is valid only while the agent is active.
    pub(crate) fn access_token(&mut self, token_hash: &[u8; 32]) -> Result<Option<AccessToken>, StoreError> {
        self.sql.select_one(
            "WHERE token_hash = ?1 AND revoked_at IS NULL
            AND (agent_id IS NULL OR EXISTS (SELECT 1 FROM agents a
                WHERE a.id = access_tokens.agent_id AND a.status = 'active'))",
            values![token_hash],
        )
    }

    /// All tokens that are not revoked, oldest first.
    pub(crate) fn access_tokens(&mut self) -> Result<Vec<AccessToken>, StoreError> {
        self.sql.select("WHERE revoked_at IS NULL ORDER BY created_at, id", values![])
    }

    /// Adds a token.
    pub(crate) fn add_access_token(&mut self, token: &AccessToken, token_hash: &[u8; 32]) -> Result<(), StoreError> {
        self.sql.insert(token, [("token_hash", token_hash.into())])
    }

    /// Revokes a token. Returns whether it was valid.
    pub(crate) fn revoke_access_token(&mut self, id: &str) -> Result<bool, StoreError> {
        const STATEMENT: &str = "UPDATE access_tokens SET revoked_at = ?2 WHERE id = ?1 AND revoked_at IS NULL";
        Ok(self.sql.execute(STATEMENT, values![id, &self.now])? == 1)
    }
}
