//! Finds a text in raw JSON, before any of it is parsed.
//!
//! One string has many spellings: `é` is `\u00e9`, `/` is `\/`. A [`Prefilter`] looks for the shortest one, which n8n and
//! most programs write, and for any escape that stands for a character of the text. So it finds every string with the
//! text, at the speed of memory, and now and then something else: what it finds is a candidate, still to be read.

use std::fmt;
use std::sync::Arc;

use regex::Regex;
use regex::bytes;

/// Whether the JSON text of a value, up to the end of what surrounds it, may be of interest.
type Predicate = Arc<dyn Fn(&[u8]) -> bool + Send + Sync>;

/// What a JSON text must contain to be of interest.
#[derive(Clone)]
pub struct Prefilter {
    /// The text in its shortest spelling.
    text: bytes::Regex,
    /// The beginning of an escape by its number.
    escape: memchr::memmem::Finder<'static>,
    /// A character of the text.
    character: Regex,
    /// Whether the text has characters that are written as two escapes.
    has_pairs: bool,
    /// For the name of a member: which values of it are of interest.
    accepts: Option<Predicate>,
}

impl Prefilter {
    /// Looks for strings and names of members that contain `text`; `None` if the text is too long.
    ///
    /// ```
    /// use n8n_lens::json::Prefilter;
    ///
    /// let prefilter = Prefilter::text("café/2", true).expect("a short text");
    /// for json in [r#"{"a":"at Café/2"}"#, r#"["caf\u00e9\/2"]"#, r#"["\u0063afé/2"]"#] {
    ///     assert!(prefilter.may_be_in(json.as_bytes()), "{json}");
    /// }
    /// assert!(!prefilter.may_be_in(br#"{"a":"cafe/2","b":"\n\u0000"}"#));
    /// ```
    pub fn text(text: &str, ignores_case: bool) -> Option<Self> {
        Self::spelled(text, "", ignores_case)
    }

    /// Looks for members whose name ends with `name`; `None` if it is too long. If the value begins in a way that
    /// `accepts` refuses, nothing else is read.
    ///
    /// ```
    /// use n8n_lens::json::Prefilter;
    ///
    /// let prefilter = Prefilter::member("rate", |value| value[0] == b'"').expect("a short name");
    /// assert!(prefilter.may_be_in(br#"{"rate": 1, "taxRates": [{"tax rate": "7 %"}]}"#));
    /// assert!(!prefilter.may_be_in(br#"{"rate": 1, "rates": "7 %", "of": "rate"}"#));
    /// ```
    pub fn member(name: &str, accepts: impl Fn(&[u8]) -> bool + Send + Sync + 'static) -> Option<Self> {
        Some(Self { accepts: Some(Arc::new(accepts)), ..Self::spelled(name, "\"", false)? })
    }

    fn spelled(text: &str, end: &str, ignores_case: bool) -> Option<Self> {
        let flags = if ignores_case { "(?i)" } else { "" };
        let quoted = serde_json::Value::from(text).to_string();
        let inside = &quoted[1..quoted.len() - 1];
        let spelling = regex::escape(inside).replace('/', r"\\?/") + end;
        let class: String = text.chars().map(|char| format!("\\x{{{:x}}}", u32::from(char))).collect();
        Some(Self {
            text: bytes::Regex::new(&format!("{flags}{spelling}")).ok()?,
            escape: memchr::memmem::Finder::new(b"\\u"),
            character: Regex::new(&format!("{flags}[{class}]")).ok()?,
            has_pairs: text.chars().any(|char| char.len_utf16() > 1),
            accepts: None,
        })
    }

    /// Whether the text may be in a piece of JSON that begins and ends outside strings.
    pub fn may_be_in(&self, json: &[u8]) -> bool {
        let is_found = match &self.accepts {
            None => self.text.is_match(json),
            Some(accepts) => {
                self.text.find_iter(json).any(|name| value_of(&json[name.end()..]).is_some_and(|it| accepts(it)))
            }
        };
        is_found || self.may_be_escaped_in(json)
    }

    /// Whether a character of the text may be written as an escape in a piece of JSON.
    pub fn may_be_escaped_in(&self, json: &[u8]) -> bool {
        self.escape.find_iter(json).any(|at| self.may_stand_for(&json[at + 2..]))
    }

    /// Whether an escape with these digits stands for a character of the text.
    fn may_stand_for(&self, digits: &[u8]) -> bool {
        let digits = digits.get(..4).and_then(|digits| std::str::from_utf8(digits).ok());
        let Some(unit) = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()) else { return false };
        match char::from_u32(unit) {
            Some(char) => self.character.is_match(char.encode_utf8(&mut [0; 4])),
            // Half of a surrogate pair; alone, it is read as U+FFFD.
            None => self.has_pairs || self.character.is_match("\u{fffd}"),
        }
    }
}

/// The value of the member whose name ends before this text; `None` if it is not a name.
fn value_of(after: &[u8]) -> Option<&[u8]> {
    let value = after.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    (!value.is_empty()).then_some(value)
}

impl fmt::Debug for Prefilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prefilter").field("text", &self.text).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::Prefilter;

    #[test]
    fn every_spelling_is_found() {
        let text = "a/é\"\\\n😀K";
        let prefilter = Prefilter::text(text, true).unwrap();
        for json in [
            serde_json::Value::from(text).to_string(),
            r#""a\/\u00E9\"\\\n\ud83d\ude00k""#.to_owned(),
            r#""a/é\u0022\\\n😀k""#.to_owned(),
            // The Kelvin sign, which is a k in another case.
            "\"a/é\\\"\\\\\\n😀\\u212a\"".to_owned(),
        ] {
            assert!(prefilter.may_be_in(json.as_bytes()), "{json}");
        }
        assert!(!prefilter.may_be_in(r#""a/é\"\\n😀j""#.as_bytes()));
    }

    #[test]
    fn names_are_found_with_the_quote_that_ends_them() {
        let prefilter = Prefilter::member("rate", |_| true).unwrap();
        assert!(prefilter.may_be_in(br#"{"taxes.rate": 1}"#));
        assert!(!prefilter.may_be_in(br#"{"rates": 1, "Rate": 2}"#));
    }
}
