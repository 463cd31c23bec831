//! Whether code provides for a value that may be missing.

use std::collections::HashSet;

use super::Reference;
use super::code::Code;
use super::token::{Bracket, Kind};

/// Functions of n8n and of JavaScript that test whether there is a value, or replace a missing one.
const FUNCTIONS: [&str; 9] =
    ["isEmpty", "isNotEmpty", "ifEmpty", "hasField", "$ifEmpty", "$if", "isArray", "hasOwn", "hasOwnProperty"];

/// Whether some of the code runs only under a condition.
pub(super) fn has_branches(code: &Code<'_>) -> bool {
    (0..code.list().len()).any(|index| {
        matches!(code.source(index), "if" | "switch") && code.kind(index + 1) == Some(Kind::Open(Bracket::Control))
    })
}

/// Whether the code provides for a missing value; `references` are those in it.
pub(super) fn has_guard(code: &Code<'_>, references: &[Reference]) -> bool {
    let declared: HashSet<_> = (0..code.list().len()).filter_map(|index| declared(code, index, references)).collect();
    (0..code.list().len()).any(|index| match code.kind(index) {
        Some(Kind::Sign) => match code.source(index) {
            "?." | "??" | "||" | "&&" | "?" | "!" | "??=" | "||=" | "&&=" => true,
            "==" | "!=" | "===" | "!==" => is_nothing(code, index.wrapping_sub(1)) || is_nothing(code, index + 1),
            _ => false,
        },
        Some(Kind::Word) => match code.source(index) {
            "typeof" | "catch" => true,
            "in" => matches!(code.before(index), Some(Kind::Text | Kind::Template)),
            "if" | "while" => asks_for_value(code, index + 1, references, &declared),
            word => FUNCTIONS.contains(&word),
        },
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
            Some(Kind::Sign) if code.source(next) == "." => next += 2,
            Some(Kind::Open(Bracket::Index)) => next = code.partner(next)? + 1,
            _ => return Some(next),
        }
    }
}

/// The name of the variable whose declaration begins with this token, if its value is a reference: `const name = $json.name`.
fn declared<'a>(code: &Code<'a>, index: usize, references: &[Reference]) -> Option<&'a str> {
    let is_declaration = matches!(code.source(index), "const" | "let" | "var") && code.source(index + 2) == "=";
    let end = if is_declaration { reads(code, index + 3, references)? } else { return None };
    let ends = code.token(end).is_none_or(|next| next.begins_line || matches!(code.source(end), ";" | ","));
    ends.then(|| code.source(index + 1))
}

/// `null`, `undefined`, or an empty string.
fn is_nothing(code: &Code<'_>, index: usize) -> bool {
    matches!(code.source(index), "null" | "undefined" | "''" | "\"\"" | "``")
}
