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

    /// As plain text.
    pub(in crate::tools::view) fn plain(&self) -> String {
        let text = |part: &Part| match part {
            Part::Text(text) | Part::Strong(text) | Part::Code(text) | Part::Link { text, .. } => text.clone(),
        };
        self.0.iter().map(text).collect()
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

/// A number with commas between thousands, as both languages write it.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// `one` for 1, otherwise `many`, with the number in place of `{}`; Japanese has only one form.
pub(super) fn counted(locale: Locale, number: u64, ja: &str, one: &str, many: &str) -> String {
    let form = locale.choose(ja, if number == 1 { one } else { many });
    form.replacen("{}", &grouped(number), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_commas() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
    }
}
