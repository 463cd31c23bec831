//! Sessions. One open row is the lease of a pair of agent and project.

use serde::Serialize;

use super::row::row;
use super::sql::values;
use super::{StoreError, Time, Work};
use crate::toolkit::words;

words! {
    /// How a session ended.
    pub enum EndReason {
        /// Its result was reported.
        Completed = "completed",
        /// The agent logged out.
        Logout = "logout",
        /// It was not used in time, or reached its maximum age.
        Expired = "expired",
        /// An administrator ended it, or a Runner reported that its process had exited.
        Revoked = "revoked",
        /// The same instance authenticated again before it asked for its task.
        Superseded = "superseded",
    }
}

row! {
    /// A session, as administrators see it. Its token is stored as a hash only.
    #[derive(Clone, Debug, Serialize)]
    #[allow(missing_docs, reason = "the columns of the contract")]
    pub struct Session in "sessions" {
        pub id: String,
        pub agent_id: String,
        pub project_id: String,
        pub instance_id: Option<String>,
        pub task_id: Option<String>,
        pub created_at: Time,
        pub last_seen_at: Time,
        pub expires_at: Time,
        pub max_expires_at: Time,
        /// When its task was first requested.
        pub began_at: Option<Time>,
        pub ended_at: Option<Time>,
        pub end_reason: Option<EndReason>,
        /// The request that ended it and the answer, for a client that lost the answer.
        #[serde(skip)]
        pub reply: Option<String>,
    }
}

impl Work<'_> {
    /// The session of a token, ended or not. Its project is locked against other changes until this transaction
    /// ends.
    pub(crate) fn session_of(&mut self, token_hash: &[u8; 32]) -> Result<Option<Session>, StoreError> {
        const LOCK: &str = "SELECT id FROM projects WHERE id = (SELECT project_id FROM sessions WHERE token_hash = ?1)
            FOR NO KEY UPDATE";
        self.sql.lock(LOCK, values![token_hash])?;
        self.sql.select_one("WHERE token_hash = ?1", values![token_hash])
    }

    /// The open session of a pair, even if it has expired.
    pub(crate) fn open_session(&mut self, agent: &str, project: &str) -> Result<Option<Session>, StoreError> {
        self.sql.select_one("WHERE agent_id = ?1 AND project_id = ?2 AND ended_at IS NULL", values![agent, project])
    }

    /// All open sessions, even expired ones, oldest first.
    pub(crate) fn open_sessions(&mut self) -> Result<Vec<Session>, StoreError> {
        self.sql.select("WHERE ended_at IS NULL ORDER BY created_at, id", values![])
    }

    /// Opens a session. Returns `false`, and changes nothing, if the pair has an open one: the unique index
    /// decides.
    pub(crate) fn add_session(&mut self, session: &Session, token_hash: &[u8; 32]) -> Result<bool, StoreError> {
        self.sql.insert_new(session, [("token_hash", token_hash.into())])
    }

    /// Updates an open session's last use, expiry, task and start.
    pub(crate) fn change_session(&mut self, session: &Session) -> Result<(), StoreError> {
        const STATEMENT: &str = "UPDATE sessions SET last_seen_at = ?2, expires_at = ?3, task_id = ?4, began_at = ?5 WHERE id = ?1 AND ended_at IS NULL";
        let values =
            values![&session.id, &session.last_seen_at, &session.expires_at, &session.task_id, &session.began_at];
        self.sql.execute(STATEMENT, values).map(drop)
    }

    /// Ends an open session, no earlier than it began; `reply` is kept for a client that repeats its last call.
    pub(crate) fn end_session(
        &mut self,
        session: &Session,
        reason: EndReason,
        reply: Option<&str>,
    ) -> Result<(), StoreError> {
        const STATEMENT: &str =
            "UPDATE sessions SET ended_at = ?2, end_reason = ?3, reply = ?4 WHERE id = ?1 AND ended_at IS NULL";
        let ended_at = self.now.max(session.created_at);
        self.sql.execute(STATEMENT, values![&session.id, &ended_at, &reason, reply]).map(drop)
    }
}
