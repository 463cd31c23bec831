//! Walks over a JSON text that is in memory, such as a captured value, and passes what it finds to a visitor.
//!
//! Nothing is built and nothing is decoded unless the visitor asks for it, so that a walk is several times as fast as
//! reading values.

use std::borrow::Cow;

use memchr::memmem;

use super::count::characters;
use super::fault::FaultKind;
use super::string::{StringSink, SurrogateRepair};
use super::word::{digits, each_byte, fingerprint, first_byte, same, zero_bytes};

/// Containers nested deeper than this are not walked into: the visitor sees them as empty.
pub const WALKED_LEVELS: usize = 32;

/// Receives the parts of a value, in the order of the text.
pub trait Visitor {
    /// A container begins.
    fn open(&mut self, object: bool);

    /// A member begins, with this text. A visitor that knows which one usually comes next, and how it is written, can take
    /// it faster than its name is found: it then returns how many bytes it took, up to the value. Otherwise [`name`] follows.
    ///
    /// [`name`]: Self::name
    fn member(&mut self, _text: &[u8]) -> Option<usize> {
        None
    }

    /// A member has this name; its value follows.
    fn name(&mut self, name: Written<'_>);

    /// A string.
    fn string(&mut self, text: Written<'_>);

    /// A number or a literal.
    fn scalar(&mut self, json: Written<'_>);

    /// The innermost container ends: how many members or elements it has, and its JSON text.
    fn close(&mut self, parts: u64, json: &[u8]);
}

/// A raw string, without its quotes, or a number or a literal.
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

    /// Whether it consists of unescaped ASCII characters.
    pub fn is_plain_ascii(&self) -> bool {
        self.surplus == 0 && self.bytes.is_ascii()
    }

    /// The [`text`](Self::text), if it has no more bytes than this.
    pub fn text_within(&self, bytes: usize) -> Option<Cow<'a, str>> {
        // No escape stands for fewer bytes than one.
        let is_longer = self.bytes.len() - self.surplus > bytes;
        if is_longer { None } else { Some(self.text()).filter(|text| text.len() <= bytes) }
    }

    /// The text that it stands for, with U+FFFD in place of each lone surrogate, and of each invalid escape.
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

/// The form in which a JSON text is shown: with U+FFFD in place of each lone surrogate.
pub fn well_formed(json: &[u8]) -> Cow<'_, str> {
    // A backslash is always inside a string, and a quote ends what is pending.
    let (mut repair, mut repaired) = (SurrogateRepair::default(), Repaired(Vec::new()));
    let has_escapes = memmem::find(json, b"\\u").is_some();
    let is_sound = has_escapes && repair.push(json, &mut repaired).and_then(|()| repair.finish(&mut repaired)).is_ok();
    if is_sound {
        return Cow::Owned(String::from_utf8_lossy(&repaired.0).into_owned());
    }
    String::from_utf8_lossy(json)
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
/// When it is not JSON. What the visitor received before is then worthless.
pub fn walk(json: &[u8], visitor: &mut impl Visitor) -> Result<(), FaultKind> {
    let mut walk = Walk { rest: json };
    walk.space();
    walk.value(0, visitor)?;
    walk.space();
    if walk.rest.is_empty() { Ok(()) } else { Err(FaultKind::Trailing) }
}

struct Walk<'a> {
    rest: &'a [u8],
}

impl<'a> Walk<'a> {
    fn value(&mut self, level: usize, visitor: &mut impl Visitor) -> Result<(), FaultKind> {
        match self.peek()? {
            bracket @ (b'{' | b'[') => self.container(bracket == b'{', level, visitor),
            b'"' => self.string(|text| visitor.string(text)),
            _ => {
                let scalar = self.scalar()?;
                visitor.scalar(scalar);
                Ok(())
            }
        }
    }

    fn container(&mut self, object: bool, level: usize, visitor: &mut impl Visitor) -> Result<(), FaultKind> {
        let start = self.rest;
        visitor.open(object);
        if level == WALKED_LEVELS {
            self.pass_over()?;
            visitor.close(0, if object { b"{}" } else { b"[]" });
            return Ok(());
        }
        let end = if object { b'}' } else { b']' };
        self.pass(1);
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
        visitor.close(parts, &start[..start.len() - self.rest.len()]);
        Ok(())
    }

    /// The name of a member, up to its value.
    #[inline(always)]
    fn name(&mut self, visitor: &mut impl Visitor) -> Result<(), FaultKind> {
        if let Some(len) = visitor.member(self.rest) {
            self.pass(len);
        } else {
            self.string(|name| visitor.name(name))?;
            self.space();
            self.expect(b':')?;
        }
        self.space();
        Ok(())
    }

