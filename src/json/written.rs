//! A raw string, number or literal of a JSON text: decoded only on request.

use std::borrow::Cow;

use memchr::memmem;

use super::count::characters;
use super::string::{StringSink, SurrogateRepair};
use super::utf8::utf8_lossy;
use super::walk::quote_or_backslash;
use super::word::{fingerprint, same};

/// A raw string, without its quotes, or a number or a literal.
#[derive(Clone, Copy, Debug)]
pub struct Written<'a> {
    /// The bytes; for a string, those between the quotes.
    pub bytes: &'a [u8],
    /// Whether it has escapes.
    pub(super) is_escaped: bool,
}

impl<'a> Written<'a> {
    /// How many characters it has; half of a surrogate pair counts as one.
    pub fn chars(&self) -> u64 {
        characters(self.bytes).saturating_sub(self.surplus() as u64)
    }

    /// How many more characters its raw text has than it has, because of its escapes.
    fn surplus(&self) -> usize {
        let (mut surplus, mut rest) = (0, if self.is_escaped { self.bytes } else { b"".as_slice() });
        // A quote in a string comes after a backslash.
        while let Some(at) = quote_or_backslash(rest) {
            let escape = escape_len(&rest[at..]);
            surplus += escape - 1;
            rest = rest.get(at + escape..).unwrap_or_default();
        }
        surplus
    }

    /// The minimum and the maximum number of characters that it can have, judged by its length alone.
    pub fn chars_between(&self) -> (u64, u64) {
        // The longest escape stands for one character.
        (self.bytes.len().div_ceil(LONGEST_ESCAPE) as u64, self.bytes.len() as u64)
    }

    /// A number that is almost certainly different for different raw texts.
    #[inline]
    pub fn fingerprint(&self) -> u64 {
        fingerprint(self.bytes)
    }

    /// Whether its raw text is this one.
    #[inline]
    pub fn is(&self, bytes: &[u8]) -> bool {
        same(self.bytes, bytes)
    }

    /// Whether it consists of unescaped ASCII characters.
    pub fn is_plain_ascii(&self) -> bool {
        !self.is_escaped && self.bytes.is_ascii()
    }

    /// Whether a text that ends with this string may end with `text`: what is known without decoding it.
    pub fn may_end_with(&self, text: &[u8]) -> bool {
        let shared = self.bytes.len().min(text.len());
        let end = |bytes: &'_ [u8]| bytes.last().copied();
        self.is_escaped
            || (end(self.bytes) == end(text) || shared == 0)
                && self.bytes[self.bytes.len() - shared..] == text[text.len() - shared..]
    }

    /// The [`text`](Self::text), if it has no more bytes than this.
    pub fn text_within(&self, bytes: usize) -> Option<Cow<'a, str>> {
        // No escape stands for fewer bytes than one.
        let is_longer = self.bytes.len() > bytes && self.bytes.len() - self.surplus() > bytes;
        if is_longer { None } else { Some(self.text()).filter(|text| text.len() <= bytes) }
    }

    /// The text that it stands for, with U+FFFD in place of each lone surrogate, and of each invalid escape.
    pub fn text(&self) -> Cow<'a, str> {
        if !self.is_escaped {
            return utf8_lossy(self.bytes);
        }
        let mut repaired = Repaired(vec![b'"']);
        let mut repair = SurrogateRepair::default();
        let sound = repair.push(self.bytes, &mut repaired).and_then(|()| repair.finish(&mut repaired));
        repaired.0.push(b'"');
        let decoded = sound.ok().and_then(|()| serde_json::from_slice(&repaired.0).ok());
        Cow::Owned(decoded.unwrap_or_else(|| "\u{fffd}".to_owned()))
    }
}

/// The form in which a JSON text is shown: with U+FFFD in place of each lone surrogate.
pub fn well_formed(json: &[u8]) -> Cow<'_, str> {
    // A backslash is always inside a string, and a quote ends what is pending.
    let (mut repair, mut repaired) = (SurrogateRepair::default(), Repaired(Vec::new()));
    let has_escapes = memmem::find(json, b"\\u").is_some();
    let is_sound = has_escapes && repair.push(json, &mut repaired).and_then(|()| repair.finish(&mut repaired)).is_ok();
    if is_sound {
        return Cow::Owned(utf8_lossy(&repaired.0).into_owned());
    }
    utf8_lossy(json)
}

/// The bytes of the longest escape: a surrogate pair.
const LONGEST_ESCAPE: usize = 12;

/// The bytes of the character that is written as an escape here.
fn escape_len(text: &[u8]) -> usize {
    if text.get(1) == Some(&b'u') { unicode_escape_len(text) } else { 2 }
}

fn unicode_escape_len(text: &[u8]) -> usize {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    match (unit(0), unit(6)) {
        (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => LONGEST_ESCAPE,
        (Some(_), _) => 6,
        (None, _) => 2,
    }
}

struct Repaired(Vec<u8>);

impl StringSink for Repaired {
    fn plain(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn escape(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
}
