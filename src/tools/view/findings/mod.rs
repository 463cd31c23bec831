//! What people should know about an execution, as sentences: the page and the terminal show the same ones.

mod cause;
mod flow;
mod sentence;

use serde::Serialize;

pub(super) use self::cause::Asked;
pub(super) use self::flow::{NodeFlow, of_flow};
pub(super) use self::sentence::Sentence;
use crate::toolkit::Locale;

/// The largest stored execution, in bytes, that n8n may be asked for again unprompted: each question makes n8n send all of it.
pub(super) const SENT_AGAIN: u64 = 50_000_000;

/// Findings that need more than the summary. Each part may be missing.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Cause {
    /// For a failed node: its HTTP request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<Sentence>,
    /// The answer to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answered: Option<Sentence>,
    /// The item that the node was working on, and its outliers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<Sentence>,
    /// Whether the workflow was edited since the last good run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edited: Option<Sentence>,
    /// For a success: outliers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub odd: Vec<Sentence>,
}

impl Cause {
    /// All of it, in the order in which it is read.
    pub(super) fn into_sentences(self) -> impl Iterator<Item = Sentence> {
        let Self { request, answered, items, edited, odd } = self;
        request.into_iter().chain(answered).chain(items).chain(edited).chain(odd)
    }
}

/// The statement that nothing was found, and what was examined.
pub(super) fn nothing_unusual(locale: Locale) -> Sentence {
    let (found, looked) = locale.choose(
        (
            "普通と違う点は見つかりませんでした。",
            "失敗したまま続行したノードはなく、アイテムのある出力はすべてつながっていて、ほとんどの値と違う値もありません。",
        ),
        (
            "Nothing unusual was found.",
            "No node failed and went on, every output with items leads on, and no value differs from almost all others.",
        ),
    );
    Sentence::default().strong(found).text(format!(" {looked}"))
}

/// A text without the escapes of JSON inside a string: `500 - "{\"a\": 1}"` as `500 - {"a": 1}`.
fn unescaped(text: &str) -> String {
    /// Characters before the string.
    const BEFORE: usize = 20;
    let string = text.find('"').filter(|at| text[..*at].chars().count() <= BEFORE);
    let inside = string.and_then(|at| Some((at, serde_json::from_str::<String>(&text[at..]).ok()?)));
    inside.map_or_else(|| text.to_owned(), |(at, inside)| format!("{}{inside}", &text[..at]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_in_a_string_is_as_it_was_before() {
        assert_eq!(unescaped(r#"500 - "{\"a\": 1}""#), r#"500 - {"a": 1}"#);
        for text in ["plain", r#"a "quoted" word"#, r#"500 - "broken"#, ""] {
            assert_eq!(unescaped(text), text);
        }
    }
}
