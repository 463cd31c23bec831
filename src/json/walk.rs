//! Walks over a JSON text that is in memory, such as a captured value, and tells a visitor what is there.
//!
//! Nothing is built and nothing is decoded unless the visitor asks for it, so that a walk is several times as fast as
//! reading values.

use std::borrow::Cow;

use super::count::characters;
use super::fault::FaultKind;
use super::string::{StringSink, SurrogateRepair};

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

    /// A number or a literal, as it is written.
    fn scalar(&mut self, json: &str);

    /// The innermost container ends: how many members or elements it has, and its JSON text.
    fn close(&mut self, parts: u64, json: &[u8]);
}

/// A string as it is written in JSON, without its quotes.
#[derive(Clone, Copy, Debug)]
pub struct Written<'a> {
    /// The bytes between the quotes.
    pub bytes: &'a [u8],
    has_escapes: bool,
}

impl<'a> Written<'a> {
    /// How many characters the string has; half of a surrogate pair counts as one.
    pub fn chars(&self) -> u64 {
        if !self.has_escapes {
            return characters(self.bytes);
        }
        let (mut count, mut rest) = (0, self.bytes);
        while let Some(at) = memchr::memchr(b'\\', rest) {
            count += characters(&rest[..at]) + 1;
            let len = escape_len(&rest[at..]);
            rest = rest.get(at + len..).unwrap_or_default();
        }
        count + characters(rest)
    }

    /// A lower bound of the bytes of the string, found without decoding it.
    pub fn least_bytes(&self) -> usize {
        // `\u0041` is six bytes for one.
        let escapes = if self.has_escapes { memchr::memchr_iter(b'\\', self.bytes).count() } else { 0 };
        self.bytes.len().saturating_sub(5 * escapes)
    }

    /// The string that it stands for, if that is as it is written.
    pub fn plain(&self) -> Option<&'a [u8]> {
        (!self.has_escapes).then_some(self.bytes)
    }

    /// The string that it stands for, with U+FFFD in place of each lone surrogate, and of what is no escape.
    pub fn text(&self) -> Cow<'a, str> {
        if !self.has_escapes {
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
///     fn scalar(&mut self, _: &str) {}
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
        let is_expected = after_quote.get(expected.len()) == Some(&b'"') && after_quote.starts_with(expected);
        is_expected.then_some(expected.len() + 2)
    }

    fn string(&mut self) -> Result<Written<'a>, FaultKind> {
        self.expect(b'"')?;
        let start = self.at;
        let mut has_escapes = false;
        loop {
            self.at += quote_or_backslash(&self.json[self.at..]).ok_or(FaultKind::EndedEarly)?;
            if self.json[self.at] == b'"' {
                let bytes = &self.json[start..self.at];
                self.at += 1;
                return Ok(Written { bytes, has_escapes });
            }
            has_escapes = true;
            self.at = (self.at + 2).min(self.json.len());
        }
    }

    fn scalar(&mut self) -> Result<&'a str, FaultKind> {
        let rest = &self.json[self.at..];
        let len = rest.iter().position(|byte| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r'));
        let scalar = &rest[..len.unwrap_or(rest.len())];
        if !is_number(scalar) && !matches!(scalar, b"null" | b"true" | b"false") {
            return Err(FaultKind::Scalar);
        }
        self.at += scalar.len();
        std::str::from_utf8(scalar).map_err(|_| FaultKind::Utf8)
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
            return Some(at * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    let passed = words.len().min(WORDS) * 8;
    memchr::memchr2(b'"', b'\\', &text[passed..]).map(|at| passed + at)
}

const fn each_byte(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// The highest bit of the first byte that is zero, and perhaps of later ones.
const fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(each_byte(1)) & !word & each_byte(0x80)
}

/// Whether this is a number by RFC 8259.
fn is_number(text: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let whole = digits(text);
    if whole == 0 || (whole > 1 && text[0] == b'0') {
        return false;
    }
    let mut rest = &text[whole..];
    if let Some(fraction) = rest.strip_prefix(b".") {
        let len = digits(fraction);
        if len == 0 {
            return false;
        }
        rest = &fraction[len..];
    }
    if let [b'e' | b'E', exponent @ ..] = rest {
        let exponent = if let [b'+' | b'-', unsigned @ ..] = exponent { unsigned } else { exponent };
        let len = digits(exponent);
        return len > 0 && len == exponent.len();
    }
    rest.is_empty()
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

        fn scalar(&mut self, json: &str) {
            self.value(json);
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
