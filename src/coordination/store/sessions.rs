//! Sessions. One open row is the lease of a pair of agent and project.

use serde::Serialize;

use super::sql::{Row, values};
use super::text_enum::text_enum;
use super::{StoreError, Time, Work};

text_enum! {
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

/// A session, as administrators see it. Its token is stored as a hash only.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the columns of the contract")]
pub struct Session {
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
    /// The request that ended it and the answer to that, for a client that lost the answer.
    #[serde(skip)]
    pub reply: Option<String>,
}

/// A query for whole rows, with the columns in the order in which [`Session::read`] reads them.
macro_rules! select {
    ($of:literal) => {
        concat!(
            "SELECT id, agent_id, project_id, instance_id, task_id, created_at, last_seen_at, expires_at, \
             max_expires_at, began_at, ended_at, end_reason, reply FROM sessions ",
            $of
        )
    };
}

impl Session {
    fn read(mut row: Row) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.next()?,
            agent_id: row.next()?,
            project_id: row.next()?,
            instance_id: row.next()?,
            task_id: row.next()?,
            created_at: row.next()?,
            last_seen_at: row.next()?,
            expires_at: row.next()?,
            max_expires_at: row.next()?,
            began_at: row.next()?,
            ended_at: row.next()?,
            end_reason: row.next()?,
            reply: row.next()?,
        })
    }
}

impl Work<'_> {
    /// The session of a token, ended or not. Its project is locked against other changes until this transaction
    /// ends.
    pub(crate) fn session_of(&mut self, token_hash: &[u8; 32]) -> Result<Option<Session>, StoreError> {
        const LOCK: &str = "SELECT id FROM projects WHERE id = (SELECT project_id FROM sessions WHERE token_hash = ?1)
            FOR NO KEY UPDATE";
        const QUERY: &str = select!("WHERE token_hash = ?1");
        self.sql.lock(LOCK, values![token_hash])?;
        self.sql.query(QUERY, values![token_hash])?.pop().map(Session::read).transpose()
    }

    /// The open session of a pair, even if it has expired.
    pub(crate) fn open_session(&mut self, agent: &str, project: &str) -> Result<Option<Session>, StoreError> {
        const QUERY: &str = select!("WHERE agent_id = ?1 AND project_id = ?2 AND ended_at IS NULL");
        self.sql.query(QUERY, values![agent, project])?.pop().map(Session::read).transpose()
    }

    /// All open sessions, even expired ones, oldest first.
    pub(crate) fn open_sessions(&mut self) -> Result<Vec<Session>, StoreError> {
        const QUERY: &str = select!("WHERE ended_at IS NULL ORDER BY created_at, id");
        self.sql.query(QUERY, values![])?.into_iter().map(Session::read).collect()
    }

    /// Opens a session. Returns `false`, and changes nothing, if the pair has an open one: the unique index
    /// decides.
    pub(crate) fn add_session(&mut self, session: &Session, token_hash: &[u8; 32]) -> Result<bool, StoreError> {
        const STATEMENT: &str = "INSERT INTO sessions (id, agent_id, project_id, instance_id, token_hash, created_at,
            last_seen_at, expires_at, max_expires_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT DO NOTHING";
        let values = values![
            &session.id,
            &session.agent_id,
            &session.project_id,
            session.instance_id.as_ref(),
            token_hash,
            session.created_at,
            session.last_seen_at,
            session.expires_at,
            session.max_expires_at,
        ];
        Ok(self.sql.execute(STATEMENT, values)? == 1)
    }

    /// Updates an open session's last use, expiry, task and start.
    pub(crate) fn change_session(&mut self, session: &Session) -> Result<(), StoreError> {
        const STATEMENT: &str = "UPDATE sessions SET last_seen_at = ?2, expires_at = ?3, task_id = ?4, began_at = ?5 WHERE id = ?1 AND ended_at IS NULL";
        let values =
            values![&session.id, session.last_seen_at, session.expires_at, session.task_id.as_ref(), session.began_at];
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
        self.sql.execute(STATEMENT, values![&session.id, ended_at, reason, reply]).map(drop)
    }
}
