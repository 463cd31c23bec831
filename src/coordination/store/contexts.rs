//! Notes that agents save about tasks. Rows are only ever added.

use serde::Serialize;
use serde_json::json;

use super::sql::{Row, values};
use super::{StoreError, Time, Work};

/// One saved note.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the contract names the members")]
pub struct Context {
    pub id: String,
    pub task_id: String,
    pub progress: Option<String>,
    pub findings: Option<String>,
    pub blockers: Option<String>,
    pub next_steps: Option<String>,
    pub created_at: Time,
}

/// A task's current context: for each field the newest value among its notes; `None` if that value is `""`. A late
/// note counts only for fields that no other note sets.
#[derive(Clone, Debug, Default, Serialize, PartialEq, Eq)]
#[allow(missing_docs, reason = "the contract names the members")]
pub struct LatestContext {
    pub progress: Option<String>,
    pub findings: Option<String>,
    pub blockers: Option<String>,
    pub next_steps: Option<String>,
}

/// A query for whole rows, with the columns in the order in which [`Context::read`] reads them.
macro_rules! select {
    ($of:literal) => {
        concat!("SELECT id, task_id, progress, findings, blockers, next_steps, created_at FROM contexts ", $of)
    };
}

/// The newest value of a field. Two queries, so that each can stop at the first row that it finds in the index.
macro_rules! latest {
    ($field:literal) => {
        concat!(
            "COALESCE((SELECT ",
            $field,
            " FROM contexts WHERE task_id = ?1 AND late = 0 AND ",
            $field,
            " IS NOT NULL ORDER BY seq DESC LIMIT 1), (SELECT ",
            $field,
            " FROM contexts WHERE task_id = ?1 AND late = 1 AND ",
            $field,
            " IS NOT NULL ORDER BY seq DESC LIMIT 1))"
        )
    };
}

/// Who saved a note, if known, and whether too late to be the current state of the task.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NoteOrigin<'a> {
    /// The agent and its session.
    pub(crate) author: Option<(&'a str, &'a str)>,
    /// Whether the task had another assignee by then, and notes were saved since it was taken from the author.
    pub(crate) is_late: bool,
}

impl Context {
    fn read(mut row: Row) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.next()?,
            task_id: row.next()?,
            progress: row.next()?,
            findings: row.next()?,
            blockers: row.next()?,
            next_steps: row.next()?,
            created_at: row.next()?,
        })
    }

    /// Whether the fields of both notes are equal.
    pub fn says_the_same_as(&self, other: &Self) -> bool {
        (&self.progress, &self.findings, &self.blockers, &self.next_steps)
            == (&other.progress, &other.findings, &other.blockers, &other.next_steps)
    }
}

impl Work<'_> {
    /// All notes about a task, newest first.
    pub(crate) fn contexts(&mut self, task: &str) -> Result<Vec<Context>, StoreError> {
        const QUERY: &str = select!("WHERE task_id = ?1 ORDER BY seq DESC");
        self.sql.query(QUERY, values![task])?.into_iter().map(Context::read).collect()
    }

    /// The newest note about a task.
    pub(crate) fn newest_context(&mut self, task: &str) -> Result<Option<Context>, StoreError> {
        const QUERY: &str = select!("WHERE task_id = ?1 ORDER BY seq DESC LIMIT 1");
        self.sql.query(QUERY, values![task])?.pop().map(Context::read).transpose()
    }

    /// A task's current context; `None` if it has no notes.
    pub(crate) fn latest_context(&mut self, task: &str) -> Result<Option<LatestContext>, StoreError> {
        const QUERY: &str = concat!(
            "SELECT ",
            latest!("progress"),
            ", ",
            latest!("findings"),
            ", ",
            latest!("blockers"),
            ", ",
            latest!("next_steps"),
            " WHERE EXISTS (SELECT 1 FROM contexts WHERE task_id = ?1)"
        );
        let Some(mut row) = self.sql.query(QUERY, values![task])?.pop() else {
            return Ok(None);
        };
        let mut field = || row.next::<Option<String>>().map(|text| text.filter(|text| !text.is_empty()));
        Ok(Some(LatestContext { progress: field()?, findings: field()?, blockers: field()?, next_steps: field()? }))
    }

    /// Whether there are notes about a task that were saved after it was last taken from the agent, whoever saved them.
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
        const STATEMENT: &str = "INSERT INTO contexts
            (id, task_id, agent_id, session_id, progress, findings, blockers, next_steps, created_at, late)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
        let (agent, session) = origin.author.unzip();
        let Context { id, task_id, progress, findings, blockers, next_steps, created_at } = context;
        let values = values![
            id,
            task_id,
            agent,
            session,
            progress.as_ref(),
            findings.as_ref(),
            blockers.as_ref(),
            next_steps.as_ref(),
            *created_at,
            i64::from(origin.is_late),
        ];
        self.sql.execute(STATEMENT, values).map(drop)
    }
}
