//! Collections listed page by page.

use super::sql::values;
use super::{StoreError, Work};

/// A collection whose entries can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collection {
    /// All agents, with their names.
    Agents,
    /// Projects, with their names.
    Projects,
    /// Tasks, with their titles.
    Tasks,
}

impl Work<'_> {
    /// At most `limit` ids and names whose ids come after `after`, in the order of the ids; with an agent, only
    /// its own projects and their tasks.
    pub(crate) fn names_after(
        &mut self,
        collection: Collection,
        after: &str,
        limit: i64,
        agent: Option<&str>,
    ) -> Result<Vec<(String, String)>, StoreError> {
        let query = match collection {
            Collection::Agents => {
                "SELECT id, name FROM agents WHERE id > ?1 AND (CAST(?3 AS TEXT) IS NULL OR TRUE) ORDER BY id LIMIT ?2"
            }
            Collection::Projects => {
                "SELECT id, name FROM projects WHERE id > ?1 AND (CAST(?3 AS TEXT) IS NULL OR id IN
                (SELECT project_id FROM project_agents WHERE agent_id = ?3 AND unassigned_at IS NULL)) ORDER BY id LIMIT ?2"
            }
            Collection::Tasks => {
                "SELECT id, title FROM tasks WHERE id > ?1 AND (CAST(?3 AS TEXT) IS NULL OR project_id IN
                (SELECT project_id FROM project_agents WHERE agent_id = ?3 AND unassigned_at IS NULL)) ORDER BY id LIMIT ?2"
            }
        };
        let rows = self.sql.query(query, values![after, &limit, agent])?;
        rows.into_iter().map(|mut row| Ok((row.next()?, row.next()?))).collect()
    }
}
