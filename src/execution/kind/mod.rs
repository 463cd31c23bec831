//! The kind of an error's text: what is left of a message without the values in it, so that equal failures of different
//! orders, hosts and days become one.
//!
//! A failure's key is its workflow, node, `name`, `httpCode`, and the kinds of its `message` and its `description`: n8n's
//! `NodeApiError` has one fixed message per HTTP status, and the cause is in the description.
//!
//! The kind of one text ([`Kind::of`]), in this order:
//! 1. Its first two lines that are not empty, 1,000 characters of them, without n8n's ending `[line 12, for item 3]`.
//! 2. Kept: a status of three digits after a word such as *status code*, at the start, or in parentheses (`status`).
//! 3. Quoted text becomes `"…"`, unless it is a name, JSON or HTML, or holds a kept status (`quoted`).
//! 4. Values become `*`: addresses (of a URL, scheme and host stay), UUIDs, dates, times, paths, numbers, also inside words,
//!    and random words (`values`).
//! 5. A list of equal values becomes one of them, white space one blank, and 300 characters are kept.
//!
//! Often only the other texts of the same workflow, node, name and code show what is a name and what is a value
//! ([`merged`]).
//!
//! The reference is a program with regular expressions, `fingerprint.py` of the specification. `fixtures/kinds.json`
//! holds its output. Known differences: characters that Unicode added after version 14, where Python 3.11 knows no
//! letters, marks or digits; a lone surrogate, which a Rust string cannot hold.

mod addresses;
mod characters;
mod dates;
mod merged;
mod quoted;
mod status;
mod text;
mod values;
mod words;

#[cfg(test)]
mod tests;

pub use self::merged::merged;

use self::characters::{is_line_break, is_space};
use self::quoted::Quotes;
use self::text::Text;

/// The maximum number of characters of a kind.
const KIND_CHARS: usize = 300;

/// The maximum number of characters read of a text, and of lines.
const READ_CHARS: usize = 1000;
const READ_LINES: usize = 2;

/// What stands for equal values in a row.
const LISTED: [&str; 3] = ["*", "\"…\"", "'…'"];

/// The separators between values of a list.
const SEPARATORS: [&str; 3] = [", ", " and ", ","];

/// The kind of one text, with and without the names that it quotes; each has at most 300 characters.
///
/// ```
/// use n8n_lens::execution::kind::Kind;
///
/// let kind = Kind::of("Order 4711: relation \"orders\" does not exist [line 3]");
/// assert_eq!(kind.fine, "Order *: relation \"orders\" does not exist");
/// assert_eq!(kind.coarse, "Order *: relation \"…\" does not exist");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Kind {
    /// Without values; quoted names are still there.
    pub fine: String,
    /// Without quoted names, too.
    pub coarse: String,
}

impl Kind {
    /// The kind of a message or a description.
    pub fn of(text: &str) -> Self {
        // Names are long, and their marks short: a coarse kind is made from twice as much text.
        let long = fine(text, 2 * KIND_CHARS);
        Self { coarse: coarse(&long, KIND_CHARS), fine: long.chars().take(KIND_CHARS).collect() }
    }
}

/// A text without values.
fn fine(text: &str, limit: usize) -> String {
    let read = beginning(text);
    let text = Text(without_place(&read));
    let kept = status::kept(text);
    let mut out = String::with_capacity(read.len());
    let mut end = 0;
    for quoted in Quotes::of(text) {
        let holds_status = kept.iter().any(|at| quoted.range.contains(at));
        if !quoted.is_shown() && !holds_status {
            values::push(text, end..quoted.range.start, &kept, &mut out);
            quoted.push_marks(&mut out);
            end = quoted.range.end;
        }
    }
    values::push(text, end..text.0.len(), &kept, &mut out);
    one_line(&without_lists(&out)).chars().take(limit).collect()
}

/// A fine kind without the names that it quotes.
fn coarse(fine: &str, limit: usize) -> String {
    let chars: Vec<char> = fine.chars().collect();
    let text = Text(&chars);
    let mut out = String::with_capacity(fine.len());
    let mut end = 0;
    for quoted in Quotes::of(text) {
        out.extend(text.slice(end..quoted.range.start));
        quoted.push_marks(&mut out);
        end = quoted.range.end;
    }
    out.extend(text.slice(end..chars.len()));
    out.chars().take(limit).collect()
}

/// The first lines that are not empty, as one.
fn beginning(text: &str) -> Vec<char> {
    let lines = text.split(is_line_break).map(|line| line.trim_matches(is_space)).filter(|line| !line.is_empty());
    let mut read = Vec::new();
    for line in lines.take(READ_LINES) {
        if !read.is_empty() {
            read.push(' ');
        }
        read.extend(line.chars().take(READ_CHARS));
    }
    read.truncate(READ_CHARS);
    read
}

/// A text without n8n's ending, `[line 12, for item 3]`, and the blanks before it.
fn without_place(text: &[char]) -> &[char] {
    let trimmed = trim_end(text);
    let Some((']', inside)) = trimmed.split_last() else { return text };
    let Some(open) = inside.iter().rposition(|char| *char == '[') else { return text };
    let inside = Text(inside);
    let numbered = |at, word| inside.literal(at, word).and_then(|at| inside.digits(at, 1..=usize::MAX)).unwrap_or(at);
    let at = numbered(open + 1, "line ");
    let at = inside.literal(at, ", ").unwrap_or(at);
    let at = inside.literal(at, "for ").unwrap_or(at);
    let is_place = numbered(at, "item ") == inside.0.len();
    if is_place { trim_end(inside.slice(0..open)) } else { text }
}

fn trim_end(text: &[char]) -> &[char] {
    let end = text.iter().rposition(|char| !is_space(*char)).map_or(0, |last| last + 1);
    Text(text).slice(0..end)
}

/// `*, * and *` becomes `*`.
fn without_lists(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    loop {
        let listed = LISTED.iter().find_map(|value| Some((value, rest.strip_prefix(value)?)));
        if let Some((value, after)) = listed {
            out.push_str(value);
            rest = after_list(after, value);
        } else {
            let mut chars = rest.chars();
            let Some(char) = chars.next() else { return out };
            out.push(char);
            rest = chars.as_str();
        }
    }
}

/// What follows the other values of a list.
fn after_list<'a>(mut rest: &'a str, value: &str) -> &'a str {
    let next = |rest: &'a str| SEPARATORS.iter().find_map(|between| rest.strip_prefix(between)?.strip_prefix(value));
    while let Some(after) = next(rest) {
        rest = after;
    }
    rest
}

/// White space becomes one blank, without any at the ends.
fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split(is_space).filter(|word| !word.is_empty()) {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}
