//! Finds a text in JSON as it is written, before anything of it is parsed.
//!
//! One string has many spellings: `é` is `\u00e9`, `/` is `\/`. A [`Seeker`] looks for the shortest one, which n8n and
//! most programs write, and for any escape that stands for a character of the text. So it finds every string with the
//! text, at the speed of memory, and now and then something else: what it finds is a candidate, still to be read.

use regex::Regex;
use regex::bytes;

/// What a JSON text must have in it to be of interest.
#[derive(Clone, Debug)]
pub struct Seeker {
    /// The text in its shortest spelling.
    text: bytes::Regex,
    /// The beginning of an escape by its number.
    escape: memchr::memmem::Finder<'static>,
    /// A character of the text.
    character: Regex,
    /// Whether the text has characters that are written as two escapes.
    has_pairs: bool,
}

impl Seeker {
    /// Seeks strings and names of members that have `text` in them; `None` if the text is too long.
    ///
    /// ```
    /// use n8n_lens::json::Seeker;
    ///
    /// let seeker = Seeker::text("café/2", true).expect("a short text");
    /// for json in [r#"{"a":"at Café/2"}"#, r#"["caf\u00e9\/2"]"#, r#"["\u0063afé/2"]"#] {
    ///     assert!(seeker.may_be_in(json.as_bytes()), "{json}");
    /// }
    /// assert!(!seeker.may_be_in(br#"{"a":"cafe/2","b":"\n\u0000"}"#));
    /// ```
    pub fn text(text: &str, ignores_case: bool) -> Option<Self> {
        Self::spelled(text, "", ignores_case)
    }

    /// Seeks members whose name ends with `name`; `None` if it is too long.
    pub fn name(name: &str) -> Option<Self> {
        Self::spelled(name, "\"", false)
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
        })
    }

    /// Whether the text may be in a piece of JSON that begins and ends outside strings.
    pub fn may_be_in(&self, json: &[u8]) -> bool {
        self.text.is_match(json) || self.escape.find_iter(json).any(|at| self.may_stand_for(&json[at + 2..]))
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

#[cfg(test)]
mod tests {
    use super::Seeker;

    #[test]
    fn every_spelling_is_found() {
        let text = "a/é\"\\\n😀K";
        let seeker = Seeker::text(text, true).unwrap();
        for json in [
            serde_json::Value::from(text).to_string(),
            r#""a\/\u00E9\"\\\n\ud83d\ude00k""#.to_owned(),
            r#""a/é\u0022\\\n😀k""#.to_owned(),
            // The Kelvin sign, which is a k in another case.
            "\"a/é\\\"\\\\\\n😀\\u212a\"".to_owned(),
        ] {
            assert!(seeker.may_be_in(json.as_bytes()), "{json}");
        }
        assert!(!seeker.may_be_in(r#""a/é\"\\n😀j""#.as_bytes()));
    }

    #[test]
    fn names_are_found_with_the_quote_that_ends_them() {
        let seeker = Seeker::name("rate").unwrap();
        assert!(seeker.may_be_in(br#"{"taxes.rate": 1}"#));
        assert!(!seeker.may_be_in(br#"{"rates": 1, "Rate": 2}"#));
    }
}