    /// A string. Most are short and without escapes.
    #[inline(always)]
    fn string(&mut self, tell: impl FnOnce(Written<'a>)) -> Result<(), FaultKind> {
        self.expect(b'"')?;
        let rest = self.rest;
        match near_quote_or_backslash(rest) {
            Some(len) if rest[len] == b'"' => {
                self.pass(len + 1);
                tell(Written { bytes: &rest[..len], surplus: 0 });
            }
            _ => tell(self.long_string()?),
        }
        Ok(())
    }

    /// The string whose text begins here.
    #[inline(never)]
    fn long_string(&mut self) -> Result<Written<'a>, FaultKind> {
        let text = self.rest;
        let (mut len, mut surplus) = (0, 0);
        loop {
            let rest = text.get(len..).ok_or(FaultKind::EndedEarly)?;
            let plain = quote_or_backslash(rest).ok_or(FaultKind::EndedEarly)?;
            len += plain;
            if rest[plain] == b'"' {
                self.pass(len + 1);
                return Ok(Written { bytes: &text[..len], surplus });
            }
            let escape = escape_len(&rest[plain..]);
            surplus += escape - 1;
            len += escape;
        }
    }

    fn scalar(&mut self) -> Result<Written<'a>, FaultKind> {
        let len = scalar_len(self.rest).ok_or(FaultKind::Scalar)?;
        let (bytes, after) = self.rest.split_at(len);
        if !matches!(after.first(), None | Some(b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r')) {
            return Err(FaultKind::Scalar);
        }
        self.rest = after;
        Ok(Written { bytes, surplus: 0 })
    }

    /// Passes over a container by its brackets.
    fn pass_over(&mut self) -> Result<(), FaultKind> {
        let mut open = 0;
        loop {
            match self.peek()? {
                b'"' => {
                    self.string(|_| {})?;
                    continue;
                }
                b'{' | b'[' => open += 1,
                b'}' | b']' => open -= 1,
                _ => {}
            }
            self.pass(1);
            if open == 0 {
                return Ok(());
            }
        }
    }

    #[inline(always)]
    fn peek(&self) -> Result<u8, FaultKind> {
        self.rest.first().copied().ok_or(FaultKind::EndedEarly)
    }

    /// Passes over bytes that were looked at.
    #[inline(always)]
    fn pass(&mut self, bytes: usize) {
        self.rest = &self.rest[bytes..];
    }

    #[inline(always)]
    fn takes(&mut self, byte: u8) -> bool {
        let is_next = self.rest.first() == Some(&byte);
        self.pass(usize::from(is_next));
        is_next
    }

    #[inline(always)]
    fn expect(&mut self, byte: u8) -> Result<(), FaultKind> {
        let found = self.peek()?;
        if found != byte {
            return Err(FaultKind::Unexpected(found));
        }
        self.pass(1);
        Ok(())
    }

    /// White space, which n8n does not write.
    #[inline(always)]
    fn space(&mut self) {
        if self.rest.first().is_some_and(|byte| *byte <= b' ') {
            self.some_space();
        }
    }

    #[inline(never)]
    fn some_space(&mut self) {
        let len = self.rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
        self.pass(len);
    }
}

/// Whether a text begins like this.
#[inline]
pub fn begins_with(text: &[u8], beginning: &[u8]) -> bool {
    text.get(..beginning.len()).is_some_and(|text| same(text, beginning))
}

/// How many words of eight bytes are looked at before a call of `memchr` is worth its while.
const NEAR_WORDS: usize = 4;

/// Where the next quote or backslash is.
fn quote_or_backslash(text: &[u8]) -> Option<usize> {
    near_quote_or_backslash(text).or_else(|| {
        let passed = text.as_chunks::<8>().0.len().min(NEAR_WORDS) * 8;
        memchr::memchr2(b'"', b'\\', &text[passed..]).map(|at| passed + at)
    })
}

/// Where the next quote or backslash is, if it is in one of the first words.
#[inline(always)]
fn near_quote_or_backslash(text: &[u8]) -> Option<usize> {
    let (words, _) = text.as_chunks::<8>();
    for (at, word) in words.iter().take(NEAR_WORDS).enumerate() {
        let word = u64::from_le_bytes(*word);
        let found = zero_bytes(word ^ each_byte(b'"')) | zero_bytes(word ^ each_byte(b'\\'));
        if found != 0 {
            return Some(at * 8 + first_byte(found));
        }
    }
    None
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
    let some_digits = |at: usize| Some(digits(text.get(at..)?)).filter(|len| *len > 0).map(|len| at + len);
    let start = usize::from(text[0] == b'-');
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

    /// Writes what it receives as JSON again.
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
            assert_eq!(text.text_within(decoded.len()).as_ref(), Some(&decoded));
            assert_eq!(text.text_within(decoded.len().wrapping_sub(1)).is_some(), decoded.is_empty());
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
