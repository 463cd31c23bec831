//! A client's file as a document that can be changed in places; everything else stays unchanged: its comments,
//! its order and its white space.

use serde_json::Value;

use super::client::Format;
use super::fault::Fault;
use super::{json, toml};

/// The value of a text; an empty text is an empty object.
pub(super) fn value(text: &str, format: Format) -> Result<Value, Fault> {
    let text = without_mark(text).1;
    match format {
        Format::Toml => toml::value(text),
        Format::Json | Format::Jsonc => json::value(text, format),
    }
}

/// The text with a new value in place of its present one: only the differences are rewritten.
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
