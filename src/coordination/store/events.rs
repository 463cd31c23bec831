//! What happened, in order. Rows are only added; the database refuses anything else.

use serde_json::Value;

use super::sql::values;
use super::{Fault, Work};

/// What a change is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of the tables")]
pub enum Entity {
    Project,
    Agent,
    Task,
    Session,
    Execution,
    Context,
    Handoff,
    AccessToken,
}

impl Entity {
    const fn word(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Agent => "agent",
            Self::Task => "task",
            Self::Session => "session",
            Self::Execution => "execution",
            Self::Context => "context",
            Self::Handoff => "handoff",
            Self::AccessToken => "access_token",
        }
    }
}

/// A change, to be kept for good.
#[derive(Debug)]
pub struct Change<'a> {
    /// What it is about.
    pub entity: Entity,
    /// Its id.
    pub id: &'a str,
    /// The project that it belongs to.
    pub project: Option<&'a str>,
    /// What happened: `authenticated`, `status_changed`….
    pub event: &'a str,
    /// The agent that did it.
    pub actor: Option<&'a str>,
    /// In which session.
    pub session: Option<&'a str>,
    /// What it was.
    pub before: Option<Value>,
    /// What it is.
    pub after: Option<Value>,
    /// Why.
    pub reason: Option<&'a str>,
}

impl<'a> Change<'a> {
    /// A change with nothing more to say.
    pub fn new(entity: Entity, id: &'a str, event: &'a str) -> Self {
        Self { entity, id, project: None, event, actor: None, session: None, before: None, after: None, reason: None }
    }
}

impl Work<'_> {
    /// Keeps a change.
    pub(crate) fn record(&mut self, change: &Change<'_>) -> Result<(), Fault> {
        const STATEMENT: &str = "INSERT INTO events
            (at, entity_type, entity_id, project_id, event_type, actor, session_id, before, after, reason)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
        let (before, after) =
            (change.before.as_ref().map(Value::to_string), change.after.as_ref().map(Value::to_string));
        let values = values![
            self.now,
            change.entity.word(),
            change.id,
            change.project,
            change.event,
            change.actor,
            change.session,
            before.as_ref(),
            after.as_ref(),
            change.reason,
        ];
        self.sql.execute(STATEMENT, values).map(drop)
    }
}
