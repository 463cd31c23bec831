//! What a search asks of a value: a text in it, the end of its path, a condition.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;
use std::str::Chars;

use regex::{Regex, RegexBuilder};

use super::path_end::PathEnd;
use crate::json::{Prefilter, Written, shorten, well_formed};
use crate::secrets::REDACTED;

/// The maximum memory of a compiled regular expression, bytes; and of its cache.
const REGEX_BYTES: usize = 1024 * 1024;

/// The maximum number of characters shown of a value.
const SHOWN_CHARS: usize = 160;

/// How many characters are shown before a match, if the value is longer.
const BEFORE_CHARS: usize = 40;

/// What a search asks of a value. A field that is `None` asks nothing.
#[derive(Clone, Debug, Default)]
pub struct ValueQuery {
    /// A text in it.
    pub text: Option<TextPattern>,
    /// The end of its path.
    pub path: Option<PathEnd>,
    /// A condition that it satisfies.
    pub condition: Option<Condition>,
    /// Whether strings that are written like numbers are compared as numbers.
    pub as_numbers: bool,
    /// What another value of the same item must satisfy.
    pub also: Option<Also>,
}

/// What another value of the same item must satisfy, of the same element where both are in one list.
#[derive(Clone, Debug)]
pub struct Also {
    /// The end of its path.
    pub path: PathEnd,
    /// The condition; without one, it only has to be there.
    pub condition: Option<Condition>,
}

/// A text in a string, or a whole number or literal, verbatim.
#[derive(Clone, Debug)]
pub struct TextPattern {
    pattern: Regex,
    /// `None` for a regular expression.
    pub(super) literal: Option<String>,
    pub(super) ignores_case: bool,
}

/// A condition.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// It is of this kind.
    Is(ValueKind),
    /// It equals this.
    Equals(Operand),
    /// It exists, and does not equal this.
    NotEquals(Operand),
    /// It is above this.
    Above(Operand),
    /// It is below this.
    Below(Operand),
}

/// What a value is compared with.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A scalar.
    Scalar(Scalar),
    /// The values of the same item whose paths end like this.
    Path(PathEnd),
}

/// Kinds of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are the kinds of JSON")]
pub enum ValueKind {
    Null,
    /// The item has no value with this path.
    Missing,
    /// A string, an array or an object with nothing in it.
    Empty,
    String,
    Number,
    Boolean,
    Array,
    Object,
}

/// A value that is not a container.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// A string; or a number or a literal that is written like this.
    Text(String),
    /// A number, verbatim.
    Number(String),
    /// A boolean.
    Boolean(bool),
}

/// Why a text is not a regular expression.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct InvalidRegex(String);

