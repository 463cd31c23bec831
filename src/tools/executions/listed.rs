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
