//! Walks over a JSON text that is in memory, such as a captured value, and tells a visitor what is there.
//!
//! Nothing is built and nothing is decoded unless the visitor asks for it, so that a walk is several times as fast as
//! reading values.

use std::borrow::Cow;

use super::count::characters;
use super::fault::FaultKind;
use super::string::{StringSink, SurrogateRepair};
use super::word::{digits, each_byte, fingerprint, first_byte, same, zero_bytes};

/// Containers nested deeper than this are not walked into: the visitor sees them as empty.
pub const WALKED_LEVELS: usize = 32;

/// Is told the parts of a value, in the order of the text.
pub trait Visitor {
    /// A container begins.
    fn open(&mut self, object: bool);

    /// A member begins; its value follows.
    fn name(&mut self, name: Written<'_>);

    /// The name that the next member probably has, as it is written between its quotes. Comparing it with what is there is
    /// faster than looking for the end of a name.
    fn expected_name(&self) -> Option<&[u8]> {
        None
    }

    /// A member with the expected name begins; its value follows.
    fn as_expected(&mut self) {}

    /// A string.
    fn string(&mut self, text: Written<'_>);

    /// A number or a literal.
    fn scalar(&mut self, json: Written<'_>);

    /// The innermost container ends: how many members or elements it has, and its JSON text.
    fn close(&mut self, parts: u64, json: &[u8]);
}

/// A string as it is written in JSON, without its quotes, or a number or a literal.
#[derive(Clone, Copy, Debug)]
pub struct Written<'a> {
    /// The bytes; of a string those between the quotes.
    pub bytes: &'a [u8],
    /// How many more characters it is written with than it has, because of its escapes.
    surplus: usize,
}

impl<'a> Written<'a> {
    /// How many characters it has; half of a surrogate pair counts as one.
    pub fn chars(&self) -> u64 {
        characters(self.bytes).saturating_sub(self.surplus as u64)
    }

    /// A number that is almost certainly different for what is written in another way.
    #[inline]
    pub fn fingerprint(&self) -> u64 {
        fingerprint(self.bytes)
    }

    /// Whether it is written like this.
    #[inline]
    pub fn is(&self, bytes: &[u8]) -> bool {
        same(self.bytes, bytes)
    }

    /// A lower bound of the bytes of what it stands for, found without decoding it.
    pub fn least_bytes(&self) -> usize {
        self.bytes.len().saturating_sub(self.surplus)
    }

    /// The text that it stands for, with U+FFFD in place of each lone surrogate, and of what is no escape.
    pub fn text(&self) -> Cow<'a, str> {
        if self.surplus == 0 {
            // The lossy conversion takes longer.
            return std::str::from_utf8(self.bytes).map_or_else(|_| String::from_utf8_lossy(self.bytes), Cow::Borrowed);
        }
        let mut repaired = Repaired(vec![b'"']);
        let mut repair = SurrogateRepair::default();
        let sound = repair.push(self.bytes, &mut repaired).and_then(|()| repair.finish(&mut repaired));
        repaired.0.push(b'"');
        let decoded = sound.ok().and_then(|()| serde_json::from_slice(&repaired.0).ok());
        Cow::Owned(decoded.unwrap_or_else(|| "\u{fffd}".to_owned()))
    }
}

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
        (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => 12,
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

/// Walks over the value that is the whole of `json`.
///
/// ```
/// use n8n_lens::json::{FaultKind, Visitor, Written, walk};
///
/// /// Adds up the lengths of all arrays.
/// struct Elements(u64);
///
/// impl Visitor for Elements {
///     fn open(&mut self, _: bool) {}
///     fn name(&mut self, _: Written<'_>) {}
///     fn string(&mut self, _: Written<'_>) {}
///     fn scalar(&mut self, _: Written<'_>) {}
///     fn close(&mut self, parts: u64, json: &[u8]) {
///         self.0 += if json[0] == b'[' { parts } else { 0 };
///     }
/// }
///
/// let mut elements = Elements(0);
/// walk(br#"{"a": [1, [2, 3]], "b": []}"#, &mut elements)?;
/// assert_eq!(elements.0, 4);
/// # Ok::<_, FaultKind>(())
/// ```
///
/// # Errors
/// When it is not JSON. What the visitor was told before is then worth nothing.
pub fn walk(json: &[u8], visitor: &mut impl Visitor) -> Result<(), FaultKind> {
    let mut walk = Walk { json, at: 0 };
    walk.space();
    walk.value(0, visitor)?;
    walk.space();
    if walk.at == json.len() { Ok(()) } else { Err(FaultKind::Trailing) }
}

struct Walk<'a> {
    json: &'a [u8],
    at: usize,
}

impl<'a> Walk<'a> {
    fn value(&mut self, level: usize, visitor: &mut impl Visitor) -> Result<(), FaultKind> {
        match self.peek()? {
            bracket @ (b'{' | b'[') => self.container(bracket == b'{', level, visitor)?,
            b'"' => {
                let text = self.string()?;
                visitor.string(text);
            }
            _ => {
                let scalar = self.scalar()?;
                visitor.scalar(scalar);
            }
        }
        Ok(())
    }

