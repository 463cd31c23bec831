//! Whether a stored text may have a match, before any of it is parsed.
//!
//! n8n's text has every string and every name of a member as JSON, and numbers next to the names of their members: what
//! a prefilter finds in an item, it finds in the text of the whole execution. `JSON.stringify` has one spelling for
//! each string and each number; a text with another spelling of a sought character, which only another program writes,
//! is a candidate, too. A match is only a candidate, still to be read: a name is not a value.

use std::io;

use super::number_filter::{NumberFilter, written};
use super::{Condition, Operand, PathEnd, Scalar, ValueQuery};
use crate::json::Prefilter;
use crate::json::flatted::Flatted;

/// Bytes that are searched twice in addition to what is sought: the beginning of a member's value is shorter.
const OVERLAP: usize = 4096;

/// The maximum number of digits of an index: up to 9 digits may be one. flatted's elements are in an array of
/// JavaScript.
const INDEX_DIGITS: usize = 9;

/// The shortest part of a text that the database looks for in its place, in characters.
const MIN_PART: usize = 4;

/// What a stored text must contain for a value of its execution to match: all of these. Made once for all executions.
#[derive(Debug)]
pub(in crate::execution) struct StoredFilter {
    /// A text, or the name of a member, and how many bytes of the text are searched twice for it.
    text: Option<(Prefilter, usize)>,
    /// A number, or a text that could also be an index.
    number: Option<NumberFilter>,
}

impl StoredFilter {
    /// `None` if a text does not show whether a value of it matches, where those of secret keys are masked if `redacts`.
    pub(in crate::execution) fn of(query: &ValueQuery, redacts: bool) -> Option<Self> {
        let number = number_filter(query).filter(|_| !redacts || !query.finds_masked());
        let text = match &number {
            // Its digits are in many texts that do not have the name.
            Some(_) => query.name_prefilter(),
            None => Some(query.prefilter(redacts)?),
        };
        Some(Self { text: text.map(|text| (text, overlap(query))), number })
    }

    /// Whether a value of the execution with this text may match.
    ///
    /// # Errors
    /// The text cannot be read.
    pub(in crate::execution) fn may_match(&self, text: &mut Flatted<'_>) -> io::Result<bool> {
        if let Some((prefilter, overlap)) = &self.text
            && !text.any_piece(*overlap, |piece, _| prefilter.may_be_in(piece))?
        {
            return Ok(false);
        }
        self.number.as_ref().map_or(Ok(true), |number| number.may_match(text))
    }
}

/// How many bytes are searched twice for what a query looks for.
fn overlap(query: &ValueQuery) -> usize {
    let text = query.text.as_ref().and_then(|text| text.literal.as_deref());
    let equal = match &query.condition {
        Some(Condition::Equals(Operand::Scalar(Scalar::Text(text)))) => Some(text.as_str()),
        _ => None,
    };
    let sought = [text, equal, query.path.as_ref().and_then(PathEnd::name)].into_iter().flatten();
    // Each character has six bytes at most, as an escape.
    OVERLAP + 6 * sought.map(str::len).max().unwrap_or(0)
}

/// The filter of a query for digits or for a number, unless the name of its member is more selective.
fn number_filter(query: &ValueQuery) -> Option<NumberFilter> {
    if let Some(text) = &query.text {
        let digits = text.literal.as_deref().filter(|text| text.len() <= INDEX_DIGITS)?;
        let is_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        return is_digits.then(|| NumberFilter::digits(digits))?;
    }
    let Some(Condition::Equals(Operand::Scalar(scalar))) = query.condition.as_ref().filter(|_| !query.as_numbers)
    else {
        return None;
    };
    match scalar {
        Scalar::Number(_) if query.prefilter(false).is_some() => None,
        Scalar::Number(number) => NumberFilter::number(number),
        Scalar::Text(text) => NumberFilter::text_or_number(text),
        Scalar::Boolean(_) => None,
    }
}

impl ValueQuery {
    /// Every stored execution with a match contains at least one of these texts, byte for byte, so that a database can look for
    /// them; values of secret keys are masked if `redacts`. Empty if no such texts are known.
    pub fn stored_texts(&self, redacts: bool) -> Vec<String> {
        let Some(mut texts) = self.sought_texts(redacts) else { return Vec::new() };
        // What another program wrote: an escape in place of a character.
        if texts.iter().any(|text| text.contains('/')) {
            texts.push("\\/".to_owned());
        }
        let escape = if texts.iter().all(|text| text.is_ascii()) { "\\u00" } else { "\\u" };
        texts.push(escape.to_owned());
        texts
    }

