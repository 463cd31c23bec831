//! A row of `execution_entity` as the members of the execution in n8n's API.

use serde_json::{Map, Value};

use super::sql::{Column, Kind};

/// The members that n8n lists without the data.
const LISTED: [&str; 10] = [
    "id",
    "finished",
    "mode",
    "retryOf",
    "retrySuccessId",
    "status",
    "startedAt",
    "stoppedAt",
    "workflowId",
    "waitTill",
];

/// One execution, without its data.
#[derive(Clone, Debug)]
pub struct Row {
    members: Map<String, Value>,
}

/// Where the data of an execution is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DataLocation {
    Database,
    /// In a bundle on disk.
    Disk,
    /// In an object store.
    Elsewhere(String),
}

impl Row {
    /// The values of these columns, as text.
    pub(super) fn new(columns: &[&'static Column], values: impl IntoIterator<Item = Option<String>>) -> Self {
        let members = columns.iter().zip(values);
        Self { members: members.map(|(column, value)| (column.name.to_owned(), member(column.kind, value))).collect() }
    }

    /// An execution that is known only by its ids.
    pub(super) fn of_bundle(id: &str, workflow_id: Option<&str>) -> Self {
        let members = [("id", Some(id)), ("workflowId", workflow_id)];
        let members = members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), Value::from(value?))));
        Self { members: members.collect() }
    }

    /// The id.
    pub fn id(&self) -> &str {
        self.text("id").unwrap_or_default()
    }

    /// The version of the workflow that was executed; old versions of n8n do not store it.
    pub fn workflow_version(&self) -> Option<&str> {
        self.text("workflowVersionId")
    }

    /// n8n's status: `success`, `error`, `crashed`, …
    pub fn status(&self) -> Option<&str> {
        self.text("status")
    }

    /// How it was started: `webhook`, `manual`, …
    pub fn mode(&self) -> Option<&str> {
        self.text("mode")
    }

    /// When it started, ISO 8601.
    pub fn started_at(&self) -> Option<&str> {
        self.text("startedAt")
    }

    /// When it started, or was created if it never did, ISO 8601.
    pub fn began_at(&self) -> Option<&str> {
        self.started_at().or_else(|| self.text("createdAt"))
    }

    /// When it stopped, ISO 8601.
    pub fn stopped_at(&self) -> Option<&str> {
        self.text("stoppedAt")
    }

    /// The execution that it retries.
    pub fn retry_of(&self) -> Option<&str> {
        self.text("retryOf")
    }

    /// The id of its workflow; empty if it has none.
    pub fn workflow_id(&self) -> &str {
        self.text("workflowId").unwrap_or_default()
    }

    /// Whether n8n has soft-deleted it.
    pub fn is_deleted(&self) -> bool {
        self.text("deletedAt").is_some()
    }

    /// Its members as n8n lists them; `deletedAt` only if it is deleted.
    pub fn listed(&self) -> Value {
        let is_listed = |name: &str| LISTED.contains(&name) || (name == "deletedAt" && self.is_deleted());
        let members = self.members.iter().filter(|(name, _)| is_listed(name));
        Value::Object(members.map(|(name, value)| (name.clone(), value.clone())).collect())
    }

    /// Whether it is running or queued, according to what n8n has written.
    pub(super) fn is_running(&self) -> bool {
        matches!(self.text("status"), Some("running" | "new"))
    }

    /// The row of an execution that was running when n8n ended: `abandoned` is a member of n8n-lens's own.
    pub(super) fn abandoned(&self) -> Self {
        let mut row = self.clone();
        row.members.insert("abandoned".to_owned(), true.into());
        row
    }

    /// All its members, as one JSON object.
    pub(super) fn header(&self) -> Vec<u8> {
        Value::Object(self.members.clone()).to_string().into_bytes()
    }

    pub(super) fn location(&self) -> DataLocation {
        match self.text("storedAt") {
            None | Some("db") => DataLocation::Database,
            Some("fs") => DataLocation::Disk,
            Some("az") => DataLocation::Elsewhere("azure".to_owned()),
            Some(other) => DataLocation::Elsewhere(other.to_owned()),
        }
    }

    /// What n8n changes when it writes the execution again.
    pub(super) fn fingerprint(&self) -> String {
        ["status", "stoppedAt"].map(|name| self.text(name).unwrap_or_default()).join(" ")
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.members.get(name)?.as_str()
    }
}

fn member(kind: Kind, value: Option<String>) -> Value {
    let Some(value) = value else { return Value::Null };
    match kind {
        Kind::Text => value.into(),
        Kind::Flag => matches!(value.as_str(), "1" | "true").into(),
        // n8n's own numbers are whole.
        Kind::Number => value.parse::<u64>().map_or(Value::Null, Value::from),
        Kind::Date => iso(&value).into(),
    }
}

/// `2026-11-21 02:03:56.140` as n8n's API shows it.
pub(super) fn iso(date: &str) -> String {
    let date = date.replacen(' ', "T", 1);
    if date.ends_with('Z') { date } else { date + "Z" }
}
