//! Errors, as n8n serialises them (`packages/workflow/src/errors`).

use indexmap::IndexMap;

use crate::json::{Cursor, Excerpt, Keep, Members, Prefix, ReadError, member, members};
use crate::secrets::redact;

/// The members of an error that are shown, in this order. `node`, which n8n embeds whole, is left out.
const SHOWN: [&str; 8] = ["name", "message", "description", "httpCode", "messages", "lineNumber", "stack", "context"];

/// What is kept of an error that is shown whole.
pub(super) const WHOLE: Keep = Keep::Members(&Keep::Whole.of_each(SHOWN));

/// What is kept of an error that n8n redacted.
pub(super) const REDACTED: Keep = Keep::Members(&[("type", Keep::Whole), ("httpCode", Keep::Whole)]);

/// Lines shown of a stack trace, unless all are asked for.
pub(crate) const STACK_LINES: usize = 10;

/// Why an execution failed, in brief.
#[derive(Clone, Debug, Default)]
pub struct Failure {
    /// The node that the error itself names.
    pub node_name: Option<String>,
    /// The class of the error: `NodeApiError`, `WorkflowCrashedError`, …
    pub name: Option<Prefix>,
    /// What happened.
    pub message: Option<Prefix>,
    /// Details from n8n or the service that it called.
    pub description: Option<Prefix>,
    /// The HTTP status that a service responded with.
    pub http_code: Option<String>,
}

/// Characters held of the message and the description of a [`Failure`]: as many as determine its kind.
pub(super) const FAILURE_CHARS: usize = 1000;

/// Characters held of its other texts.
const NAME_CHARS: usize = 300;

members!(Failure, |failure, cursor| match name {
    ("name", Keep::Whole) => failure.name = cursor.prefix(NAME_CHARS)?,
    ("message", Keep::Whole) => failure.message = cursor.prefix(FAILURE_CHARS)?,
    ("type", Keep::Whole) => failure.message = failure.message.take().or(cursor.prefix(FAILURE_CHARS)?),
    ("description", Keep::Whole) => failure.description = cursor.prefix(FAILURE_CHARS)?,
    ("httpCode", Keep::Whole) => failure.http_code = cursor.text(NAME_CHARS)?,
    ("node", NODE) => failure.node_name = member(cursor, "name", Cursor::name)?,
});

/// What is kept of the node that an error names.
const NODE: Keep = Keep::Members(&[("name", Keep::Whole)]);

impl Failure {
    /// Reads an error, or what n8n's redaction left of one (its `type` then serves as the message); `None` for `null`.
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Option<Self>, ReadError> {
        let failure = if cursor.at_object()? {
            Self::read_object(cursor)?
        } else {
            let (present, message) = cursor.present_text(FAILURE_CHARS)?;
            present.then(|| Self { message, ..Self::default() })
        };
        Ok(failure.map(Self::without_secrets))
    }

    fn without_secrets(mut self) -> Self {
        [&mut self.message, &mut self.description].into_iter().flatten().for_each(redact::text);
        self
    }

    /// The same for readers: JSON in its texts is as it was before n8n or a service put it into a string.
    pub fn readable(&self) -> Self {
        let mut readable = self.clone();
        [&mut readable.message, &mut readable.description].into_iter().flatten().for_each(unescape);
        readable
    }
}

/// Reads the [`SHOWN`] members of an error, about `bytes` of them; `None` for `null`.
pub(super) fn read_whole(cursor: &mut Cursor<'_>, bytes: usize) -> Result<Option<Excerpt>, ReadError> {
    if cursor.at_object()? {
        return read_members(cursor, bytes).map(Some);
    }
    let message = read_other(cursor, bytes)?;
    Ok((!is_null(&message)).then(|| object([("message", message)])))
}

/// Reads about `bytes` of an item's error: the [`SHOWN`] members of an object, with this many lines of its stack; any other
/// value as it is.
pub(super) fn read_of_item(cursor: &mut Cursor<'_>, bytes: usize, lines: usize) -> Result<Excerpt, ReadError> {
    if !cursor.at_object()? {
        return read_other(cursor, bytes);
    }
    let mut error = read_members(cursor, bytes)?;
    shorten_stack(&mut error, lines);
    Ok(error)
}

