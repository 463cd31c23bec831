//! Notes that agents save about tasks. Rows are only ever added.

use serde::Serialize;

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

/// A task's current context: for each field the newest value among its notes; `None` if that value is `""`.
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
        const QUERY: &str = "SELECT
            (SELECT progress FROM contexts WHERE task_id = ?1 AND progress IS NOT NULL ORDER BY seq DESC LIMIT 1),
            (SELECT findings FROM contexts WHERE task_id = ?1 AND findings IS NOT NULL ORDER BY seq DESC LIMIT 1),
            (SELECT blockers FROM contexts WHERE task_id = ?1 AND blockers IS NOT NULL ORDER BY seq DESC LIMIT 1),
            (SELECT next_steps FROM contexts WHERE task_id = ?1 AND next_steps IS NOT NULL ORDER BY seq DESC LIMIT 1)
            WHERE EXISTS (SELECT 1 FROM contexts WHERE task_id = ?1)";
        let Some(mut row) = self.sql.query(QUERY, values![task])?.pop() else {
            return Ok(None);
        };
        let mut field = || row.next::<Option<String>>().map(|text| text.filter(|text| !text.is_empty()));
        Ok(Some(LatestContext { progress: field()?, findings: field()?, blockers: field()?, next_steps: field()? }))
    }

    /// Adds a note; `author` is the agent and its session, if known.
    pub(crate) fn add_context(&mut self, context: &Context, author: Option<(&str, &str)>) -> Result<(), StoreError> {
        const STATEMENT: &str = "INSERT INTO contexts
            (id, task_id, agent_id, session_id, progress, findings, blockers, next_steps, created_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        let (agent, session) = author.unzip();
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
        ];
        self.sql.execute(STATEMENT, values).map(drop)
    }
}
