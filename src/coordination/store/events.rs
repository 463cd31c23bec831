//! The audit log: what changed, in order. Rows are only ever added; triggers refuse updates and deletes.

use serde_json::Value;

use super::sql::values;
use super::{StoreError, Work};

/// What kind of thing an event is about.
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
    const fn as_str(self) -> &'static str {
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

/// An entry of the audit log.
#[derive(Debug)]
pub struct Event<'a> {
    /// What kind of thing changed.
    pub entity: Entity,
    /// Its id.
    pub id: &'a str,
    /// The project it belongs to.
    pub project: Option<&'a str>,
    /// What happened: `authenticated`, `status_changed` and so on.
    pub kind: &'a str,
    /// The agent that caused it.
    pub actor: Option<&'a str>,
    /// The session it happened in.
    pub session: Option<&'a str>,
    /// The old values.
    pub before: Option<Value>,
    /// The new values.
    pub after: Option<Value>,
    /// Why it happened.
    pub reason: Option<&'a str>,
}

impl<'a> Event<'a> {
    /// An event without the optional details.
    pub fn new(entity: Entity, id: &'a str, kind: &'a str) -> Self {
        Self { entity, id, project: None, kind, actor: None, session: None, before: None, after: None, reason: None }
    }
}

impl Work<'_> {
    /// Adds an event to the audit log.
    pub(crate) fn record(&mut self, event: &Event<'_>) -> Result<(), StoreError> {
        const STATEMENT: &str = "INSERT INTO events
            (at, entity_type, entity_id, project_id, event_type, actor, session_id, before, after, reason)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
        let (before, after) = (event.before.as_ref().map(Value::to_string), event.after.as_ref().map(Value::to_string));
        let values = values![
            self.now,
            event.entity.as_str(),
            event.id,
            event.project,
            event.kind,
            event.actor,
            event.session,
            before.as_ref(),
            after.as_ref(),
            event.reason,
        ];
        self.sql.execute(STATEMENT, values).map(drop)
    }
}
