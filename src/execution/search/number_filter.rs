//! Numbers, and texts of digits, in a stored text, where digits are the indices of elements in most places.

use std::io;

use memchr::memmem::Finder;

use crate::json::Prefilter;
use crate::json::flatted::{ByteKind, ByteKinds, Flatted};

/// From this number on, JavaScript writes digits other than those given.
const INEXACT: f64 = 9_007_199_254_740_992.0;

/// The bytes before and after a match, which show whether it is a whole value.
const AROUND: usize = 1;

/// What a stored text must contain: a string with a text in it, or a number that is a value.
#[derive(Debug)]
pub(in crate::execution) struct NumberFilter {
    /// In strings.
    text: Option<Finder<'static>>,
    /// Whether the text is the whole string.
    is_whole: bool,
    /// The number as JavaScript writes it.
    number: Option<Finder<'static>>,
    /// The text in other spellings.
    spelled: Prefilter,
}

impl NumberFilter {
    /// Digits in a string, or a number with these digits and no others.
    pub(super) fn digits(digits: &str) -> Option<Self> {
        let finder = || Some(Finder::new(digits).into_owned());
        Some(Self { text: finder(), is_whole: false, number: finder(), spelled: Prefilter::text(digits, false)? })
    }

    /// This number; `None` if JavaScript may write it with other digits.
    pub(super) fn number(number: &str) -> Option<Self> {
        let written = written(number)?;
        let spelled = Prefilter::text(&written, false)?;
        Some(Self { text: None, is_whole: true, number: Some(Finder::new(&written).into_owned()), spelled })
    }

    /// This string, or the number that it looks like; `None` if it does not look like one.
    pub(super) fn text_or_number(text: &str) -> Option<Self> {
        let number = Self::number(text)?;
        let json = serde_json::Value::from(text).to_string();
        let text_finder = Finder::new(&json[1..json.len() - 1]).into_owned();
        Some(Self { text: Some(text_finder), spelled: Prefilter::text(text, false)?, ..number })
    }

    /// Whether the text may have it.
    ///
    /// # Errors
    /// The text cannot be read.
    pub(super) fn may_match(&self, text: &mut Flatted<'_>) -> io::Result<bool> {
        let longest = [&self.text, &self.number].into_iter().flatten().map(|finder| finder.needle().len()).max();
        // An escape has six bytes.
        let after = longest.unwrap_or(0).max(6) + AROUND;
        let (mut kinds, mut is_first) = (ByteKinds::at_beginning(), true);
        // Each piece repeats the bytes around its border: those before a number decide what it is, and the last ones are searched
        // with the next piece.
        text.any_piece(AROUND + after, |piece, is_last| {
            let from = if std::mem::take(&mut is_first) { 0 } else { AROUND.min(piece.len()) };
            let to = if is_last { piece.len() } else { piece.len().saturating_sub(after).max(from) };
            self.is_in(piece, from..to, &mut kinds) || self.spelled.may_be_escaped_in(piece)
        })
    }

    fn is_in(&self, piece: &[u8], searched: std::ops::Range<usize>, kinds: &mut ByteKinds) -> bool {
        let finders = [&self.text, &self.number].map(|finder| finder.as_ref().map(|finder| finder.find_iter(piece)));
        let mut found: Vec<usize> =
            finders.into_iter().flatten().flatten().filter(|at| searched.contains(at)).collect();
        found.sort_unstable();
        let begin = searched.start;
        let found = found.into_iter().map(|at| at - begin);
        kinds.any(&piece[searched], found, |at, kind| self.is_value(piece, begin + at, kind))
    }

