//! An execution of a list, as n8n sends it.

use serde_json::Value;

/// A string member; the oldest versions of n8n send ids as numbers.
pub(super) fn text(execution: &Value, member: &str) -> Option<String> {
    match &execution[member] {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The characters of a version that are shown: they distinguish the versions of a workflow.
const VERSION_CHARS: usize = 8;

/// The beginning of a version's id.
pub(in crate::tools) fn short_version(version: &str) -> String {
    version.chars().take(VERSION_CHARS).collect()
}

/// A date in ISO 8601 to the minute: `2026-11-21T21:57Z`.
pub(super) fn minute(date: &str) -> String {
    date.get(..16).map_or_else(|| date.to_owned(), |minute| format!("{minute}Z"))
}
