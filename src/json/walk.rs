//! Walks over a JSON text that is in memory, such as a captured value, and passes what it finds to a visitor.
//!
//! Nothing is built and nothing is decoded unless the visitor asks for it, so that a walk is several times as fast as
//! reading values.

use super::fault::FaultKind;
use super::word::{digits, each_byte, first_byte, same, zero_bytes};
use super::written::Written;

/// Containers nested deeper than this are not walked into: the visitor receives nothing inside them.
pub const WALKED_LEVELS: usize = 32;

/// Receives the parts of a value, in the order of the text.
pub trait Visitor {
    /// A container begins.
    fn open(&mut self, object: bool);

    /// A member begins, with this text. A visitor that knows which one usually comes next, and its raw name, can take
    /// it without a search for the name: it then returns how many bytes it took, up to the value. Otherwise [`name`]
    /// follows.
    ///
    /// [`name`]: Self::name
    fn member(&mut self, _text: &[u8]) -> Option<usize> {
        None
    }

    /// Whether the value of the member with this name, which begins with this byte, is of no interest. It is then
    /// skipped: the visitor receives neither its name nor its value, and the inside of the value is not checked.
    fn passes_over(&mut self, _name: Written<'_>, _value: u8) -> bool {
        false
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
    walk_levels(json, WALKED_LEVELS, visitor)
}

/// The same with another limit of levels. Each level takes room on the stack.
pub(crate) fn walk_levels(json: &[u8], levels: usize, visitor: &mut impl Visitor) -> Result<(), FaultKind> {
    let mut walk = Walk { rest: json, levels };
    walk.space();
    walk.value(0, visitor)?;
    walk.space();
    if walk.rest.is_empty() { Ok(()) } else { Err(FaultKind::Trailing) }
}

struct Walk<'a> {
    rest: &'a [u8],
    levels: usize,
}

impl<'a> Walk<'a> {
    fn value(&mut self, level: usize, visitor: &mut impl Visitor) -> Result<(), FaultKind> {
        match self.peek()? {
            bracket @ (b'{' | b'[') => self.container(bracket == b'{', level, visitor),
            b'"' => self.string().map(|text| visitor.string(text)),
            _ => self.scalar().map(|scalar| visitor.scalar(scalar)),
        }
    }

    /// Passes over a value.
    fn pass_value(&mut self) -> Result<(), FaultKind> {
        match self.peek()? {
            b'{' | b'[' => self.pass_over(),
            b'"' => self.string().map(|_| ()),
            _ => self.scalar().map(|_| ()),
        }
    }

    fn container(&mut self, object: bool, level: usize, visitor: &mut impl Visitor) -> Result<(), FaultKind> {
        let start = self.rest;
        visitor.open(object);
        let end = if object { b'}' } else { b']' };
        self.pass(1);
        self.space();
        let mut parts = 0;
        let mut is_over = self.takes(end);
        while !is_over {
            let is_wanted = if level < self.levels {
                !object || self.name(visitor)?
            } else {
                if object {
                    self.member_name()?;
                }
                false
            };
            if is_wanted {
                self.value(level + 1, visitor)?;
            } else {
                self.pass_value()?;
            }
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

    /// The name of a member, up to its value; returns whether the visitor wants the value.
    #[inline(always)]
    fn name(&mut self, visitor: &mut impl Visitor) -> Result<bool, FaultKind> {
        if let Some(len) = visitor.member(self.rest) {
            self.pass(len);
            self.space();
            return Ok(true);
        }
        let name = self.member_name()?;
        if visitor.passes_over(name, self.peek()?) {
            return Ok(false);
        }
        visitor.name(name);
        Ok(true)
    }

    #[inline(always)]
    fn member_name(&mut self) -> Result<Written<'a>, FaultKind> {
        let name = self.string()?;
        self.space();
        self.expect(b':')?;
        self.space();
        Ok(name)
    }

    /// A string. Most are short and without escapes.
    #[inline(always)]
    fn string(&mut self) -> Result<Written<'a>, FaultKind> {
        self.expect(b'"')?;
        let rest = self.rest;
        match near_quote_or_backslash(rest) {
            Some(len) if rest[len] == b'"' => {
                self.pass(len + 1);
                Ok(Written { bytes: &rest[..len], is_escaped: false })
            }
            _ => self.long_string(),
        }
    }

