//! The pieces of a text that are tokenized on their own: the pattern of o200k_base, written out.
//!
//! The pattern, with `U` for `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]` and `L` for `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`; the first
//! alternative that matches counts:
//!
//! ```text
//! [^\r\n\p{L}\p{N}]?U*L+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! [^\r\n\p{L}\p{N}]?U+L*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! \p{N}{1,3}
//!  ?[^\s\p{L}\p{N}]+[\r\n/]*
//! \s*[\r\n]+
//! \s+(?!\S)
//! \s+
//! ```
//!
//! Marks and letters without case are in both `U` and `L`, and a mark is also a character that can precede a word.

use super::classes::Class;

/// The length of the first piece; `None` if the text is empty.
pub(super) fn first(text: &str) -> Option<usize> {
    let (class, next) = class_at(text, 0)?;
    Some(match class {
        Class::Upper | Class::Lower | Class::Letter => word(text, 0).unwrap_or(next),
        // A mark that precedes no word is a word itself.
        Class::Mark => contraction(text, run(text, next).lower.unwrap_or(next)),
        Class::Number => numbers(text),
        Class::Newline => spaces(text),
        Class::Space => word(text, next).unwrap_or_else(|| match class_at(text, next) {
            Some((Class::Other, _)) if text.starts_with(' ') => symbols(text, next),
            _ => spaces(text),
        }),
        Class::Other => word(text, next).unwrap_or_else(|| symbols(text, next)),
    })
}

/// The class of the character at a position, and the position after it.
#[inline]
fn class_at(text: &str, at: usize) -> Option<(Class, usize)> {
    let character = text[at..].chars().next()?;
    Some((Class::of(character), at + character.len_utf8()))
}

/// Where `U*L+` and `U+` end.
struct Run {
    lower: Option<usize>,
    upper: usize,
}

/// The letters and marks at a position.
fn run(text: &str, start: usize) -> Run {
    let (mut upper, mut lower) = (start, None);
    while let Some((class, next)) = class_at(text, upper) {
        match class {
            Class::Upper => {}
            // If nothing in lower case follows, `L+` is the last of these.
            Class::Letter | Class::Mark => lower = Some(next),
            Class::Lower => {
                lower = Some(end_of(text, next, |class| matches!(class, Class::Lower | Class::Letter | Class::Mark)));
                break;
            }
            _ => break,
        }
        upper = next;
    }
    Run { lower, upper }
}

/// The end of a word at a position, by the first two alternatives.
#[inline]
fn word(text: &str, start: usize) -> Option<usize> {
    let Run { lower, upper } = run(text, start);
    Some(contraction(text, lower.or((upper > start).then_some(upper))?))
}

/// The end of the run of characters at a position whose class `is_in` accepts.
#[inline]
fn end_of(text: &str, start: usize, is_in: impl Fn(Class) -> bool) -> usize {
    let mut end = start;
    while let Some((_, next)) = class_at(text, end).filter(|(class, _)| is_in(*class)) {
        end = next;
    }
    end
}

/// The end of `(?i:'s|'t|'re|'ve|'m|'ll|'d)?` at a position.
#[inline]
fn contraction(text: &str, start: usize) -> usize {
    let letter = |at: usize| text.as_bytes().get(start + at).map(u8::to_ascii_lowercase);
    match (letter(0), letter(1), letter(2)) {
        (Some(b'\''), Some(b's' | b't' | b'm' | b'd'), _) => start + 2,
        // The long s is an s in another case.
        (Some(b'\''), Some(b'r' | b'v'), Some(b'e'))
        | (Some(b'\''), Some(b'l'), Some(b'l'))
        | (Some(b'\''), Some(0xC5), Some(0xBF)) => start + 3,
        _ => start,
    }
}

/// The end of `\p{N}{1,3}`.
fn numbers(text: &str) -> usize {
    let numbers = text.chars().take(3).take_while(|character| Class::of(*character) == Class::Number);
    numbers.map(char::len_utf8).sum()
}

/// The end of `[^\s\p{L}\p{N}]+[\r\n/]*` if the first part reaches at least up to a position.
fn symbols(text: &str, start: usize) -> usize {
    let end = end_of(text, start, |class| matches!(class, Class::Other | Class::Mark));
    end + text[end..].bytes().take_while(|byte| b"\r\n/".contains(byte)).count()
}

/// The end of the spaces and newlines at the start: the last newline, or the last space that does not precede something
/// else.
fn spaces(text: &str) -> usize {
    let (mut newline, mut last, mut end) = (None, 0, 0);
    while let Some((class @ (Class::Newline | Class::Space), next)) = class_at(text, end) {
        (last, end) = (end, next);
        if class == Class::Newline {
            newline = Some(end);
        }
    }
    newline.unwrap_or(if end == text.len() || last == 0 { end } else { last })
}
