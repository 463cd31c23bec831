//! The result of a tool, as the caller gets it.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::limits::ANSWER_BYTES;
use crate::json::{Cursor, Keep, PrunedReader, Pruner};
use crate::secrets::without_value;

/// What a tool answered.
#[derive(Debug, PartialEq)]
pub(super) enum Answer {
    /// A result: JSON.
    Result(String),
    /// The tool's own error: its words.
    Failed(String),
    /// A result that is larger than may pass.
    TooLarge,
}

/// The members of a `CallToolResult` (MCP 2025-06-18 and later) that matter here.
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
struct Block<'a> {
    #[serde(borrow)]
    text: Option<&'a RawValue>,
}

/// Reads the text of a `CallToolResult`.
///
/// # Errors
/// What is wrong with it.
pub(super) fn read(text: &str) -> Result<Answer, String> {
    // Structs would be read from arrays, too.
    if !text.starts_with('{') {
        return Err("not an object".to_owned());
    }
    let result: CallResult<'_> =
        serde_json::from_str(text).map_err(|error| format!("not a tool's result: {}", without_value(&error)))?;
    if let Some(kind) = result.result_type.filter(|kind| kind != "complete") {
        return Err(format!("a result of the type {:?} cannot be answered here", super::error::clip(&kind)));
    }
    let blocks: Vec<Block<'_>> = match result.content {
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
        (None, Some(_), [Block { text: Some(raw) }]) => {
            let decoded = decode(raw).ok_or("a text that is no string")?;
            let bytes = decoded.len();
            match serde_json::from_str::<&RawValue>(&decoded) {
                Ok(json) => (Cow::Owned(json.get().to_owned()), bytes),
                // It is JSON already, as a string.
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

/// The text of a JSON string; lone surrogates, which only the slower way takes, become U+FFFD.
fn decode(raw: &RawValue) -> Option<String> {
    let json = raw.get();
    if !json.starts_with('"') {
        return None;
    }
    serde_json::from_str(json).ok().or_else(|| {
        let mended = PrunedReader::new(json.as_bytes(), Pruner::new(Keep::Whole, 0..0));
        Cursor::over(mended).text(json.len()).ok()?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(text: &str) -> String {
        match read(text) {
            Ok(Answer::Result(result)) => result,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn the_first_form_that_there_is_counts() {
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
    fn a_tools_own_error_is_its_words() {
        let text = r#"{"isError":true,"content":[{"type":"text","text":"No such\nfile"},{"type":"image"},{"type":"text","text":"!"}]}"#;
        assert_eq!(read(text), Ok(Answer::Failed("No such\nfile\n!".to_owned())));
    }

    #[test]
    fn what_is_no_result_is_refused() {
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
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_limit_is_exact() {
        let text = |bytes| format!(r#"{{"content":[{{"type":"text","text":"{}"}}]}}"#, "x".repeat(bytes));
        assert_eq!(result(&text(ANSWER_BYTES)).len(), ANSWER_BYTES + 2);
        assert_eq!(read(&text(ANSWER_BYTES + 1)), Ok(Answer::TooLarge));
    }
}