    /// Whether a sought value begins here.
    fn is_value(&self, piece: &[u8], at: usize, kind: ByteKind) -> bool {
        let around = |finder: &Finder<'_>| {
            let before = at.checked_sub(1).map(|before| piece[before]);
            let fits = piece[at..].starts_with(finder.needle());
            (fits, before.zip(piece.get(at + finder.needle().len()).copied()))
        };
        match kind {
            ByteKind::String => self.text.as_ref().is_some_and(|finder| {
                let (fits, around) = around(finder);
                fits && (!self.is_whole || around == Some((b'"', b'"')))
            }),
            ByteKind::Scalar => self.number.as_ref().is_some_and(|finder| {
                let (fits, around) = around(finder);
                fits && matches!(around, Some((b'[' | b':' | b',', b',' | b'}' | b']')))
            }),
            ByteKind::Other => false,
        }
    }
}

/// A number as JavaScript writes it (ECMA-262, `Number::toString`); `None` for one whose digits it may not keep.
pub(super) fn written(number: &str) -> Option<String> {
    let number: f64 = number.parse().ok()?;
    if !number.is_finite() || number.abs() >= INEXACT {
        return None;
    }
    if number == 0.0 {
        return Some("0".to_owned());
    }
    let exponential = format!("{number:e}");
    let exponent: i32 = exponential.split_once('e')?.1.parse().ok()?;
    // Large ones were excluded above.
    Some(if exponent < -6 { exponential } else { number.to_string() })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;

    fn is_in(filter: &NumberFilter, text: &str) -> bool {
        let json = serde_json::Value::from(text).to_string();
        let escaped = json[1..json.len() - 1].to_owned();
        let [plain, in_bundle] =
            [Flatted::new(Box::new(text.as_bytes())), Flatted::escaped(Box::new(escaped.as_bytes()))]
                .map(|mut text| filter.may_match(&mut text).unwrap());
        assert_eq!(plain, in_bundle, "{text}");
        plain
    }

    #[test]
    fn numbers_are_written_as_javascript_writes_them() {
        let cases = [("-0", "0"), ("4711.0", "4711"), ("-12.5", "-12.5"), ("1e-6", "0.000001"), ("0.15e-6", "1.5e-7")];
        for (number, expected) in cases {
            assert_eq!(written(number).as_deref(), Some(expected));
        }
        assert_eq!((written("1e16"), written("nan"), written("no")), (None, None, None));
    }

    #[test]
    fn an_index_and_a_name_are_no_value() {
        let digits = NumberFilter::digits("4711").unwrap();
        let padding = "x".repeat(300_000);
        for (text, expected) in [
            (r#"[{"a":"4711","4711":"14711"},["4711","147110"]]"#.to_owned(), false),
            (r#"[{"a":14711,"b":4711.5,"c":-4711},"471"]"#.to_owned(), false),
            (r#"[{"a":"1"},"no. 4711"]"#.to_owned(), true),
            (r#"[{"a":4711}]"#.to_owned(), true),
            (r#"["1",[1,4711]]"#.to_owned(), true),
            (format!(r#"[{{"a":"1"}},"{padding}","4711"]"#), true),
            (format!(r#"[{{"a":"1"}},"{padding}",{{"4711":"4711"}}]"#), false),
            (r#"[{"a":"1"},"\u0034711"]"#.to_owned(), true),
        ] {
            assert_eq!(is_in(&digits, &text), expected, "{}", &text[..text.len().min(80)]);
        }
        let whole = NumberFilter::text_or_number("4711").unwrap();
        assert!(is_in(&whole, r#"[{"a":"1"},"4711"]"#) && is_in(&whole, r#"[{"a":4711}]"#));
        assert!(!is_in(&whole, r#"[{"a":"1"},"no. 4711"]"#));
    }

    #[test]
    fn a_value_is_found_wherever_pieces_end() {
        let digits = NumberFilter::digits("471").unwrap();
        // The first piece has 256 KiB.
        for padding in 262_110..262_150 {
            for value in ["\"471\"", "[471]", "{\"a\":471}"] {
                let text = format!(r#"["1","{}",{value},"x"]"#, "x".repeat(padding));
                assert!(is_in(&digits, &text), "{padding} {value}");
            }
            let index = format!(r#"["1","{}",["471"],"x"]"#, "x".repeat(padding));
            assert!(!is_in(&digits, &index), "{padding}");
        }
    }
}
