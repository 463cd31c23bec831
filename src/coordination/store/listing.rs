//! What there is, page by page.

use super::sql::values;
use super::{Fault, Work};

/// What can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// Agents, by name.
    Agents,
    /// Projects, by name.
    Projects,
    /// Tasks, by title.
    Tasks,
}

impl Work<'_> {
    /// Ids and names behind an id, at most so many; for an agent only its projects and their tasks.
    pub(crate) fn list(
        &mut self,
        what: Listing,
        after: &str,
        limit: i64,
        agent: Option<&str>,
    ) -> Result<Vec<(String, String)>, Fault> {
        let query = match what {
            Listing::Agents => {
                "SELECT id, name FROM agents WHERE id > ?1 AND (CAST(?3 AS TEXT) IS NULL OR TRUE) ORDER BY id LIMIT ?2"
            }
            Listing::Projects => {
                "SELECT id, name FROM projects WHERE id > ?1 AND (CAST(?3 AS TEXT) IS NULL OR id IN
                (SELECT project_id FROM project_agents WHERE agent_id = ?3 AND unassigned_at IS NULL)) ORDER BY id LIMIT ?2"
            }
            Listing::Tasks => {
                "SELECT id, title FROM tasks WHERE id > ?1 AND (CAST(?3 AS TEXT) IS NULL OR project_id IN
                (SELECT project_id FROM project_agents WHERE agent_id = ?3 AND unassigned_at IS NULL)) ORDER BY id LIMIT ?2"
            }
        };
        let rows = self.sql.query(query, values![after, limit, agent])?;
        rows.into_iter().map(|mut row| Ok((row.next()?, row.next()?))).collect()
    }
}
