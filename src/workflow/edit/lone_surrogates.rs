//! Names with half a surrogate pair, which n8n's editor can create and no Rust text can hold: they are read with U+FFFD in
//! its place, and written back unchanged.

use std::collections::BTreeMap;

use super::string::{decoded, string_bytes};
use crate::workflow::Error;

/// JSON strings whose written form differs from what was read.
#[derive(Clone, Debug, Default)]
pub(super) struct LoneSurrogates(BTreeMap<String, String>);

impl LoneSurrogates {
    /// The ones among the strings of these JSON texts.
    ///
    /// # Errors
    /// [`Error::NotWorkflow`] if two of them are read as the same text.
    pub(super) fn of<'t>(texts: impl IntoIterator<Item = &'t str>) -> Result<Self, Error> {
        let mut lone_surrogates = Self::default();
        for raw in texts.into_iter().filter(|text| text.contains('\\') || text.contains('\u{fffd}')).flat_map(strings) {
            let Some(read) = decoded::<String>(raw).filter(|read| read.contains('\u{fffd}')) else { continue };
            let known = lone_surrogates.0.insert(json(&read), raw.to_owned());
            // An escape is the same in capitals.
            if known.is_some_and(|known| !known.eq_ignore_ascii_case(raw)) {
                return Err(Error::NotWorkflow(
                    "two names differ only in halves of surrogate pairs; rename one of them in n8n's editor first"
                        .to_owned(),
                ));
            }
        }
        Ok(lone_surrogates)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A JSON text with its strings as they were originally written.
    pub(super) fn restored(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (read, raw)| text.replace(read, raw))
    }
}

fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The strings of a JSON text, with their quotes.
fn strings(json: &str) -> impl Iterator<Item = &str> {
    let mut rest = json;
    std::iter::from_fn(move || {
        let from = rest.find('"')?;
        let len = string_bytes(&rest.as_bytes()[from..]);
        let (string, after) = rest[from..].split_at(len);
        rest = after;
        Some(string)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_written_back_as_they_were() {
        let text = r#"{"a \ud83d":[{"node":"b\udc00"},"plain","\ud83d\ude00"]}"#;
        let lone_surrogates = LoneSurrogates::of([text]).unwrap();
        let read: serde_json::Value = decoded(text).unwrap();
        assert_eq!(lone_surrogates.restored(&read.to_string()), text.replace(r"\ud83d\ude00", "\u{1f600}"));
        assert!(LoneSurrogates::of([r#"["a\"", 1]"#]).unwrap().is_empty());
    }

    #[test]
    fn two_that_are_read_alike_are_refused() {
        assert!(LoneSurrogates::of([r#"["\ud83d", "\ud83e"]"#]).is_err());
        assert!(LoneSurrogates::of(["[\"\\ud83d\"]", "\"\u{fffd}\""]).is_err());
        assert!(LoneSurrogates::of([r#"["\ud83d", "\ud83d", "\uD83D"]"#]).is_ok());
    }
}