    fn container(&mut self, object: bool, level: usize, visitor: &mut impl Visitor) -> Result<(), FaultKind> {
        let start = self.at;
        visitor.open(object);
        if level == WALKED_LEVELS {
            self.pass_over()?;
            visitor.close(0, if object { b"{}" } else { b"[]" });
            return Ok(());
        }
        let end = if object { b'}' } else { b']' };
        self.at += 1;
        self.space();
        let mut parts = 0;
        let mut is_over = self.takes(end);
        while !is_over {
            if object {
                self.name(visitor)?;
            }
            self.value(level + 1, visitor)?;
            parts += 1;
            self.space();
            is_over = self.takes(end);
            if !is_over {
                self.expect(b',')?;
                self.space();
            }
        }
        visitor.close(parts, &self.json[start..self.at]);
        Ok(())
    }

    /// The name of a member, up to its value.
    fn name(&mut self, visitor: &mut impl Visitor) -> Result<(), FaultKind> {
        if let Some(len) = self.expected_len(visitor) {
            self.at += len;
            visitor.as_expected();
        } else {
            let name = self.string()?;
            visitor.name(name);
        }
        self.space();
        self.expect(b':')?;
        self.space();
        Ok(())
    }

    /// The length of the next string with its quotes, if it is the expected name.
    fn expected_len(&self, visitor: &impl Visitor) -> Option<usize> {
        let expected = visitor.expected_name()?;
        let after_quote = self.json[self.at..].strip_prefix(b"\"")?;
        let (name, after_name) = after_quote.split_at_checked(expected.len())?;
        (after_name.first() == Some(&b'"') && same(name, expected)).then_some(expected.len() + 2)
    }

    fn string(&mut self) -> Result<Written<'a>, FaultKind> {
        self.expect(b'"')?;
        let start = self.at;
        let mut surplus = 0;
        loop {
            self.at += quote_or_backslash(&self.json[self.at..]).ok_or(FaultKind::EndedEarly)?;
            if self.json[self.at] == b'"' {
                let bytes = &self.json[start..self.at];
                self.at += 1;
                return Ok(Written { bytes, surplus });
            }
            let len = escape_len(&self.json[self.at..]);
            surplus += len - 1;
            self.at = (self.at + len).min(self.json.len());
        }
    }

    fn scalar(&mut self) -> Result<Written<'a>, FaultKind> {
        let rest = &self.json[self.at..];
        let len = scalar_len(rest).ok_or(FaultKind::Scalar)?;
        let (scalar, after) = rest.split_at(len);
        if !matches!(after.first(), None | Some(b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r')) {
            return Err(FaultKind::Scalar);
        }
        self.at += len;
        Ok(Written { bytes: scalar, surplus: 0 })
    }

    /// Passes over a container by its brackets.
    fn pass_over(&mut self) -> Result<(), FaultKind> {
        let mut open = 0;
        loop {
            match self.peek()? {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => open += 1,
                b'}' | b']' => open -= 1,
                _ => {}
            }
            self.at += 1;
            if open == 0 {
                return Ok(());
            }
        }
    }

    fn peek(&self) -> Result<u8, FaultKind> {
        self.json.get(self.at).copied().ok_or(FaultKind::EndedEarly)
    }