/// A value that is searched.
#[derive(Clone, Copy)]
pub(super) enum SearchedValue<'a> {
    String(Written<'a>),
    /// A string that was decoded.
    Text(&'a str),
    Scalar(&'a str),
    Container {
        parts: u64,
        json: &'a [u8],
    },
}

impl<'a> SearchedValue<'a> {
    /// The text of a string.
    pub(super) fn text(self) -> Option<Cow<'a, str>> {
        match self {
            Self::String(text) => Some(text.text()),
            Self::Text(text) => Some(Cow::Borrowed(text)),
            Self::Scalar(_) | Self::Container { .. } => None,
        }
    }
}

impl ValueQuery {
    /// What an item must contain for a value of it to match, where values of secret keys are masked if `redacts`; `None`
    /// if its text does not show that.
    pub(super) fn prefilter(&self, redacts: bool) -> Option<Prefilter> {
        if self.asks_for_missing() {
            return None;
        }
        if redacts && self.finds_masked() {
            return self.member(None);
        }
        let text = self.text.as_ref().and_then(TextPattern::prefilter);
        text.or_else(|| match &self.condition {
            // One number has many spellings.
            Some(Condition::Equals(Operand::Scalar(Scalar::Text(text))))
                if !text.is_empty() && text.parse::<f64>().is_err() && text_number(text).is_none() =>
            {
                Prefilter::text(text, false)
            }
            _ => self.name_prefilter(),
        })
    }

    /// The name at the end of the path, in front of a value for which the condition may hold.
    pub(super) fn name_prefilter(&self) -> Option<Prefilter> {
        self.member(self.condition.clone())
    }

    /// What an item must contain to have a value with this path that satisfies the condition.
    fn member(&self, condition: Option<Condition>) -> Option<Prefilter> {
        let as_numbers = self.as_numbers;
        Prefilter::member(self.path.as_ref()?.name()?, move |value| {
            condition.as_ref().is_none_or(|condition| condition.may_hold(value, as_numbers))
        })
    }

    /// Whether a masked value matches, whatever it was.
    pub(super) fn finds_masked(&self) -> bool {
        self.shown(SearchedValue::Text(REDACTED)).is_some()
    }

    /// Whether a value is compared with others of its item.
    pub(super) fn relates(&self) -> bool {
        self.also.is_some() || self.condition.as_ref().is_some_and(|condition| condition.path().is_some())
    }

    pub(super) fn asks_for_missing(&self) -> bool {
        self.condition == Some(Condition::Is(ValueKind::Missing))
    }

    /// Whether the query asks anything of a value that is not a container and whose path ends with this name.
    pub(super) fn asks_of(&self, name: Written<'_>) -> bool {
        let Some(path) = &self.path else { return true };
        let operand = |condition: &Option<Condition>| {
            condition.as_ref().and_then(Condition::path).is_some_and(|path| path.may_end_with(name))
        };
        path.may_end_with(name)
            || operand(&self.condition)
            || self.also.as_ref().is_some_and(|also| also.path.may_end_with(name) || operand(&also.condition))
    }

    pub(super) fn fits_path(&self, path: &str) -> bool {
        self.path.as_ref().is_none_or(|end| end.ends(path))
    }

    /// Whether a value has the text, if one is asked for.
    pub(super) fn has_text(&self, value: SearchedValue<'_>) -> bool {
        let Some(pattern) = &self.text else { return true };
        match value {
            SearchedValue::Scalar(json) => pattern.is_scalar(json),
            value => value.text().is_some_and(|text| pattern.find(&text).is_some()),
        }
    }

    /// What is shown of a value, as JSON, if it matches, apart from how it relates to others.
    pub(super) fn shown(&self, value: SearchedValue<'_>) -> Option<String> {
        let own = self.condition.as_ref().filter(|condition| condition.path().is_none());
        if !own.is_none_or(|condition| condition.holds(value, self.as_numbers)) {
            return None;
        }
        if let Some(text) = value.text() {
            return match &self.text {
                None => Some(clipped(&text, 0..0)),
                Some(pattern) => pattern.find(&text).map(|found| clipped(&text, found)),
            };
        }
        match (&self.text, value) {
            (None, SearchedValue::Scalar(json)) => Some(clipped_json(json)),
            (None, SearchedValue::Container { json, .. }) => Some(clipped_json(&well_formed(json))),
            (Some(pattern), SearchedValue::Scalar(json)) => pattern.is_scalar(json).then(|| clipped_json(json)),
            _ => None,
        }
    }
}

impl TextPattern {
    /// A text, to be found verbatim. Case counts only if it has a capital.
    ///
    /// # Errors
    /// When the text is too long.
    pub fn literal(text: &str) -> Result<Self, InvalidRegex> {
        let ignores_case = !text.chars().any(char::is_uppercase);
        Ok(Self { pattern: compile(&regex::escape(text), ignores_case)?, literal: Some(text.to_owned()), ignores_case })
    }

    /// A regular expression. Case counts only if it has a capital, except in an escape such as `\S`.
    ///
    /// # Errors
    /// When it is invalid or too large.
    pub fn regex(text: &str) -> Result<Self, InvalidRegex> {
        let ignores_case = !has_capital(text);
        Ok(Self { pattern: compile(text, ignores_case)?, literal: None, ignores_case })
    }

    fn prefilter(&self) -> Option<Prefilter> {
        Prefilter::text(self.literal.as_ref()?, self.ignores_case)
    }

    fn find(&self, text: &str) -> Option<Range<usize>> {
        self.pattern.find(text).map(|found| found.range())
    }

    /// Whether a number or a literal matches: the whole of it, or for a regular expression any part.
    fn is_scalar(&self, json: &str) -> bool {
        let found = self.find(json);
        found.is_some_and(|found| self.literal.is_none() || found == (0..json.len()))
    }
}

fn compile(pattern: &str, ignores_case: bool) -> Result<Regex, InvalidRegex> {
    let built = RegexBuilder::new(pattern)
        .case_insensitive(ignores_case)
        .size_limit(REGEX_BYTES)
        .dfa_size_limit(REGEX_BYTES)
        .build();
    built.map_err(|error| InvalidRegex(why(&error)))
}

/// What is wrong with a regular expression, and where, in one line.
fn why(error: &regex::Error) -> String {
    let text = error.to_string();
    let what = text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
    if matches!(error, regex::Error::CompiledTooBig(_)) {
        return "it is too large".to_owned();
    }
    // The library marks the place in a line of its own, below the expression, which is indented by four.
    let mark = text.lines().find(|line| line.contains('^') && line.trim_start().starts_with('^'));
    match mark.and_then(|line| line.find('^')) {
        Some(at) => format!("{what} at character {}", at.saturating_sub(3)),
        None => what,
    }
}

/// Whether a regular expression has a capital that is not the name of a class.
fn has_capital(text: &str) -> bool {
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match char {
            '\\' => pass_over_escape(&mut chars),
            char if char.is_uppercase() => return true,
            _ => {}
        }
    }
    false
}

