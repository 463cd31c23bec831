//! Values in a text: one pass, and at each place the kinds of values in a fixed order.

use std::ops::Range;

use super::addresses::{Emails, ip4, ip6, path, push_url, url, uuid};
use super::characters::is_digit;
use super::dates::{date, time};
use super::text::Text;
use super::words::{push_word, word};

/// A value, with its end.
#[derive(Clone, Copy, Debug)]
enum Value {
    /// Scheme and host are shown.
    Url(usize),
    /// Only its parts that are not random are shown.
    Word(usize),
    /// It is shown if it is a kept status.
    Number(usize),
    /// Nothing of it is shown.
    Hidden(usize),
}

/// Appends a part of a text without its values. It is read alone: the text around it is not context.
pub(super) fn push(text: Text, part: Range<usize>, kept: &[usize], out: &mut String) {
    let start = part.start;
    let text = Text(text.slice(part));
    let mut emails = Emails::default();
    let mut at = 0;
    while let Some(char) = text.get(at) {
        let value = value(text, at, char, &mut emails);
        match value {
            Some(Value::Url(end)) => push_url(Text(text.slice(at..end)), out),
            Some(Value::Word(end)) => push_word(Text(text.slice(at..end)), out),
            Some(Value::Number(end)) if kept.contains(&(start + at)) => out.extend(text.slice(at..end)),
            Some(Value::Number(_) | Value::Hidden(_)) => out.push('*'),
            None => out.push(char),
        }
        at = match value {
            Some(Value::Url(end) | Value::Word(end) | Value::Number(end) | Value::Hidden(end)) => end,
            None => at + 1,
        };
    }
}

/// The value that starts with this character.
fn value(text: Text, at: usize, first: char, emails: &mut Emails) -> Option<Value> {
    if !first.is_ascii() && !is_digit(first) || first == ' ' {
        return None;
    }
    let is_start = text.is_start(at);
    let starting = |end: fn(Text, usize) -> Option<usize>| if is_start { end(text, at) } else { None };
    let hidden = |end: Option<usize>| end.map(Value::Hidden);
    starting(url)
        .map(Value::Url)
        .or_else(|| hidden(emails.email(text, at)))
        .or_else(|| hidden(starting(uuid)))
        .or_else(|| hidden(starting(date)))
        .or_else(|| hidden(starting(ip4)))
        .or_else(|| hidden(ip6(text, at)))
        .or_else(|| hidden(path(text, at)))
        .or_else(|| word(text, at).map(Value::Word))
        .or_else(|| hidden(starting(time)))
        .or_else(|| number(text, at).map(Value::Number))
}

/// The end of a number: `-1.5e3`, `1,000.50`.
fn number(text: Text, at: usize) -> Option<usize> {
    let sign = |at| text.one(at, |char| char == '+' || char == '-').unwrap_or(at);
    let end = text.number(sign(at))?;
    let exponent = text.literal(end, "e").and_then(|at| text.digits(sign(at), 1..=usize::MAX));
    Some(exponent.unwrap_or(end))
}
