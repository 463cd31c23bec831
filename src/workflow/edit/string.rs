//! A JSON string, parts of which are replaced; the rest keeps its escapes.

use std::ops::Range;

use memchr::{memchr, memchr2};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::json::well_formed;

/// A string and where its bytes come from.
#[derive(Debug)]
pub(super) struct RawString<'t> {
    /// The text between its quotes.
    written: &'t str,
    /// Decoded; a lone surrogate is U+FFFD.
    pub text: String,
    /// In the order of the text; everything else is written as it is.
    escapes: Vec<Escape>,
}

/// A character that is written with an escape.
#[derive(Debug)]
struct Escape {
    /// Where it is in the decoded text.
    text: Range<usize>,
    /// Where its source is.
    written: Range<usize>,
}

impl<'t> RawString<'t> {
    /// Reads a JSON text; `None` if it is not a string.
    pub(super) fn read(json: &'t str) -> Option<Self> {
        let written = json.strip_prefix('"')?.strip_suffix('"')?;
        let (mut text, mut escapes) = (String::with_capacity(written.len()), Vec::new());
        let mut at = 0;
        while let Some(found) = memchr(b'\\', &written.as_bytes()[at..]) {
            text.push_str(&written[at..at + found]);
            at += found;
            let (char, bytes) = escaped(&written[at..]);
            let begin = text.len();
            text.push(char);
            escapes.push(Escape { text: begin..text.len(), written: at..at + bytes });
            at += bytes;
        }
        text.push_str(&written[at..]);
        Some(Self { written, text, escapes })
    }

    /// Where the source of this byte of `text`, or of its end, begins in `written`.
    fn place(&self, at: usize) -> usize {
        let before = self.escapes.partition_point(|escape| escape.text.start <= at);
        match before.checked_sub(1).map(|last| &self.escapes[last]) {
            None => at,
            Some(escape) if at < escape.text.end => escape.written.start,
            Some(escape) => escape.written.end + (at - escape.text.end),
        }
    }

    /// The JSON text with replacements for these parts, which are in order.
    pub(super) fn with(&self, edits: &[(Range<usize>, String)]) -> String {
        let (mut json, mut at) = (String::from("\""), 0);
        for (range, text) in edits {
            json.push_str(&self.written[at..self.place(range.start)]);
            let quoted = Value::from(text.as_str()).to_string();
            json.push_str(&quoted[1..quoted.len() - 1]);
            at = self.place(range.end);
        }
        json.push_str(&self.written[at..]);
        json.push('"');
        json
    }
}

/// The character that an escape stands for, and its length in bytes.
fn escaped(text: &str) -> (char, usize) {
    let char = match text.as_bytes().get(1) {
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return surrogates(text),
        Some(other) => char::from(*other),
        None => return (char::REPLACEMENT_CHARACTER, 1),
    };
    (char, 2)
}

/// The character that `\u…` stands for, together with the second half that may follow.
fn surrogates(text: &str) -> (char, usize) {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let Some(first) = unit(0) else { return (char::REPLACEMENT_CHARACTER, 2) };
    let both = unit(6).and_then(|second| char::decode_utf16([first, second]).next()?.ok());
    match both.filter(|char| char.len_utf16() == 2) {
        Some(char) => (char, 12),
        None => (char::from_u32(first.into()).unwrap_or(char::REPLACEMENT_CHARACTER), 6),
    }
}

/// The length of the string at the beginning of a text, including its quotes.
pub(super) fn string_bytes(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(found) = text.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        at += found;
        if text[at] == b'"' {
            return at + 1;
        }
        at += 2;
    }
    text.len()
}

/// A JSON text as a value, with U+FFFD in place of each lone surrogate; `None` if it does not fit the type.
pub(super) fn decoded<T: DeserializeOwned>(json: &str) -> Option<T> {
    serde_json::from_str(&well_formed(json.as_bytes())).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_replaced_stays_as_it_was_escaped() {
        let json = r#""a\u00e9\/\ud83d\ude00é\ud83d \\x\n""#;
        let string = RawString::read(json).unwrap();
        assert_eq!(string.text, "aé/😀é\u{fffd} \\x\n");
        assert_eq!(string.with(&[]), json);
        for (at, char) in string.text.char_indices() {
            let edited = string.with(&[(at..at + char.len_utf8(), "\"q\"".to_owned())]);
            let back = RawString::read(&edited).unwrap();
            assert_eq!(back.text, string.text[..at].to_owned() + "\"q\"" + &string.text[at + char.len_utf8()..]);
        }
        assert_eq!(string.with(&[(1..3, "b".to_owned()), (3..4, String::new())]), r#""ab\ud83d\ude00é\ud83d \\x\n""#);
        assert!(RawString::read("1").is_none());
    }
}