/// Reads about `bytes` of an error that is no object.
fn read_other(cursor: &mut Cursor<'_>, bytes: usize) -> Result<Excerpt, ReadError> {
    let mut value = cursor.excerpt(bytes)?;
    redact::error(&mut value);
    Ok(value)
}

fn read_members(cursor: &mut Cursor<'_>, bytes: usize) -> Result<Excerpt, ReadError> {
    let mut read = IndexMap::new();
    cursor.object(|cursor, member| {
        if !SHOWN.contains(&member) {
            return cursor.skip();
        }
        // The context may hold the whole response of a service; the other members are small.
        let share = if member == "context" { bytes / 2 } else { bytes / 8 };
        read.insert(member.to_owned(), cursor.excerpt(share)?);
        Ok(())
    })?;
    Ok(arrange(read))
}

/// Reads what n8n's redaction leaves of an error: `{type, httpCode}`.
pub(super) fn read_redacted(cursor: &mut Cursor<'_>) -> Result<Option<Excerpt>, ReadError> {
    Ok(Failure::read(cursor)?.map(|failure| {
        let message = failure.message.map(|message| ("message", Excerpt::Text(message)));
        let code = failure.http_code.map(|code| ("httpCode", Excerpt::Text(code.into())));
        object(message.into_iter().chain(code))
    }))
}

fn arrange(mut read: IndexMap<String, Excerpt>) -> Excerpt {
    let shown = SHOWN.iter().filter_map(|name| {
        let mut value = read.swap_remove(*name)?;
        redact::error(&mut value);
        Some((*name, value)).filter(|(_, value)| !is_null(value))
    });
    object(shown)
}

/// Writes the JSON in the texts of an error as it was before n8n or a service put it into a string.
pub(crate) fn unescape_texts(error: &mut Excerpt) {
    let Excerpt::Object { kept, .. } = error else { return };
    for (name, value) in kept {
        match (name.as_str(), value) {
            ("message" | "description", Excerpt::Text(text)) => unescape(text),
            ("messages", Excerpt::Array { kept, .. }) => {
                kept.iter_mut().for_each(|message| {
                    if let Excerpt::Text(text) = message {
                        unescape(text)
                    }
                });
            }
            _ => {}
        }
    }
}

/// `500 - "{\"a\": 1}"` as `500 - {"a": 1}`.
pub(super) fn unescape(text: &mut Prefix) {
    /// Characters before the string.
    const BEFORE: usize = 20;
    let Some((before, string)) = text.kept.find('"').map(|at| text.kept.split_at(at)) else { return };
    if before.chars().count() <= BEFORE
        && let Ok(inside) = serde_json::from_str::<String>(string)
    {
        *text = format!("{before}{inside}").into();
    }
}

fn object<'a>(members: impl IntoIterator<Item = (&'a str, Excerpt)>) -> Excerpt {
    let kept: Vec<_> = members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let total = kept.len() as u64;
    Excerpt::Object { kept, total }
}

fn is_null(value: &Excerpt) -> bool {
    matches!(value, Excerpt::Scalar(text) if text == "null")
}

/// Shortens the `stack` of an error to its first lines.
pub(crate) fn shorten_stack(error: &mut Excerpt, lines: usize) {
    let Excerpt::Object { kept, .. } = error else { return };
    for (_, stack) in kept.iter_mut().filter(|(name, _)| name == "stack") {
        first_lines(stack, lines);
    }
}

fn first_lines(stack: &mut Excerpt, lines: usize) {
    let Excerpt::Text(text) = stack else { return };
    let shown: Vec<&str> = text.kept.lines().take(lines).collect();
    if shown.len() == lines {
        *text = shown.join("\n").into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_in_a_string_is_as_it_was_before() {
        let unescaped = |text: &str| {
            let mut text = Prefix::from(text.to_owned());
            unescape(&mut text);
            text.kept
        };
        assert_eq!(unescaped(r#"500 - "{\"a\": 1}""#), r#"500 - {"a": 1}"#);
        for text in ["plain", r#"a "quoted" word"#, r#"500 - "broken"#, ""] {
            assert_eq!(unescaped(text), text);
        }
    }
}