    /// The string whose text begins here.
    #[inline(never)]
    fn long_string(&mut self) -> Result<Written<'a>, FaultKind> {
        let text = self.rest;
        let (mut len, mut is_escaped) = (0, false);
        loop {
            let rest = text.get(len..).ok_or(FaultKind::EndedEarly)?;
            let plain = quote_or_backslash(rest).ok_or(FaultKind::EndedEarly)?;
            len += plain;
            if rest[plain] == b'"' {
                self.pass(len + 1);
                return Ok(Written { bytes: &text[..len], is_escaped });
            }
            // Whatever follows the next byte of an escape is neither a quote nor a backslash.
            (len, is_escaped) = (len + 2, true);
        }
    }

    fn scalar(&mut self) -> Result<Written<'a>, FaultKind> {
        let len = scalar_len(self.rest).ok_or(FaultKind::Scalar)?;
        let (bytes, after) = self.rest.split_at(len);
        if !matches!(after.first(), None | Some(b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r')) {
            return Err(FaultKind::Scalar);
        }
        self.rest = after;
        Ok(Written { bytes, is_escaped: false })
    }

    /// Passes over a container by its brackets.
    #[inline(never)]
    fn pass_over(&mut self) -> Result<(), FaultKind> {
        let mut open = 0;
        loop {
            let at = quote_or_bracket(self.rest).ok_or(FaultKind::EndedEarly)?;
            self.pass(at);
            match self.peek()? {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => open += 1,
                _ => open -= 1,
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

    /// Passes over bytes that were examined.
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

/// How many words of eight bytes are searched before a call of `memchr` is worthwhile.
const NEAR_WORDS: usize = 4;

/// Where the next quote or backslash is.
pub(super) fn quote_or_backslash(text: &[u8]) -> Option<usize> {
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

/// Where the next quote or bracket is.
#[inline(always)]
fn quote_or_bracket(text: &[u8]) -> Option<usize> {
    let (words, rest) = text.as_chunks::<8>();
    for (at, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        // The brackets of either kind differ in this bit only.
        let alike = word | each_byte(0x20);
        let found = zero_bytes(word ^ each_byte(b'"'))
            | zero_bytes(alike ^ each_byte(b'{'))
            | zero_bytes(alike ^ each_byte(b'}'));
        if found != 0 {
            return Some(at * 8 + first_byte(found));
        }
    }
    let at = rest.iter().position(|byte| matches!(byte, b'"' | b'{' | b'}' | b'[' | b']'))?;
    Some(words.len() * 8 + at)
}

/// The length of the literal or number that a text begins with.
pub(super) fn scalar_len(text: &[u8]) -> Option<usize> {
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

    /// Receives only members with this name, and containers.
    struct Only<'n>(&'n [u8], Vec<String>);

    impl Visitor for Only<'_> {
        fn open(&mut self, _: bool) {}

        fn passes_over(&mut self, name: Written<'_>, value: u8) -> bool {
            !name.may_end_with(self.0) && value != b'['
        }

        fn name(&mut self, name: Written<'_>) {
            self.1.push(name.text().into_owned());
        }

        fn string(&mut self, text: Written<'_>) {
            self.1.push(text.text().into_owned());
        }

        fn scalar(&mut self, json: Written<'_>) {
            self.1.push(json.text().into_owned());
        }

        fn close(&mut self, parts: u64, json: &[u8]) {
            self.1.push(format!("{parts} in {}", String::from_utf8_lossy(json)));
        }
    }

    #[test]
    fn what_is_of_no_interest_is_passed_over() {
        let json = r#"{"a" : {"n": "}\"]"}, "b": ["x", {"c": [1], "n": 2}], "long\u006e": 3, "s": "n\\", "t": -1.5e3 , "n": {"n":4}}"#;
        let mut only = Only(b"n", Vec::new());
        walk(json.as_bytes(), &mut only).unwrap();
        let object = r#"2 in {"c": [1], "n": 2}"#;
        let (array, all) = (r#"2 in ["x", {"c": [1], "n": 2}]"#, format!("6 in {json}"));
        let expected = ["b", "x", "c", "1", "1 in [1]", "n", "2", object, array, "longn", "3", "n", "n", "4"];
        assert_eq!(only.1, [&expected[..], &[r#"1 in {"n":4}"#, all.as_str()]].concat());
        let broken = |json: &str| walk(json.as_bytes(), &mut Only(b"n", Vec::new())).is_err();
        assert!(broken(r#"{"a": {"b": [1}"#) && broken(r#"{"a": "b}"#) && broken(r#"{"a": x}"#) && broken(r#"{"a":"#));
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
    fn deep_containers_are_whole_for_the_visitor_but_not_walked_into() {
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert_eq!(echo(&nested(WALKED_LEVELS + 1)).unwrap(), nested(WALKED_LEVELS + 1));
        assert_eq!(echo(&nested(WALKED_LEVELS + 2)).unwrap(), nested(WALKED_LEVELS + 1));
        assert_eq!(echo(&nested(10_000)).unwrap(), nested(WALKED_LEVELS + 1));
        let mut only = Only(b"n", Vec::new());
        let deep = r#"{"n": [1, {"n": 2}], "a": 3}"#;
        let json = "[".repeat(WALKED_LEVELS) + deep + &"]".repeat(WALKED_LEVELS);
        walk(json.as_bytes(), &mut only).unwrap();
        assert_eq!(only.1[0], format!("2 in {deep}"));
    }
}
