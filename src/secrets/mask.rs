//! Masks the values of known secret keys in a JSON text, as [`redact::item`](super::redact::item) does in an excerpt:
//! nothing else is changed or cut.

use std::borrow::Cow;
use std::ops::Range;

use super::REDACTED;
use super::names::{HEADERS, holds_a_name, holds_the_value, is_one_of, is_secret, is_secret_in_items};
use crate::json::{FaultKind, Visitor, Written, walk_levels};

/// Containers nested deeper than this are masked.
const LEVELS: usize = 256;

/// A JSON text with the values of known secret keys masked (`--redact`).
///
/// # Errors
/// When it is not JSON.
pub(crate) fn mask(json: &[u8]) -> Result<Cow<'_, [u8]>, FaultKind> {
    let mut finder = Finder { json, open: Vec::new(), found: Vec::new() };
    walk_levels(json, LEVELS, &mut finder)?;
    let mut found = finder.found;
    if found.is_empty() {
        return Ok(Cow::Borrowed(json));
    }
    // The outer one of two that are nested comes first.
    found.sort_unstable_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    let (mut masked, mut at) = (Vec::with_capacity(json.len()), 0);
    for range in found {
        if let Some(between) = json.get(at..range.start) {
            masked.extend_from_slice(between);
            masked.extend_from_slice(format!("\"{REDACTED}\"").as_bytes());
            at = range.end;
        }
    }
    masked.extend_from_slice(json.get(at..).unwrap_or_default());
    Ok(Cow::Owned(masked))
}

/// Finds the values to mask.
struct Finder<'j> {
    json: &'j [u8],
    open: Vec<Open>,
    /// Where they are.
    found: Vec<Range<usize>>,
}

/// A container that is open.
struct Open {
    object: bool,
    /// What the next value is.
    next: Next,
    /// Whether a `name` or `key` of the object is that of a secret, and where its members called `value` are.
    names_secret: bool,
    values: Vec<Range<usize>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Secret,
    /// The name of a secret, as `{name: 'Authorization', value: …}` has.
    Name,
    Value,
    Other,
}

impl Finder<'_> {
    /// A value of the innermost container is complete; `text` is that of a string.
    fn end_value(&mut self, range: Range<usize>, text: Option<&str>) {
        let Some(open) = self.open.last_mut() else { return };
        match open.next {
            Next::Secret => self.found.push(range),
            Next::Name => open.names_secret |= text.is_some_and(is_secret),
            Next::Value => open.values.push(range),
            Next::Other => {}
        }
        // An array of headers has each name before its value: `['Authorization', …]`.
        let is_header = !open.object && open.next != Next::Secret && text.is_some_and(|text| is_one_of(&HEADERS, text));
        open.next = if is_header { Next::Secret } else { Next::Other };
    }

    /// Where a part of the text is.
    fn range(&self, part: &[u8]) -> Range<usize> {
        let from = (part.as_ptr() as usize).wrapping_sub(self.json.as_ptr() as usize);
        from..from.wrapping_add(part.len())
    }
}

impl Visitor for Finder<'_> {
    fn open(&mut self, object: bool) {
        self.open.push(Open { object, next: Next::Other, names_secret: false, values: Vec::new() });
    }

    fn name(&mut self, name: Written<'_>) {
        let name = name.text();
        let next = match &*name {
            name if is_secret_in_items(name) => Next::Secret,
            name if holds_a_name(name) => Next::Name,
            name if holds_the_value(name) => Next::Value,
            _ => Next::Other,
        };
        if let Some(open) = self.open.last_mut() {
            open.next = next;
        }
    }

    fn string(&mut self, text: Written<'_>) {
        let inside = self.range(text.bytes);
        self.end_value(inside.start.saturating_sub(1)..inside.end + 1, Some(&text.text()));
    }

    fn scalar(&mut self, json: Written<'_>) {
        self.end_value(self.range(json.bytes), None);
    }

    fn close(&mut self, _: u64, json: &[u8]) {
        let is_deep = self.open.len() > LEVELS;
        if let Some(closed) = self.open.pop().filter(|closed| closed.names_secret) {
            self.found.extend(closed.values);
        }
        let range = self.range(json);
        if is_deep {
            self.found.push(range.clone());
        }
        self.end_value(range, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_masked_and_nothing_else_is_changed() {
        let long = "9,".repeat(100_000);
        let nested = |value: &str| format!("{}{value}{}", "[".repeat(200), "]".repeat(200));
        for (json, expected) in [
            (
                r#"{"a": 1e999, "\u0070assword" : {"b": [1]}, "Token":2}"#,
                r#"{"a": 1e999, "\u0070assword" : "[redacted]", "Token":"[redacted]"}"#,
            ),
            (
                r#"{"value": 1, "key": "api-key", "Value": "x"}"#,
                r#"{"value": "[redacted]", "key": "api-key", "Value": "[redacted]"}"#,
            ),
            (r#"{"value": {"token": 1}, "name": "cookie"}"#, r#"{"value": "[redacted]", "name": "cookie"}"#),
            (
                r#"["Cookie", "Cookie", "Cookie", 1, "token", 2]"#,
                r#"["Cookie", "[redacted]", "Cookie", "[redacted]", "token", 2]"#,
            ),
            (r#"{"signature":null,"resumeUrl":"x"}"#, r#"{"signature":"[redacted]","resumeUrl":"[redacted]"}"#),
        ] {
            assert_eq!(String::from_utf8_lossy(&mask(json.as_bytes()).unwrap()), expected);
        }
        let [open, masked] =
            ["1", "\"[redacted]\""].map(|value| nested(&format!("{{\"long\":[{long}9],\"jwt\":{value}}}")));
        assert_eq!(mask(open.as_bytes()).unwrap(), masked.as_bytes());
        let deeper = nested(&nested("\"planted\""));
        assert!(!String::from_utf8_lossy(&mask(deeper.as_bytes()).unwrap()).contains("planted"));
    }
}
