//! What JSON-RPC answers to a text that is not a message.

use rmcp::model::ErrorData;
use serde::de::IgnoredAny;

/// The error for a text that could not be parsed as a message: -32700 if it is not JSON, else -32600 (JSON-RPC 2.0,
/// section 5.1). `what` is the sender's word for the text, such as `line`.
pub(crate) fn not_a_message(text: &[u8], what: &str) -> ErrorData {
    let is_json = std::str::from_utf8(text).is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok());
    if is_json {
        let advice = "Send one object, with \"jsonrpc\":\"2.0\", an id, and the method as a string.";
        return ErrorData::invalid_request(
            format!("Invalid request: the {what} is not a JSON-RPC message. {advice}"),
            None,
        );
    }
    ErrorData::parse_error(format!("Parse error: the {what} is not valid JSON. Send one JSON-RPC message."), None)
}
