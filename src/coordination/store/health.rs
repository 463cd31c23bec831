//! Whether the database answers, and whether what it holds can be.

use std::path::PathBuf;

use super::sql::values;
use super::{Fault, Place, SLOW, Store, Work, sqlite};

/// What must not be, and the query that finds it: an id and what more there is to say.
const PROBLEMS: [(&str, &str); 5] = [
    (
        "an open session is past its expiry: the sweeper of a running server, or the next start of the pair, ends it",
        "SELECT id, agent_id || ' in ' || project_id FROM sessions WHERE ended_at IS NULL AND expires_at <= ?1 ORDER BY id",
    ),
    (
        "an execution runs in a session that has ended",
        "SELECT e.id, e.task_id FROM execution_logs e JOIN sessions s ON s.id = e.session_id
            WHERE e.status = 'running' AND s.ended_at IS NOT NULL AND s.ended_at <= ?1 ORDER BY e.id",
    ),
    (
        "an open task belongs to an agent that is not in its project",
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
        "a session has no event that tells of its beginning",
        "SELECT s.id, s.agent_id || ' in ' || s.project_id FROM sessions s
            WHERE s.created_at <= ?1 AND NOT EXISTS (SELECT 1 FROM events e
                WHERE e.entity_type = 'session' AND e.entity_id = s.id AND e.event_type = 'authenticated') ORDER BY s.id",
    ),
];

impl Work<'_> {
    /// Whether the database answers.
    pub(crate) fn ping(&mut self) -> Result<(), Fault> {
        self.sql.query("SELECT id FROM projects LIMIT 1", values![]).map(drop)
    }

    /// What is there and must not be, a sentence each.
    pub(crate) fn problems(&mut self) -> Result<Vec<String>, Fault> {
        let mut found = Vec::new();
        for (what, query) in PROBLEMS {
            for mut row in self.sql.query(query, values![self.now])? {
                let (id, more): (String, Option<String>) = (row.next()?, row.next()?);
                found.push(format!("{id} ({}): {what}.", more.unwrap_or_default()));
            }
        }
        Ok(found)
    }

    /// What SQLite's own checks find.
    fn file_problems(&mut self) -> Result<Vec<String>, Fault> {
        let mut found = Vec::new();
        for mut row in self.sql.query("PRAGMA integrity_check", values![])? {
            let told: String = row.next()?;
            if told != "ok" {
                found.push(format!("The file is damaged: {told}. Restore a backup."));
            }
        }
        for mut row in self.sql.query("PRAGMA foreign_key_check", values![])? {
            let (table, row_id, parent): (String, Option<i64>, String) = (row.next()?, row.next()?, row.next()?);
            let row_id = row_id.map(|id| format!(" (row {id})")).unwrap_or_default();
            found.push(format!("A row of {table}{row_id} points to a row of {parent} that is not there."));
        }
        Ok(found)
    }
}

impl Store {
    /// Everything that is wrong, a sentence each.
    ///
    /// # Errors
    /// [`Fault`].
    pub async fn examine(&self) -> Result<Vec<String>, Fault> {
        let mut found = match self.place() {
            Place::File(_) => self.reads.put(SLOW, |work: &mut Work<'_>| work.file_problems()).await?,
            Place::Server(_) => Vec::new(),
        };
        found.extend(self.read(|work| work.problems()).await?);
        Ok(found)
    }

    /// Copies the database to a file that is not there yet, as it is at one moment, while others use it.
    ///
    /// # Errors
    /// [`Fault`].
    pub async fn backup(&self, target: PathBuf) -> Result<(), Fault> {
        let Place::File(source) = self.place().clone() else {
            return Err(Fault::Unfit("A backup of PostgreSQL is made with its own pg_dump.".to_owned()));
        };
        tokio::task::spawn_blocking(move || sqlite::backup(&source, &target)).await.unwrap_or(Err(Fault::Ours))
    }
}