    /// What a string, a name or a number must contain, as `JSON.stringify` writes it.
    fn sought_texts(&self, redacts: bool) -> Option<Vec<String>> {
        if self.asks_for_missing() {
            return None;
        }
        let name = self.path.as_ref().and_then(PathEnd::name).map(|name| vec![inside(name) + "\""]);
        if redacts && self.finds_masked() {
            return name;
        }
        if let Some(text) = &self.text {
            let sought = if text.ignores_case {
                longest_caseless(text.literal.as_deref()?)?
            } else {
                text.literal.as_deref()?
            };
            return Some(vec![inside(sought)]);
        }
        let equals = self.condition.as_ref().filter(|_| name.is_none() && !self.as_numbers);
        let Some(Condition::Equals(Operand::Scalar(scalar))) = equals else { return name };
        match scalar {
            Scalar::Text(text) if text.is_empty() => None,
            Scalar::Text(text) if text.parse::<f64>().is_err() => Some(vec![inside(text)]),
            Scalar::Text(text) => Some(vec![inside(text), written(text)?]),
            Scalar::Number(number) => Some(vec![written(number)?]),
            Scalar::Boolean(_) => None,
        }
    }
}

/// A text as written inside a JSON string.
fn inside(text: &str) -> String {
    let json = serde_json::Value::from(text).to_string();
    json[1..json.len() - 1].to_owned()
}

/// The longest part of a text without characters that have two cases, unless it is too short to be selective.
fn longest_caseless(text: &str) -> Option<&str> {
    let has_cases = |char: char| !char.to_lowercase().eq([char]) || !char.to_uppercase().eq([char]);
    let longest = text.split(has_cases).max_by_key(|part| part.chars().count())?;
    let is_whole = longest.len() == text.len() && !text.is_empty();
    (is_whole || longest.chars().count() >= MIN_PART).then_some(longest)
}

#[cfg(test)]
mod tests {
    use super::super::TextPattern;
    use super::*;
    use crate::json::CUT_NAME_CHARS;

    fn texts(text: &str) -> Vec<String> {
        ValueQuery { text: TextPattern::literal(text).ok(), ..ValueQuery::default() }.stored_texts(false)
    }

    #[test]
    fn what_is_sought_may_be_longer_than_the_overlap_and_lie_in_two_pieces() {
        let name = "n".repeat(CUT_NAME_CHARS);
        let value = "n".repeat(5_000);
        let path = ValueQuery { path: Some(PathEnd::new(&name)), ..ValueQuery::default() };
        let equal = Condition::Equals(Operand::Scalar(Scalar::Text(value.clone())));
        let equal = ValueQuery { condition: Some(equal), ..ValueQuery::default() };
        for query in [path, equal] {
            let filter = StoredFilter::of(&query, false).expect("a filter");
            // The first piece has 256 KiB.
            for padding in [256_000, 257_200, 261_000, 262_100] {
                let text = format!(r#"[{{"a":"{}","{name}":1}},"{value}"]"#, "x".repeat(padding));
                let mut text = Flatted::new(Box::new(text.as_bytes()));
                assert!(filter.may_match(&mut text).expect("text in memory"), "{padding}");
            }
        }
    }

    #[test]
    fn digits_at_a_path_need_the_name_too() {
        let path = || Some(PathEnd::new("order"));
        let equal = Condition::Equals(Operand::Scalar(Scalar::Text("4711".to_owned())));
        let equal = ValueQuery { path: path(), condition: Some(equal), ..ValueQuery::default() };
        let text = ValueQuery { path: path(), text: TextPattern::literal("4711").ok(), ..ValueQuery::default() };
        for query in [equal, text] {
            let filter = StoredFilter::of(&query, false).expect("a filter");
            for (text, expected) in [
                (r#"[{"order":"1"},"4711"]"#, true),
                (r#"[{"order":4711}]"#, true),
                (r#"[{"other":"1"},"4711"]"#, false),
                (r#"[{"order":"4711"},"4712"]"#, false),
            ] {
                let mut text = Flatted::new(Box::new(text.as_bytes()));
                assert_eq!(filter.may_match(&mut text).expect("text in memory"), expected, "{query:?}");
            }
        }
    }

    #[test]
    fn the_database_looks_for_what_has_one_case_only() {
        assert_eq!(texts("order 4711"), [" 4711", "\\u00"]);
        assert_eq!(texts("Order 4711"), ["Order 4711", "\\u00"]);
        assert_eq!(texts("4711/\"8\""), ["4711/\\\"8\\\"", "\\/", "\\u00"]);
        assert_eq!(texts("注文"), ["注文", "\\u"]);
        for long in ["order", "ſ12", "a 1", "ⅷ-ß"] {
            assert!(texts(long).is_empty(), "{long}");
        }
    }
}
