//! Whether the database answers, and whether its content is consistent.

use std::path::PathBuf;

use super::sql::values;
use super::{ADMIN_TIMEOUT, DatabaseLocation, Store, StoreError, Work, sqlite};

/// Inconsistencies, each with a query that finds it and returns an id and a detail.
const PROBLEMS: [(&str, &str); 5] = [
    (
        "an open session is past its expiry; a running server closes it within a minute, or the agent's next start does",
        "SELECT id, agent_id || ' in ' || project_id FROM sessions WHERE ended_at IS NULL AND expires_at <= ?1 ORDER BY id",
    ),
    (
        "an execution is running in a session that has ended",
        "SELECT e.id, e.task_id FROM execution_logs e JOIN sessions s ON s.id = e.session_id
            WHERE e.status = 'running' AND s.ended_at IS NOT NULL AND s.ended_at <= ?1 ORDER BY e.id",
    ),
    (
        "an open task is assigned to an agent that is not in its project",
        "SELECT t.id, t.assignee_id FROM tasks t
            LEFT JOIN project_agents m ON m.project_id = t.project_id AND m.agent_id = t.assignee_id AND m.unassigned_at IS NULL
            WHERE t.assignee_id IS NOT NULL AND t.status NOT IN ('done', 'cancelled') AND m.agent_id IS NULL
            AND t.created_at <= ?1 ORDER BY t.id",
    ),
    (
        "a session is open in a project that its agent has left",
        "SELECT s.id, s.agent_id || ' in ' || s.project_id FROM sessions s
            JOIN project_agents m ON m.project_id = s.project_id AND m.agent_id = s.agent_id
            WHERE s.ended_at IS NULL AND m.unassigned_at IS NOT NULL AND s.created_at <= ?1 ORDER BY s.id",
    ),
    (
        "a session has no event for its start",
        "SELECT s.id, s.agent_id || ' in ' || s.project_id FROM sessions s
            WHERE s.created_at <= ?1 AND NOT EXISTS (SELECT 1 FROM events e
                WHERE e.entity_type = 'session' AND e.entity_id = s.id AND e.event_type = 'authenticated') ORDER BY s.id",
    ),
];

impl Work<'_> {
    /// Checks that the database answers.
    pub(crate) fn ping(&mut self) -> Result<(), StoreError> {
        self.sql.query("SELECT id FROM projects LIMIT 1", values![]).map(drop)
    }

    /// The inconsistencies found, one sentence each.
    pub(crate) fn problems(&mut self) -> Result<Vec<String>, StoreError> {
        let mut found = Vec::new();
        for (what, query) in PROBLEMS {
            for mut row in self.sql.query(query, values![&self.now])? {
                let (id, more): (String, Option<String>) = (row.next()?, row.next()?);
                found.push(format!("{id} ({}): {what}.", more.unwrap_or_default()));
            }
        }
        Ok(found)
    }

    /// The findings of SQLite's own integrity checks, one sentence each.
    fn file_problems(&mut self) -> Result<Vec<String>, StoreError> {
        let mut found = Vec::new();
        for mut row in self.sql.query("PRAGMA integrity_check", values![])? {
            let problem: String = row.next()?;
            if problem != "ok" {
                found.push(StoreError::Corrupt(problem).to_string());
            }
        }
        for mut row in self.sql.query("PRAGMA foreign_key_check", values![])? {
            let (table, row_id, parent): (String, Option<i64>, String) = (row.next()?, row.next()?, row.next()?);
            let row_id = row_id.map(|id| format!(" (row {id})")).unwrap_or_default();
            found.push(format!("A row of {table}{row_id} refers to a missing row of {parent}."));
        }
        Ok(found)
    }
}

/// Damage that prevents a check from running is also a finding of the check.
fn damage_as_problem(found: Result<Vec<String>, StoreError>) -> Result<Vec<String>, StoreError> {
    match found {
        Err(damage @ StoreError::Corrupt(_)) => Ok(vec![damage.to_string()]),
        found => found,
    }
}

impl Store {
    /// All problems of the database, one sentence each; empty if it is healthy.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read, or the checks take longer than 10 minutes.
    pub async fn examine(&self) -> Result<Vec<String>, StoreError> {
        let mut found = match self.location() {
            DatabaseLocation::Sqlite(_) => {
                damage_as_problem(self.reads.submit(ADMIN_TIMEOUT, |work: &mut Work<'_>| work.file_problems()).await)?
            }
            DatabaseLocation::Postgres(_) => Vec::new(),
        };
        for problem in damage_as_problem(self.read(|work| work.problems()).await)? {
            if !found.contains(&problem) {
                found.push(problem);
            }
        }
        Ok(found)
    }

    /// Copies the database, as of one point in time, to a new file that only its owner can read. It may be in use in the
    /// meantime.
    ///
    /// # Errors
    /// [`StoreError::Unusable`] if the target exists or cannot be written, or if the database is on PostgreSQL; any
    /// other [`StoreError`] if the database cannot be read.
    pub async fn backup(&self, target: PathBuf) -> Result<(), StoreError> {
        let DatabaseLocation::Sqlite(source) = self.location().clone() else {
            return Err(StoreError::Unusable(
                "This command backs up SQLite files only. Use pg_dump for PostgreSQL.".to_owned(),
            ));
        };
        // The copy is made from the path, where there may be another file by now.
        self.read(|work| work.ping()).await?;
        tokio::task::spawn_blocking(move || sqlite::backup(&source, &target)).await.unwrap_or(Err(StoreError::Bug))
    }
}
