//! Notes that agents save about tasks. Rows are only ever added.

use serde::Serialize;
use serde_json::json;

use super::row::row;
use super::sql::values;
use super::{StoreError, Time, Work};

row! {
    /// One saved note.
    #[derive(Clone, Debug, Serialize)]
    #[allow(missing_docs, reason = "the contract names the members")]
    pub struct Context in "contexts" {
        pub id: String,
        pub task_id: String,
        pub progress: Option<String>,
        pub findings: Option<String>,
        pub blockers: Option<String>,
        pub next_steps: Option<String>,
        pub created_at: Time,
    }
}

/// The newest value of a column, or NULL if that is `''`. Two queries, so that each can stop at the first row that it
/// finds in the index.
macro_rules! latest {
    ($column:literal) => {
        concat!(
            "NULLIF(COALESCE((SELECT ",
            $column,
            " FROM contexts WHERE task_id = ?1 AND late = 0 AND ",
            $column,
            " IS NOT NULL ORDER BY seq DESC LIMIT 1), (SELECT ",
            $column,
            " FROM contexts WHERE task_id = ?1 AND late = 1 AND ",
            $column,
            " IS NOT NULL ORDER BY seq DESC LIMIT 1)), '')"
        )
    };
}

row! {
    /// A task's current context: for each field the newest value among its notes; `None` if that value is `""`. A late
    /// note counts only for fields that no other note sets.
    #[derive(Clone, Debug, Default, Serialize, PartialEq, Eq)]
    #[allow(missing_docs, reason = "the contract names the members")]
    pub struct LatestContext in "contexts" {
        pub progress: Option<String> = latest!("progress"),
        pub findings: Option<String> = latest!("findings"),
        pub blockers: Option<String> = latest!("blockers"),
        pub next_steps: Option<String> = latest!("next_steps"),
    }
}

/// Who saved a note, if known, and whether too late to be the current state of the task.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NoteOrigin<'a> {
    /// The agent and its session.
    pub(crate) author: Option<(&'a str, &'a str)>,
    /// Whether the task already had another assignee, and notes were saved since it was taken from the author.
    pub(crate) is_late: bool,
}

impl Context {
    /// Whether the fields of both notes are equal.
    pub fn says_the_same_as(&self, other: &Self) -> bool {
        (&self.progress, &self.findings, &self.blockers, &self.next_steps)
            == (&other.progress, &other.findings, &other.blockers, &other.next_steps)
    }
}

impl Work<'_> {
    /// All notes about a task, newest first.
    pub(crate) fn contexts(&mut self, task: &str) -> Result<Vec<Context>, StoreError> {
        self.sql.select("WHERE task_id = ?1 ORDER BY seq DESC", values![task])
    }

    /// The newest note about a task.
    pub(crate) fn newest_context(&mut self, task: &str) -> Result<Option<Context>, StoreError> {
        self.sql.select_one("WHERE task_id = ?1 ORDER BY seq DESC LIMIT 1", values![task])
    }

    /// A task's current context; `None` if it has no notes.
    pub(crate) fn latest_context(&mut self, task: &str) -> Result<Option<LatestContext>, StoreError> {
        self.sql.select_one("WHERE task_id = ?1 LIMIT 1", values![task])
    }

    /// Whether there are notes about a task that were saved after it was last taken from the agent, by any agent.
    /// The audit log has the order: times can be equal, and the clock can be set back.
    pub(crate) fn has_notes_since_it_left(&mut self, task: &str, agent: &str) -> Result<bool, StoreError> {
        const QUERY: &str = "SELECT c.id FROM contexts c
            JOIN events saved ON saved.entity_type = 'context' AND saved.entity_id = c.id
            WHERE c.task_id = ?1 AND saved.seq > (SELECT MAX(seq) FROM events
                WHERE entity_type = 'task' AND entity_id = ?1 AND event_type = 'assigned' AND before = ?2) LIMIT 1";
        let before = json!({ "assignee_id": agent }).to_string();
        Ok(!self.sql.query(QUERY, values![task, &before])?.is_empty())
    }

    /// Adds a note.
    pub(crate) fn add_context(&mut self, context: &Context, origin: NoteOrigin<'_>) -> Result<(), StoreError> {
        let (agent, session) = origin.author.unzip();
        let late = i64::from(origin.is_late);
        self.sql.insert(context, [("agent_id", agent.into()), ("session_id", session.into()), ("late", (&late).into())])
    }
}
