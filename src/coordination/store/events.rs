//! The audit log: what changed, in order. Rows are only ever added; triggers refuse updates and deletes.

use serde_json::Value;

use super::{StoreError, Work};
use crate::toolkit::words;

words! {
    /// The kind of thing that an event is about.
    #[allow(missing_docs, reason = "the names of the tables")]
    pub enum Entity {
        Project = "project",
        Agent = "agent",
        Task = "task",
        Session = "session",
        Execution = "execution",
        Context = "context",
        Handoff = "handoff",
        AccessToken = "access_token",
    }
}

/// An entry of the audit log.
#[derive(Debug)]
pub struct Event<'a> {
    /// The kind of thing that changed.
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
        let (before, after) = (event.before.as_ref().map(Value::to_string), event.after.as_ref().map(Value::to_string));
        let columns = [
            ("at", (&self.now).into()),
            ("entity_type", (&event.entity).into()),
            ("entity_id", event.id.into()),
            ("project_id", event.project.into()),
            ("event_type", event.kind.into()),
            ("actor", event.actor.into()),
            ("session_id", event.session.into()),
            ("before", (&before).into()),
            ("after", (&after).into()),
            ("reason", event.reason.into()),
        ];
        self.sql.insert_values("events", columns, "").map(drop)
    }
}
