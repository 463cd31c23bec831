//! What people should know about an execution, in sentences: the page and the terminal show the same ones.

mod cause;
mod flow;
mod sentence;

use serde::Serialize;

pub(super) use self::cause::Asked;
pub(super) use self::flow::{NodeFlow, of_flow};
pub(super) use self::sentence::Sentence;
use crate::toolkit::Locale;

/// What n8n stores of an execution that it is asked for again without a word, bytes: each look makes it send all of it.
pub(super) const SENT_AGAIN: u64 = 50_000_000;

/// What needs more than the summary. Each part may be missing.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Cause {
    /// Of a failed node: its HTTP request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<Sentence>,
    /// What was answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answered: Option<Sentence>,
    /// The item that it was working on, and what is odd in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<Sentence>,
    /// Whether the workflow was edited since the last good run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edited: Option<Sentence>,
    /// Of a success: odd values.
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

/// That nothing was found, and what was looked at.
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

/// A text in which JSON was put into a string, as it was before: `500 - "{\"a\": 1}"` as `500 - {"a": 1}`.
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
