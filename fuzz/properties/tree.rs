//! A JSON text as a tree, and generating any JSON from choices.

use serde_json::Value;

use super::entropy::Entropy;

/// A JSON text as a tree. Its leaves are raw text, so that it can hold things that a `serde_json::Value` cannot: lone
/// surrogates, numbers of any size, duplicate names.
#[derive(Clone, Debug)]
pub enum Tree {
    /// A scalar, or anything else, as JSON text.
    Raw(String),
    List(Vec<Tree>),
    /// Names are the raw contents of JSON strings.
    Record(Vec<(String, Tree)>),
}

impl Tree {
    pub fn of(value: &Value) -> Self {
        match value {
            Value::Array(elements) => Self::List(elements.iter().map(Self::of).collect()),
            Value::Object(members) => {
                Self::Record(members.iter().map(|(name, value)| (inside(name), Self::of(value))).collect())
            }
            scalar => Self::Raw(scalar.to_string()),
        }
    }

    /// How many elements or members there are.
    pub fn parts(&self) -> usize {
        match self {
            Self::Raw(_) => 0,
            Self::List(elements) => elements.len(),
            Self::Record(members) => members.len(),
        }
    }

    /// The element or member at an index.
    pub fn part(&mut self, at: usize) -> &mut Self {
        match self {
            Self::Raw(_) => unreachable!("a scalar has no parts"),
            Self::List(elements) => &mut elements[at],
            Self::Record(members) => &mut members[at].1,
        }
    }

    /// The index of the member with this name.
    pub fn position(&self, name: &str) -> Option<usize> {
        match self {
            Self::Record(members) => members.iter().position(|(known, _)| known == name),
            _ => None,
        }
    }

    pub fn text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        text
    }

    fn write(&self, to: &mut String) {
        match self {
            Self::Raw(text) => to.push_str(text),
            Self::List(elements) => {
                to.push('[');
                for (at, element) in elements.iter().enumerate() {
                    to.push_str(if at > 0 { "," } else { "" });
                    element.write(to);
                }
                to.push(']');
            }
            Self::Record(members) => {
                to.push('{');
                for (at, (name, value)) in members.iter().enumerate() {
                    to.push_str(if at > 0 { ",\"" } else { "\"" });
                    to.push_str(name);
                    to.push_str("\":");
                    value.write(to);
                }
                to.push('}');
            }
        }
    }
}

/// A text as the content of a JSON string, without quotes.
pub fn inside(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// Numbers and literals, including unusual ones.
const SCALARS: [&str; 24] = [
    "null",
    "0",
    "true",
    "false",
    "1",
    "-1",
    "-0",
    "0.5",
    "3.2",
    "17",
    "1e2",
    "1E-7",
    "1763690626656",
    "1763690626.5",
    "9007199254740993",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "123456789012345678901234567890123456789",
    "1.7976931348623157e308",
    "1e300",
    "1e999",
    "-1e999",
    "1e-999",
];

/// Pieces of strings, as raw JSON.
const PIECES: [&str; 32] = [
    "a",
    "",
    "error",
    "success",
    "main",
    "0",
    " ",
    "é",
    "漢",
    "🎉",
    "\u{2a6d6}",
    "\u{e01fe}",
    "\u{7f}",
    "\u{2028}",
    "\\u0000",
    "\\u001f",
    "\\n",
    "\\\"",
    "\\\\",
    "\\/",
    "\\u00e9",
    "\\ud83d\\ude00",
    "\\ud83d",
    "\\uDE00",
    "\\ud83d\\ud83d",
    "…[+3 chars]",
    "…[+18446744073709551615 chars]",
    "[{",
    "}]",
    "authorization",
    "n8n-nodes-base.if",
    "2026-11-21T02:03:59.994Z",
];

/// How often a piece is repeated, if at all: around the limits at which texts and names are cut, and beyond.
const REPEATS: [usize; 12] = [8, 9, 13, 41, 61, 64, 65, 199, 201, 301, 1001, 6000];

/// The longest string has about three of these, bytes: names are held up to 16 KiB.
const MAX_PIECE_BYTES: usize = 8000;

/// Names with a meaning in n8n, and others.
const NAMES: [&str; 40] = [
    "a",
    "b",
    "",
    "json",
    "binary",
    "error",
    "redactedError",
    "data",
    "main",
    "source",
    "previousNode",
    "previousNodeOutput",
    "previousNodeRun",
    "inputOverride",
    "resultData",
    "runData",
    "workflowData",
    "nodes",
    "connections",
    "settings",
    "parameters",
    "name",
    "type",
    "typeVersion",
    "onError",
    "executionStatus",
    "executionTime",
    "executionIndex",
    "startTime",
    "outputIndex",
    "password",
    "metadata",
    "id",
    "status",
    "message",
    "stack",
    "context",
    "Authorization",
    "__proto__",
    "…",
];

/// A number, a literal or a string.
pub fn scalar(entropy: &mut Entropy<'_>) -> Tree {
    match entropy.byte() % 8 {
        0..4 => Tree::Raw((*entropy.pick(&SCALARS)).to_owned()),
        4 => Tree::Raw(format!("{}{}", 1 + entropy.below(9), "7".repeat(*entropy.pick(&[1, 30, 31, 200, 1023])))),
        _ => Tree::Raw(format!("\"{}\"", string(entropy))),
    }
}

/// The content of a string.
pub fn string(entropy: &mut Entropy<'_>) -> String {
    let mut string = String::new();
    for _ in 0..=entropy.below(3) {
        let piece = *entropy.pick(&PIECES);
        let times = if entropy.one_in(12) { *entropy.pick(&REPEATS) } else { 1 };
        string.push_str(&piece.repeat(times.min(1 + MAX_PIECE_BYTES / piece.len().max(1))));
    }
    string
}

/// A name, usually one of [`NAMES`].
pub fn name(entropy: &mut Entropy<'_>) -> String {
    if entropy.one_in(4) { string(entropy) } else { (*entropy.pick(&NAMES)).to_owned() }
}

/// Any JSON, with at most this depth.
pub fn any(entropy: &mut Entropy<'_>, depth: usize) -> Tree {
    let kind = entropy.byte() % 8;
    if depth == 0 || entropy.is_over() || kind < 3 {
        return scalar(entropy);
    }
    let parts = entropy.below(7);
    if kind == 3 {
        // Too many for an answer to hold.
        let one = any(entropy, depth.min(2) - 1);
        let times = if one.text().len() < 200 { parts * 30 } else { 1 };
        return Tree::List(vec![one; times]);
    }
    if kind < 6 {
        Tree::List((0..parts).map(|_| any(entropy, depth - 1)).collect())
    } else {
        Tree::Record((0..parts).map(|_| (name(entropy), any(entropy, depth - 1))).collect())
    }
}
