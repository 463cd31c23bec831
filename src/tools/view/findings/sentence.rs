//! A sentence for people, in parts: the page turns parts with a target into links, a terminal prints them as text.

use serde::Serialize;
use serde_json::{Value, json};

use crate::json::shorten;
use crate::toolkit::Locale;

/// A finding as a sentence.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub(in crate::tools::view) struct Sentence(Vec<Part>);

/// A part of a sentence.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
enum Part {
    /// Words of ours, or of an execution.
    Text(String),
    /// The name of a node.
    Strong(String),
    /// A path, or a request.
    Code(String),
    /// A part that leads somewhere.
    Link {
        /// Its words.
        text: String,
        /// What it changes in the page's address; `id` names another execution.
        to: Value,
    },
}

impl Sentence {
    pub(super) fn text(mut self, text: impl Into<String>) -> Self {
        self.0.push(Part::Text(text.into()));
        self
    }

    pub(super) fn strong(mut self, name: &str) -> Self {
        self.0.push(Part::Strong(shorten(name, 80)));
        self
    }

    pub(super) fn code(mut self, code: &str, chars: usize) -> Self {
        self.0.push(Part::Code(shorten(code, chars)));
        self
    }

    pub(super) fn link(mut self, text: impl Into<String>, to: Value) -> Self {
        self.0.push(Part::Link { text: text.into(), to });
        self
    }

    pub(super) fn then(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// As plain text, in English.
    pub(in crate::tools::view) fn plain(&self) -> String {
        let text = |part: &Part| match part {
            Part::Text(text) | Part::Strong(text) | Part::Code(text) | Part::Link { text, .. } => text.clone(),
        };
        grouped(&self.0.iter().map(text).collect::<String>())
    }

    /// The first node that it leads to.
    pub(in crate::tools::view) fn leads_to(&self) -> Option<&str> {
        self.0.iter().find_map(|part| match part {
            Part::Link { to, .. } => to["node"].as_str(),
            _ => None,
        })
    }
}

/// Where an item, a run or an output is: an address of the page that keeps nothing of another node.
pub(super) fn place(node: &str, more: &Value) -> Value {
    let mut to =
        json!({"node": node, "tab": null, "run": null, "input": null, "out": null, "item": null, "side": null});
    for (name, value) in more.as_object().into_iter().flatten() {
        to[name] = value.clone();
    }
    to
}

/// Stands before and after a number, which its reader's locale groups.
const NUMBER: char = '\u{1}';

/// A number in a sentence.
pub(super) fn number(number: u64) -> String {
    format!("{NUMBER}{number}{NUMBER}")
}

/// A text with commas between the thousands of its numbers.
fn grouped(text: &str) -> String {
    let mut grouped = String::new();
    for (at, piece) in text.split(NUMBER).enumerate() {
        let is_number = at % 2 == 1 && piece.bytes().all(|byte| byte.is_ascii_digit());
        for (at, char) in piece.chars().enumerate() {
            if is_number && at > 0 && (piece.len() - at).is_multiple_of(3) {
                grouped.push(',');
            }
            grouped.push(char);
        }
    }
    grouped
}

/// `one` for 1, otherwise `many`, with the number in place of `{}`; Japanese knows one form.
pub(super) fn counted(locale: Locale, count: u64, ja: &str, one: &str, many: &str) -> String {
    let form = locale.choose(ja, if count == 1 { one } else { many });
    form.replacen("{}", &number(count), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_commas() {
        for (count, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            let sentence = Sentence::default().text(number(count)).text(" of 1234").text("\u{1}");
            assert_eq!(sentence.plain(), format!("{text} of 1234"));
        }
    }
}