    fn takes(&mut self, byte: u8) -> bool {
        let is_next = self.json.get(self.at) == Some(&byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, byte: u8) -> Result<(), FaultKind> {
        let found = self.peek()?;
        if found != byte {
            return Err(FaultKind::Unexpected(found));
        }
        self.at += 1;
        Ok(())
    }

    fn space(&mut self) {
        while matches!(self.json.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }
}

/// Where the next quote or backslash is. Most strings are short: a look at eight bytes at a time finds their end before a
/// call of `memchr` would begin.
fn quote_or_backslash(text: &[u8]) -> Option<usize> {
    const WORDS: usize = 4;
    let (words, _) = text.as_chunks::<8>();
    for (at, word) in words.iter().take(WORDS).enumerate() {
        let word = u64::from_le_bytes(*word);
        let found = zero_bytes(word ^ each_byte(b'"')) | zero_bytes(word ^ each_byte(b'\\'));
        if found != 0 {
            return Some(at * 8 + first_byte(found));
        }
    }
    let passed = words.len().min(WORDS) * 8;
    memchr::memchr2(b'"', b'\\', &text[passed..]).map(|at| passed + at)
}

/// The length of the literal or number that a text begins with.
fn scalar_len(text: &[u8]) -> Option<usize> {
    let literal = match text.first()? {
        b'n' => "null",
        b't' => "true",
        b'f' => "false",
        _ => return number_len(text),
    };
    text.starts_with(literal.as_bytes()).then_some(literal.len())
}

/// The length of the number, by RFC 8259, that a text begins with.
fn number_len(text: &[u8]) -> Option<usize> {
    let some_digits = |at: usize| Some(digits(&text[at..])).filter(|len| *len > 0).map(|len| at + len);
    let start = usize::from(text.starts_with(b"-"));
    let mut len = some_digits(start)?;
    if text[start] == b'0' && len > start + 1 {
        return None;
    }
    if text.get(len) == Some(&b'.') {
        len = some_digits(len + 1)?;
    }
    if matches!(text.get(len), Some(b'e' | b'E')) {
        let is_signed = matches!(text.get(len + 1), Some(b'+' | b'-'));
        len = some_digits(len + 1 + usize::from(is_signed))?;
    }
    Some(len)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes what it is told as JSON again.
    #[derive(Default)]
    struct Echo(String, Vec<bool>);

    impl Echo {
        fn value(&mut self, json: &str) {
            self.0 += json;
            self.0.push(',');
        }
    }

    impl Visitor for Echo {
        fn open(&mut self, object: bool) {
            self.0.push(if object { '{' } else { '[' });
            self.1.push(object);
        }

        fn name(&mut self, name: Written<'_>) {
            self.0 += &format!("{}:", serde_json::Value::from(&*name.text()));
        }

        fn string(&mut self, text: Written<'_>) {
            let decoded = text.text();
            assert_eq!(text.chars(), decoded.chars().count() as u64);
            assert!(text.least_bytes() <= decoded.len());
            self.value(&serde_json::Value::from(&*decoded).to_string());
        }

        fn scalar(&mut self, json: Written<'_>) {
            self.value(&json.text());
        }

        fn close(&mut self, _: u64, _: &[u8]) {
            let end = if self.1.pop().unwrap() { "}" } else { "]" };
            let open = self.0.trim_end_matches(',').len();
            self.0.truncate(open);
            self.value(end);
        }
    }

    fn echo(json: &str) -> Result<String, FaultKind> {
        let mut echo = Echo::default();
        walk(json.as_bytes(), &mut echo).map(|()| echo.0.trim_end_matches(',').to_owned())
    }

    #[test]
    fn everything_is_told_and_decoded() {
        let json = " { \"a\\u00e9\" : [ 1 , -0.5e+3 , \"x\\n\\\"\\/\" , { } , [ ] ] , \"b\" : null , \"\" : true } ";
        assert_eq!(echo(json).unwrap(), r#"{"aé":[1,-0.5e+3,"x\n\"/",{},[]],"b":null,"":true}"#);
        let json = r#"["\ud83d\ude00\ud83d", "\x", "\ude00\ud83d\n\\", "é\u00e9\u0041"]"#;
        let expected = "[\"😀\u{fffd}\",\"\u{fffd}\",\"\u{fffd}\u{fffd}\\n\\\\\",\"ééA\"]";
        assert_eq!(echo(json).unwrap(), expected);
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for json in [
            "",
            " ",
            "{",
            "[1",
            "[1,]",
            "{\"a\":1,}",
            "{\"a\"}",
            "{a:1}",
            "[1 2]",
            "1 2",
            "01",
            "-",
            "1.",
            "1e",
            "+1",
            "nul",
            "\"a",
            "\"a\\",
            "[\"a\\\"]",
            "{,}",
            "[,1]",
            "NaN",
            "1e5x",
        ] {
            assert!(echo(json).is_err(), "{json}");
        }
    }

    #[test]
    fn deep_containers_are_empty() {
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert_eq!(echo(&nested(WALKED_LEVELS + 1)).unwrap(), nested(WALKED_LEVELS + 1));
        assert_eq!(echo(&nested(WALKED_LEVELS + 2)).unwrap(), nested(WALKED_LEVELS + 1));
        assert_eq!(echo(&nested(10_000)).unwrap(), nested(WALKED_LEVELS + 1));
    }
}
