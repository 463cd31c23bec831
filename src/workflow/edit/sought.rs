//! A name that is looked for in JSON texts without reading them.

use memchr::memmem;

/// A name that is looked for.
pub(super) struct Sought<'n> {
    pub(super) name: &'n str,
    /// The longest part that JSON and code write in only one way, unless they escape one of its letters.
    plain: memmem::Finder<'n>,
    /// Whether the name ends with this part, and with a letter or a digit: then no other may follow.
    is_end_of_word: bool,
    letters: AsciiSet,
}

impl<'n> Sought<'n> {
    pub(super) fn new(name: &'n str) -> Self {
        let is_plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, ' ' | '-' | '_' | '.' | ',' | ':');
        let plain = name.split(|char| !is_plain(char)).max_by_key(|plain| plain.len()).unwrap_or_default();
        let is_end_of_word = name.ends_with(plain) && plain.ends_with(|char: char| char.is_ascii_alphanumeric());
        Self { name, plain: memmem::Finder::new(plain), is_end_of_word, letters: AsciiSet::of(plain.bytes()) }
    }

    /// Whether a JSON text may hold it. `escaped` are the characters that are [escaped](AsciiSet::escaped_in) there.
    pub(super) fn may_be_in(&self, json: &str, escaped: impl FnOnce() -> AsciiSet) -> bool {
        let json = json.as_bytes();
        let after = |at: usize| json.get(at + self.plain.needle().len());
        // `Step 12` does not name `Step 1`.
        let goes_on = |at: &usize| self.is_end_of_word && after(*at).is_some_and(u8::is_ascii_alphanumeric);
        self.plain.find_iter(json).any(|at| !goes_on(&at)) || self.letters.meets(escaped())
    }
}

/// Characters of ASCII, a bit for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AsciiSet(u128);

impl AsciiSet {
    const ALL: Self = Self(u128::MAX);

    fn of(bytes: impl Iterator<Item = u8>) -> Self {
        Self(bytes.filter(u8::is_ascii).fold(0, |set, byte| set | 1 << byte))
    }

    fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The characters that an escape stands for in a JSON text, or in code that it holds, and perhaps others.
    pub(super) fn escaped_in(json: &str) -> Self {
        let json = json.as_bytes();
        let after = |escape: &'static str| memmem::find_iter(json, escape).map(move |at| &json[at + escape.len()..]);
        let in_json = Self::of(after("\\u00").filter_map(|digits| hexadecimal(digits, 2)));
        // These can be parts of an escape in code.
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'\\' | b'{' | b'}');
        if in_json.meets(Self::of((0..0x80).filter(|byte| is_part(*byte)))) {
            return Self::ALL;
        }
        let in_code = after("\\\\x").filter_map(|digits| hexadecimal(digits, 2));
        let in_code = in_code.chain(after("\\\\u").filter_map(|digits| match digits {
            [b'{', digits @ ..] => hexadecimal(digits, digits.iter().position(|byte| *byte == b'}')?),
            digits => hexadecimal(digits, 4),
        }));
        Self(in_json.0 | Self::of(in_code).0)
    }
}

/// The number that this many digits are, if it fits.
fn hexadecimal(text: &[u8], digits: usize) -> Option<u8> {
    let digits = std::str::from_utf8(text.get(..digits)?).ok()?;
    u32::from_str_radix(digits, 16).ok()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_counts_as_escaped_in_every_notation() {
        let set = |text: &str| AsciiSet::of(text.bytes());
        for (json, escaped) in [
            (r#""a\\n\\d\u00e9\u2028""#, set("")),
            (r#""\\x41\\u0020\\u{0000042}\\x4""#, set("A B")),
            (r#""\u003c\u0026""#, set("<&")),
            (r#""\\u00zz\\u{zz}\\u{""#, set("")),
            // `\x41`, `A`
            (r#""\u005cx41""#, AsciiSet::ALL),
            (r#""\u0041""#, AsciiSet::ALL),
        ] {
            assert_eq!(AsciiSet::escaped_in(json), escaped, "{json}");
        }
    }

    #[test]
    fn a_name_is_looked_for_where_it_may_be() {
        let may_be_in = |name: &str, json: &str| Sought::new(name).may_be_in(json, || AsciiSet::escaped_in(json));
        assert!(may_be_in("it's me", r#""it\\'s me""#) && may_be_in("é", r#""""#));
        assert!(may_be_in("Get", r#""G\\x65t""#) && !may_be_in("Get", r#""G\\x66t""#));
        assert!(may_be_in("Step 1", r#""Step 12, 'Step 1'""#) && !may_be_in("Step 1", r#""Step 12, Step 1a""#));
        assert!(may_be_in("Step 1é", r#""Step 12é""#) && may_be_in("A-", r#""A-b""#) && may_be_in("A", "\"A\\n\""));
    }
}
