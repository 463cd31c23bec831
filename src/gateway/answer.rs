//! Extracts the result from a tool's answer.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::limits::ANSWER_BYTES;
use crate::json::{Cursor, Keep, PrunedReader, Pruner};
use crate::secrets::without_value;

/// A tool's answer.
#[derive(Debug, PartialEq)]
pub(super) enum Answer {
    /// The result, as JSON.
    Result(String),
    /// The message of the tool's own error.
    Failed(String),
    /// The result is larger than [`ANSWER_BYTES`].
    TooLarge,
}

/// The members of a `CallToolResult` (MCP 2025-06-18 and later) that are used here.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallResult<'a> {
    #[serde(borrow)]
    structured_content: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(default)]
    is_error: bool,
    result_type: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct ContentBlock<'a> {
    #[serde(borrow)]
    text: Option<&'a RawValue>,
}

/// Parses the text of a `CallToolResult`. The result is the structured content; otherwise the JSON in a single text block;
/// otherwise that text as a string; otherwise all content.
///
/// # Errors
/// The text is not a `CallToolResult`, has no content, or requests another round trip. The message does not quote it.
pub(super) fn parse(text: &str) -> Result<Answer, String> {
    // serde would accept an array as well.
    if !text.starts_with('{') {
        return Err("not an object".to_owned());
    }
    let result: CallResult<'_> =
        serde_json::from_str(text).map_err(|error| format!("not a tool result: {}", without_value(&error)))?;
    if let Some(kind) = result.result_type.filter(|kind| kind != "complete") {
        return Err(format!("results of type {:?} are not supported", super::error::clip(&kind)));
    }
    let blocks: Vec<ContentBlock<'_>> = match result.content {
        Some(content) => serde_json::from_str(content.get())
            .map_err(|error| format!("malformed content: {}", without_value(&error)))?,
        None => Vec::new(),
    };
    if result.is_error {
        let texts: Vec<_> = blocks.iter().filter_map(|block| decode(block.text?)).collect();
        return Ok(Answer::Failed(texts.join("\n")));
    }
    let structured = result.structured_content.filter(|value| value.get() != "null");
    let (value, bytes) = match (structured, result.content, &blocks[..]) {
        (Some(structured), ..) => (Cow::Borrowed(structured.get()), structured.get().len()),
        (None, Some(_), [ContentBlock { text: Some(raw) }]) => {
            let decoded = decode(raw).ok_or("a text that is not a string")?;
            let bytes = decoded.len();
            match serde_json::from_str::<&RawValue>(&decoded) {
                Ok(json) => (Cow::Owned(json.get().to_owned()), bytes),
                // As a JSON string it is already valid JSON.
                Err(_) => (Cow::Borrowed(raw.get()), bytes),
            }
        }
        (None, Some(content), _) => (Cow::Borrowed(content.get()), content.get().len()),
        (None, None, _) => return Err("neither content nor structuredContent".to_owned()),
    };
    if bytes > ANSWER_BYTES {
        return Ok(Answer::TooLarge);
    }
    Ok(Answer::Result(value.into_owned()))
}

/// Decodes a JSON string. Lone surrogates, which only the slower parser accepts, become U+FFFD.
fn decode(raw: &RawValue) -> Option<String> {
    let json = raw.get();
    if !json.starts_with('"') {
        return None;
    }
    serde_json::from_str(json).ok().or_else(|| {
        let repaired = PrunedReader::new(json.as_bytes(), Pruner::new(Keep::Whole, 0..0));
        Cursor::over(repaired).text(json.len()).ok()?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(text: &str) -> String {
        match parse(text) {
            Ok(Answer::Result(result)) => result,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn the_first_form_present_is_the_result() {
        for (text, becomes) in [
            (
                r#"{"content":[{"type":"text","text":"x"}],"structuredContent": {"b":1e400,"a":"\ud83d"} }"#,
                r#"{"b":1e400,"a":"\ud83d"}"#,
            ),
            (
                r#"{"content":[{"type":"text","text":" {\"a\": 12345678901234567890123} "}]}"#,
                r#"{"a": 12345678901234567890123}"#,
            ),
            (
                r#"{"structuredContent":null,"content":[{"type":"text","text":"a \ud83d"}],"isError":false}"#,
                r#""a \ud83d""#,
            ),
            (r#"{"content":[{"type":"text","text":""}]}"#, r#""""#),
            (r#"{"content":[{"type":"text","text":"null"}]}"#, "null"),
            (
                r#"{"content":[{"type":"image","data":"AA==","mimeType":"image/png"}]}"#,
                r#"[{"type":"image","data":"AA==","mimeType":"image/png"}]"#,
            ),
            (r#"{"content":[]}"#, "[]"),
            (
                r#"{"content":[{"type":"text","text":"1"},{"type":"text","text":"2"}],"resultType":"complete"}"#,
                r#"[{"type":"text","text":"1"},{"type":"text","text":"2"}]"#,
            ),
        ] {
            assert_eq!(result(text), becomes);
        }
    }

    #[test]
    fn a_tools_own_error_keeps_its_message() {
        let text = r#"{"isError":true,"content":[{"type":"text","text":"No such\nfile"},{"type":"image"},{"type":"text","text":"!"}]}"#;
        assert_eq!(parse(text), Ok(Answer::Failed("No such\nfile\n!".to_owned())));
    }

    #[test]
    fn malformed_results_are_refused() {
        for text in [
            "1",
            "\"a\"",
            "{}",
            r#"{"content":"x"}"#,
            r#"{"content":[1]}"#,
            r#"{"isError":"yes","content":[]}"#,
            r#"{"resultType":"input_required","content":[]}"#,
            r#"{"content":[{"type":"text","text":5}]}"#,
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_limit_is_exact() {
        let text = |bytes| format!(r#"{{"content":[{{"type":"text","text":"{}"}}]}}"#, "x".repeat(bytes));
        assert_eq!(result(&text(ANSWER_BYTES)).len(), ANSWER_BYTES + 2);
        assert_eq!(parse(&text(ANSWER_BYTES + 1)), Ok(Answer::TooLarge));
    }
}