/// Skips what follows a backslash: one character, or the name of a class, `\pL` or `\p{Lu}`.
fn pass_over_escape(chars: &mut Chars<'_>) {
    if matches!(chars.next(), Some('p' | 'P')) && chars.next() == Some('{') {
        chars.find(|char| *char == '}');
    }
}

/// The number that a string looks like.
pub(super) fn text_number(text: &str) -> Option<f64> {
    let text = text.trim();
    // Rust also reads `inf` and `nan`.
    let is_number = text.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first));
    text.parse::<f64>().ok().filter(|number| is_number && number.is_finite())
}

impl Condition {
    /// The path of what it compares a value with.
    pub(super) fn path(&self) -> Option<&PathEnd> {
        match self {
            Self::Equals(Operand::Path(path))
            | Self::NotEquals(Operand::Path(path))
            | Self::Above(Operand::Path(path))
            | Self::Below(Operand::Path(path)) => Some(path),
            _ => None,
        }
    }

    /// Whether it may hold for the value that begins here; a string or a container is not read for it.
    pub(super) fn may_hold(&self, json: &[u8], as_numbers: bool) -> bool {
        if self.path().is_some() {
            return true;
        }
        match json[0] {
            b'"' if as_numbers => true,
            b'"' | b'{' | b'[' => !matches!(
                self,
                Self::Above(Operand::Scalar(Scalar::Number(_) | Scalar::Boolean(_)))
                    | Self::Below(Operand::Scalar(Scalar::Number(_) | Scalar::Boolean(_)))
                    | Self::Equals(Operand::Scalar(Scalar::Number(_) | Scalar::Boolean(_)))
                    | Self::Is(ValueKind::Null | ValueKind::Number | ValueKind::Boolean)
            ),
            _ => {
                let end = json.iter().position(|byte| matches!(byte, b',' | b'}' | b']') || byte.is_ascii_whitespace());
                let scalar = std::str::from_utf8(&json[..end.unwrap_or(json.len())]);
                scalar.is_ok_and(|scalar| self.holds(SearchedValue::Scalar(scalar), as_numbers))
            }
        }
    }

    /// Whether it holds for a value, without regard to others.
    pub(super) fn holds(&self, value: SearchedValue<'_>, as_numbers: bool) -> bool {
        match self {
            Self::Is(kind) => kind.is_of(value),
            Self::Equals(Operand::Scalar(scalar)) => scalar.equals(value, as_numbers),
            Self::NotEquals(Operand::Scalar(scalar)) => !scalar.equals(value, as_numbers),
            Self::Above(Operand::Scalar(limit)) => limit.order(value, as_numbers) == Some(Ordering::Greater),
            Self::Below(Operand::Scalar(limit)) => limit.order(value, as_numbers) == Some(Ordering::Less),
            Self::Equals(_) | Self::NotEquals(_) | Self::Above(_) | Self::Below(_) => false,
        }
    }
}

impl ValueKind {
    fn is_of(self, value: SearchedValue<'_>) -> bool {
        match (self, value) {
            (Self::Null, SearchedValue::Scalar(json)) => json == "null",
            (Self::Boolean, SearchedValue::Scalar(json)) => matches!(json, "true" | "false"),
            (Self::Number, value) => is_number(value),
            (Self::String, SearchedValue::String(_) | SearchedValue::Text(_)) => true,
            (Self::Empty, SearchedValue::String(text)) => text.bytes.is_empty(),
            (Self::Empty, SearchedValue::Text(text)) => text.is_empty(),
            (Self::Empty, SearchedValue::Container { parts, .. }) => parts == 0,
            (Self::Array, SearchedValue::Container { json, .. }) => json.first() == Some(&b'['),
            (Self::Object, SearchedValue::Container { json, .. }) => json.first() == Some(&b'{'),
            _ => false,
        }
    }
}

