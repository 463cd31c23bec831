//! Execution logs: which agent worked on which task, when, and how it ended.

use serde::Serialize;

use super::row::row;
use super::sql::values;
use super::{StoreError, Time, Work};
use crate::toolkit::words;

words! {
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

row! {
    /// An execution. The skipped fields are not part of lists; `get_execution_log` adds the path of the log file.
    #[derive(Clone, Debug, Serialize)]
    #[serde(rename_all = "camelCase")]
    #[allow(missing_docs, reason = "the contract names the members")]
    pub struct Execution in "execution_logs" {
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
}

impl Work<'_> {
    /// The execution with this id.
    pub(crate) fn execution(&mut self, id: &str) -> Result<Option<Execution>, StoreError> {
        self.sql.select_one("WHERE id = ?1", values![id])
    }

    /// At most `limit` executions, newest first, optionally only of one task or one agent.
    pub(crate) fn executions(
        &mut self,
        task: Option<&str>,
        agent: Option<&str>,
        limit: i64,
    ) -> Result<Vec<Execution>, StoreError> {
        // Each query can use its own index.
        let query = match (task, agent) {
            (Some(_), _) => {
                "WHERE task_id = ?1 AND (CAST(?2 AS TEXT) IS NULL OR agent_id = ?2) ORDER BY started_at DESC, id DESC LIMIT ?3"
            }
            (None, Some(_)) => {
                "WHERE CAST(?1 AS TEXT) IS NULL AND agent_id = ?2 ORDER BY started_at DESC, id DESC LIMIT ?3"
            }
            (None, None) => {
                "WHERE CAST(?1 AS TEXT) IS NULL AND CAST(?2 AS TEXT) IS NULL ORDER BY started_at DESC, id DESC LIMIT ?3"
            }
        };
        self.sql.select(query, values![task, agent, &limit])
    }

    /// The running executions of a session, oldest first.
    pub(crate) fn running(&mut self, session: &str) -> Result<Vec<Execution>, StoreError> {
        self.sql.select("WHERE session_id = ?1 AND status = 'running' ORDER BY started_at, id", values![session])
    }

    /// Whether a session has an execution of a task, running or ended.
    pub(crate) fn has_execution(&mut self, session: &str, task: &str) -> Result<bool, StoreError> {
        const QUERY: &str = "SELECT id FROM execution_logs WHERE task_id = ?2 AND session_id = ?1 LIMIT 1";
        Ok(!self.sql.query(QUERY, values![session, task])?.is_empty())
    }

    /// Adds a running execution.
    pub(crate) fn add_execution(&mut self, execution: &Execution) -> Result<(), StoreError> {
        self.sql.insert(execution, [])
    }

    /// Ends a running execution; `why` is set if the server closed it.
    pub(crate) fn end_execution(&mut self, execution: &Execution, why: Option<&str>) -> Result<(), StoreError> {
        const STATEMENT: &str = "UPDATE execution_logs SET status = ?2, exit_code = ?3, duration_seconds = ?4,
            completed_at = ?5, log_file_path = ?6, error_message = ?7 WHERE id = ?1 AND status = 'running'";
        let values = values![
            &execution.id,
            &execution.status,
            &execution.exit_code,
            &execution.duration_seconds,
            &execution.completed_at,
            &execution.log_file_path,
            why,
        ];
        self.sql.execute(STATEMENT, values).map(drop)
    }
}
