//! What JSON-RPC answers to a text that is not a message.

use rmcp::model::ErrorData;
use serde::de::IgnoredAny;
use serde_json::Value;

/// The error for a text that could not be parsed as a message: -32700 if it is not JSON, else -32600 (JSON-RPC 2.0,
/// section 5.1). `what` is the sender's word for the text, such as `line`.
pub(crate) fn not_a_message(text: &[u8], what: &str) -> ErrorData {
    let is_json = std::str::from_utf8(text).is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok());
    if is_json && serde_json::from_slice::<Value>(text).is_err() {
        let reason = "a text in it has half of a surrogate pair, such as \\ud83d alone, or a number is too large";
        return ErrorData::invalid_request(format!("Invalid request: the {what} cannot be used: {reason}."), None);
    }
    if is_json {
        let advice = "Send one object, with \"jsonrpc\":\"2.0\", an id, and the method as a string.";
        return ErrorData::invalid_request(
            format!("Invalid request: the {what} is not a JSON-RPC message. {advice}"),
            None,
        );
    }
    ErrorData::parse_error(format!("Parse error: the {what} is not valid JSON. Send one JSON-RPC message."), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_the_one_that_applies() {
        let said = |text: &str| not_a_message(text.as_bytes(), "line").message.into_owned();
        assert!(said("{").contains("is not valid JSON"));
        assert!(said("[]").contains("is not a JSON-RPC message"));
        let half = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"a":"\ud800"}}"#;
        for text in [half, r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1e400}}"#] {
            assert!(said(text).contains("half of a surrogate pair"), "{}", said(text));
        }
    }
}