impl Scalar {
    /// The order of a value relative to this one: both are numbers, or both are strings that are not.
    fn order(&self, value: SearchedValue<'_>, as_numbers: bool) -> Option<Ordering> {
        let limit = match self {
            Self::Number(number) => number.parse::<f64>().ok(),
            Self::Text(text) => text_number(text),
            Self::Boolean(_) => return None,
        };
        match (limit, self, value) {
            (Some(limit), _, _) => number(value, as_numbers)?.partial_cmp(&limit),
            (None, Self::Text(limit), value) => Some(order_of_texts(&value.text()?, limit)),
            _ => None,
        }
    }

    fn equals(&self, value: SearchedValue<'_>, as_numbers: bool) -> bool {
        let is_text = matches!(value, SearchedValue::String(_) | SearchedValue::Text(_));
        if let (true, Self::Text(wanted) | Self::Number(wanted)) = (as_numbers && is_text, self)
            && let Some((wanted, found)) = text_number(wanted).zip(number(value, true))
        {
            return wanted == found;
        }
        match (self, value) {
            (Self::Text(wanted), value) if is_text => value.text().is_some_and(|text| text == wanted.as_str()),
            (Self::Text(wanted), SearchedValue::Scalar(json)) if !is_number(value) => json == wanted,
            (Self::Text(wanted) | Self::Number(wanted), SearchedValue::Scalar(json)) if is_number(value) => {
                same_number(wanted, json)
            }
            (Self::Boolean(wanted), SearchedValue::Scalar(json)) => json == if *wanted { "true" } else { "false" },
            _ => false,
        }
    }
}

pub(super) fn is_number(value: SearchedValue<'_>) -> bool {
    matches!(value, SearchedValue::Scalar(json) if json.starts_with(|first: char| first == '-' || first.is_ascii_digit()))
}

/// The number that a value is, or that a string looks like, if those count.
pub(super) fn number(value: SearchedValue<'_>, as_numbers: bool) -> Option<f64> {
    match value {
        SearchedValue::Scalar(json) if is_number(value) => json.parse().ok(),
        value if as_numbers => text_number(&value.text()?),
        _ => None,
    }
}

/// The order of strings in JavaScript: by their UTF-16 code units.
pub(super) fn order_of_texts(one: &str, other: &str) -> Ordering {
    one.encode_utf16().cmp(other.encode_utf16())
}

/// Whole numbers are compared exactly; ids can have more digits than a double.
pub(super) fn same_number(one: &str, other: &str) -> bool {
    match (one.parse::<i128>(), other.parse::<i128>()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one.parse::<f64>().ok().zip(other.parse::<f64>().ok()).is_some_and(|(one, other)| one == other),
    }
}

/// JSON whole, or its beginning as a string.
pub(super) fn clipped_json(json: &str) -> String {
    if json.len() <= SHOWN_CHARS || json.chars().nth(SHOWN_CHARS).is_none() {
        return json.to_owned();
    }
    serde_json::Value::from(shorten(json, SHOWN_CHARS)).to_string()
}

/// The characters of a text around a match, as a JSON string.
pub(super) fn clipped(text: &str, found: Range<usize>) -> String {
    if text.len() <= SHOWN_CHARS || text.chars().nth(SHOWN_CHARS).is_none() {
        return serde_json::Value::from(text).to_string();
    }
    let before = text[..found.start].char_indices().rev().nth(BEFORE_CHARS - 1).map_or(0, |(at, _)| at);
    // A match near the end leaves room for more before it.
    let last = text.char_indices().rev().nth(SHOWN_CHARS - 1).map_or(0, |(at, _)| at);
    let from = before.min(last);
    let mark = if from > 0 { "…" } else { "" };
    serde_json::Value::from(format!("{mark}{}", shorten(&text[from..], SHOWN_CHARS))).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_regex_says_where() {
        let why = |text: &str| TextPattern::regex(text).unwrap_err().to_string();
        assert_eq!(why("a(b"), "unclosed group at character 2");
        assert_eq!(why("[z-a]"), "invalid character class range, the start must be <= the end at character 2");
        assert_eq!(why(r"\w{1000}{1000}"), "it is too large");
    }

    #[test]
    fn capitals_make_case_count() {
        assert!(has_capital("Ab") && has_capital(r"\\A") && !has_capital(r"\S+a\P{Lu}\pL"));
    }

    #[test]
    fn long_values_are_clipped_around_the_match() {
        let text = "a".repeat(500) + "needle" + &"b".repeat(500);
        let shown = clipped(&text, 500..506);
        assert!(
            shown.starts_with("\"…aaaa") && shown.contains("needle") && shown.ends_with("…[+386 chars]\""),
            "{shown}"
        );
        let shown = clipped(&text, 1000..1006);
        assert_eq!(shown, format!("\"…{}\"", "b".repeat(160)));
    }
}
