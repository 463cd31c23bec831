//! Execution logs: which agent worked on which task, when, and how it ended.

use serde::Serialize;

use super::sql::{Row, values};
use super::text_enum::text_enum;
use super::{StoreError, Time, Work};

text_enum! {
    /// The status of an execution.
    pub enum ExecutionStatus {
        /// It is running.
        Running = "running",
        /// It succeeded.
        Completed = "completed",
        /// It failed.
        Failed = "failed",
        /// The server closed it, because its end was never reported.
        Error = "error",
    }
}

/// An execution. The skipped fields are not part of lists; `get_execution_log` adds the path of the log file.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the contract names the members")]
pub struct Execution {
    #[serde(rename = "executionId")]
    pub id: String,
    pub task_id: String,
    pub agent_id: String,
    pub status: ExecutionStatus,
    pub exit_code: Option<i64>,
    pub duration_seconds: Option<f64>,
    pub started_at: Time,
    pub completed_at: Option<Time>,
    #[serde(skip)]
    pub log_file_path: Option<String>,
    #[serde(skip)]
    pub session_id: String,
}

/// A query for whole rows, with the columns in the order in which [`Execution::read`] reads them.
macro_rules! select {
    ($of:literal) => {
        concat!(
            "SELECT id, task_id, agent_id, status, exit_code, duration_seconds, started_at, completed_at, \
             log_file_path, session_id FROM execution_logs ",
            $of
        )
    };
}

impl Execution {
    fn read(mut row: Row) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.next()?,
            task_id: row.next()?,
            agent_id: row.next()?,
            status: row.next()?,
            exit_code: row.next()?,
            duration_seconds: row.next()?,
            started_at: row.next()?,
            completed_at: row.next()?,
            log_file_path: row.next()?,
            session_id: row.next()?,
        })
    }
}

impl Work<'_> {
    /// The execution with this id.
    pub(crate) fn execution(&mut self, id: &str) -> Result<Option<Execution>, StoreError> {
        const QUERY: &str = select!("WHERE id = ?1");
        self.sql.query(QUERY, values![id])?.pop().map(Execution::read).transpose()
    }

    /// At most `limit` executions, newest first, optionally only of one task or one agent.
    pub(crate) fn executions(
        &mut self,
        task: Option<&str>,
        agent: Option<&str>,
        limit: i64,
    ) -> Result<Vec<Execution>, StoreError> {
        // Each query can use an index of its own.
        let query = match (task, agent) {
            (Some(_), _) => {
                select!(
                    "WHERE task_id = ?1 AND (CAST(?2 AS TEXT) IS NULL OR agent_id = ?2) ORDER BY started_at DESC, id DESC LIMIT ?3"
                )
            }
            (None, Some(_)) => {
                select!("WHERE CAST(?1 AS TEXT) IS NULL AND agent_id = ?2 ORDER BY started_at DESC, id DESC LIMIT ?3")
            }
            (None, None) => {
                select!(
                    "WHERE CAST(?1 AS TEXT) IS NULL AND CAST(?2 AS TEXT) IS NULL ORDER BY started_at DESC, id DESC LIMIT ?3"
                )
            }
        };
        self.sql.query(query, values![task, agent, limit])?.into_iter().map(Execution::read).collect()
    }

    /// The running executions of a session, oldest first.
    pub(crate) fn running(&mut self, session: &str) -> Result<Vec<Execution>, StoreError> {
        const QUERY: &str = select!("WHERE session_id = ?1 AND status = 'running' ORDER BY started_at, id");
        self.sql.query(QUERY, values![session])?.into_iter().map(Execution::read).collect()
    }

    /// Whether a session has an execution of a task, running or ended.
    pub(crate) fn has_execution(&mut self, session: &str, task: &str) -> Result<bool, StoreError> {
        const QUERY: &str = "SELECT id FROM execution_logs WHERE task_id = ?2 AND session_id = ?1 LIMIT 1";
        Ok(!self.sql.query(QUERY, values![session, task])?.is_empty())
    }

    /// Adds a running execution.
    pub(crate) fn add_execution(&mut self, execution: &Execution) -> Result<(), StoreError> {
        const STATEMENT: &str = "INSERT INTO execution_logs (id, task_id, agent_id, session_id, status, started_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let Execution { id, task_id, agent_id, session_id, status, started_at, .. } = execution;
        self.sql.execute(STATEMENT, values![id, task_id, agent_id, session_id, *status, *started_at]).map(drop)
    }

    /// Ends a running execution; `why` is set if the server closed it.
    pub(crate) fn end_execution(&mut self, execution: &Execution, why: Option<&str>) -> Result<(), StoreError> {
        const STATEMENT: &str = "UPDATE execution_logs SET status = ?2, exit_code = ?3, duration_seconds = ?4,
            completed_at = ?5, log_file_path = ?6, error_message = ?7 WHERE id = ?1 AND status = 'running'";
        let values = values![
            &execution.id,
            execution.status,
            execution.exit_code,
            execution.duration_seconds,
            execution.completed_at,
            execution.log_file_path.as_ref(),
            why,
        ];
        self.sql.execute(STATEMENT, values).map(drop)
    }
}
