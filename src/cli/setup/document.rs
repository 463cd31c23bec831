//! A client's file as a document that can be changed in places: everything else stays as written, with its
//! comments, its order and its white space.

use serde_json::Value;

use super::client::Format;
use super::{json, toml};

/// Why a text is not changed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    /// It does not follow the format. Line and column start at 1.
    #[error("line {line}, column {column}: {what}")]
    Syntax { line: usize, column: usize, what: String },
    /// The change would not be the requested one.
    #[error("{0}")]
    Unfit(String),
}

impl Fault {
    /// A fault at a byte of a text.
    pub(super) fn at(text: &str, byte: usize, what: impl Into<String>) -> Self {
        let before = text.get(..byte).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let (line, column) = (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1);
        Self::Syntax { line, column, what: what.into() }
    }
}

/// What a text says; an empty text is an empty object.
pub(super) fn value(text: &str, format: Format) -> Result<Value, Fault> {
    let text = without_mark(text).1;
    match format {
        Format::Toml => toml::value(text),
        Format::Json | Format::Jsonc => json::value(text, format),
    }
}

/// The text with another value than its present one: only what differs is rewritten.
pub(super) fn with_value(text: &str, format: Format, present: &Value, wanted: &Value) -> Result<String, Fault> {
    if present == wanted {
        return Ok(text.to_owned());
    }
    let (mark, content) = without_mark(text);
    let changed = match format {
        Format::Toml => with_line_breaks_of(content, &toml::with_value(&content.replace("\r\n", "\n"), wanted)?),
        Format::Json | Format::Jsonc => json::with_value(content, wanted)?,
    };
    let changed = format!("{mark}{changed}");
    match value(&changed, format) {
        Ok(found) if found == *wanted => Ok(changed),
        _ => Err(Fault::Unfit("it is written in a way that this command cannot change safely".to_owned())),
    }
}

/// The byte order mark of a text, and the rest.
fn without_mark(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 })
}

fn with_line_breaks_of(original: &str, changed: &str) -> String {
    match original.contains("\r\n") {
        true => changed.replace('\n', "\r\n"),
        false => changed.to_owned(),
    }
}
