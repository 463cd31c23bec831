//! Whether code provides for a value that may be missing.

use std::cell::LazyCell;
use std::collections::HashSet;

use super::Reference;
use super::code::Code;
use super::lexeme::Lexeme;
use super::token::{Bracket, Kind};

/// Whether some of the code runs only under a condition.
pub(super) fn has_branches(code: &Code<'_>) -> bool {
    (0..code.list().len()).any(|index| {
        matches!(code.lexeme(index), Lexeme::If | Lexeme::Switch)
            && code.kind(index + 1) == Some(Kind::Open(Bracket::Control))
    })
}

/// Whether the code provides for a missing value; `references` are those in it.
pub(super) fn has_guard(code: &Code<'_>, references: &[Reference]) -> bool {
    let all_declared = || (0..code.list().len()).filter_map(|index| declared(code, index, references)).collect();
    let declared: LazyCell<HashSet<_>, _> = LazyCell::new(all_declared);
    (0..code.list().len()).any(|index| match code.lexeme(index) {
        Lexeme::OptionalDot | Lexeme::Fallback | Lexeme::Question | Lexeme::Not => true,
        Lexeme::Equality => is_nothing(code, index.wrapping_sub(1)) || is_nothing(code, index + 1),
        Lexeme::Typeof | Lexeme::Catch | Lexeme::Guard => true,
        Lexeme::In => matches!(code.before(index), Some(Kind::Text | Kind::Template)),
        Lexeme::If | Lexeme::While => asks_for_value(code, index + 1, references, &declared),
        _ => false,
    })
}

/// Whether all that is in the bracket is a reference, or a variable that was declared as one: `if ($json.name)`.
fn asks_for_value(code: &Code<'_>, open: usize, references: &[Reference], declared: &HashSet<&str>) -> bool {
    let Some(close) = code.partner(open) else { return false };
    let is_declared = close == open + 2 && declared.contains(code.source(open + 1));
    is_declared || reads(code, open + 1, references) == Some(close)
}

/// The token after a reference, and the members and indexes that follow it, that begins with this token.
fn reads(code: &Code<'_>, first: usize, references: &[Reference]) -> Option<usize> {
    let start = code.token(first)?.start();
    let at = references.binary_search_by_key(&start, |reference| reference.range.start).ok()?;
    let end = references[at].range.end;
    let mut next = first + code.list()[first..].partition_point(|token| token.end() <= end);
    loop {
        match code.kind(next) {
            Some(Kind::Sign) if code.lexeme(next) == Lexeme::Dot => next += 2,
            Some(Kind::Open(Bracket::Index)) => next = code.partner(next)? + 1,
            _ => return Some(next),
        }
    }
}

/// The name of the variable whose declaration begins with this token, if its value is a reference: `const name = $json.name`.
fn declared<'a>(code: &Code<'a>, index: usize, references: &[Reference]) -> Option<&'a str> {
    let is_declaration = code.lexeme(index) == Lexeme::Declaration && code.lexeme(index + 2) == Lexeme::Assign;
    let end = if is_declaration { reads(code, index + 3, references)? } else { return None };
    let ends =
        code.token(end).is_none_or(|next| next.begins_line || matches!(next.lexeme, Lexeme::Semicolon | Lexeme::Comma));
    ends.then(|| code.source(index + 1))
}

/// `null`, `undefined`, or an empty string.
fn is_nothing(code: &Code<'_>, index: usize) -> bool {
    let is_empty = |kind| matches!(kind, Kind::Text | Kind::Template) && code.source(index).len() == 2;
    code.lexeme(index) == Lexeme::Nothing || code.kind(index).is_some_and(is_empty)
}
