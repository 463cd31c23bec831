//! An execution as n8n lists it.

use std::collections::{BTreeSet, HashMap};

use futures::StreamExt;
use serde_json::Value;

use crate::json::cut_name;
use crate::n8n::{self, Client};

/// Workflow names requested at the same time.
const NAMES_AT_ONCE: usize = 4;

/// A string member; the oldest versions of n8n send ids as numbers.
pub(super) fn text(execution: &Value, member: &str) -> Option<String> {
    match &execution[member] {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The characters shown of a version: enough to distinguish the versions of a workflow.
const VERSION_CHARS: usize = 8;

/// The beginning of a version's id.
pub(in crate::tools) fn short_version(version: &str) -> String {
    version.chars().take(VERSION_CHARS).collect()
}

/// A date in ISO 8601 to the minute: `2026-11-21T21:57Z`.
pub(super) fn minute(date: &str) -> String {
    date.get(..16).map_or_else(|| date.to_owned(), |minute| format!("{minute}Z"))
}

/// The names of workflows by their ids. A name that cannot be read never makes an answer fail.
pub(super) async fn workflow_names(n8n: &Client, ids: impl Iterator<Item = String>) -> HashMap<String, String> {
    let ids: BTreeSet<String> = ids.collect();
    let names = futures::stream::iter(ids).map(|id| async move {
        let name = match n8n.workflow_name(&id).await {
            Ok(Some(name)) => cut_name(name),
            Err(n8n::Error::NotFound(_)) => "Deleted Workflow".to_owned(),
            Ok(None) | Err(_) => "Unknown Workflow".to_owned(),
        };
        (id, name)
    });
    names.buffer_unordered(NAMES_AT_ONCE).collect().await
}
