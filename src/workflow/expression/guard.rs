//! Whether code provides for a value that may be missing.

use std::cell::LazyCell;
use std::collections::HashSet;

use super::Reference;
use super::code::Code;
use super::lexeme::Lexeme;
use super::token::{Bracket, Kind};

/// How many steps of a path are compared with others of the text. No item is deeper.
const COMPARED_STEPS: usize = 24;

/// Whether some of the code runs only under a condition.
pub(super) fn has_branches(code: &Code<'_>) -> bool {
    (0..code.list().len()).any(|index| {
        matches!(code.lexeme(index), Lexeme::If | Lexeme::Switch)
            && code.kind(index + 1) == Some(Kind::Open(Bracket::Control))
    })
}

/// Whether the code provides for a missing value; `references` are those in it, and `variables` have values of some of them.
pub(super) fn has_guard(code: &Code<'_>, references: &[Reference], variables: &[&str]) -> bool {
    let of_values = |index| declared(code, index, references);
    let all_declared = || (0..code.list().len()).filter_map(of_values).chain(variables.iter().copied()).collect();
    let declared: LazyCell<HashSet<_>, _> = LazyCell::new(all_declared);
    (0..code.list().len()).any(|index| match code.lexeme(index) {
        Lexeme::OptionalDot | Lexeme::Fallback | Lexeme::Question | Lexeme::Not => true,
        Lexeme::Equality => is_nothing(code, index.wrapping_sub(1)) || is_nothing(code, index + 1),
        Lexeme::Typeof | Lexeme::InstanceOf | Lexeme::Catch | Lexeme::Guard => true,
        Lexeme::Case => is_nothing(code, index + 1),
        Lexeme::Arrow => keeps_values(code, index),
        Lexeme::In => matches!(code.before(index), Some(Kind::Text | Kind::Template)),
        Lexeme::If | Lexeme::While => asks_for_value(code, index + 1, references, &declared),
        _ => asks_for_name(code, index),
    })
}

/// Whether this opens the brackets of `Object.keys(…).includes(…)`.
fn asks_for_name(code: &Code<'_>, open: usize) -> bool {
    code.calls(open, "Object", "keys")
        && code.partner(open).is_some_and(|close| {
            code.lexeme(close + 1) == Lexeme::Dot && matches!(code.source(close + 2), "includes" | "indexOf" | "some")
        })
}

/// Whether the function with this arrow drops what is missing: `filter(x => x)`.
fn keeps_values(code: &Code<'_>, arrow: usize) -> bool {
    // From the last token before the arrow to the bracket of the call.
    let (parameter, open) = if code.closes(arrow.wrapping_sub(1), ')') { (2, 4) } else { (1, 2) };
    let before = |distance: usize| arrow.wrapping_sub(distance);
    code.kind(arrow + 1) == Some(Kind::Word)
        && code.source(arrow + 1) == code.source(before(parameter))
        && code.closes(arrow + 2, ')')
        && code.partner(arrow + 2) == Some(before(open))
        && matches!(code.source(before(open + 1)), "filter" | "find" | "findLast" | "some" | "every")
}

/// What a bracket encloses, as far as a missing value is left out there.
#[derive(Clone, Copy, PartialEq)]
enum Enclosed {
    /// The members of an object.
    Object,
    /// The members of an object that is made JSON.
    JsonObject,
    /// What is made JSON.
    Json,
    /// The arguments of `Object.assign`.
    Assigned,
    Other,
}

impl Enclosed {
    fn by(code: &Code<'_>, open: usize, around: Self) -> Self {
        match code.kind(open) {
            _ if code.calls(open, "JSON", "stringify") => Self::Json,
            _ if code.calls(open, "Object", "assign") => Self::Assigned,
            Some(Kind::Open(Bracket::Object | Bracket::Block)) => match around {
                Self::Json | Self::JsonObject => Self::JsonObject,
                _ => Self::Object,
            },
            Some(Kind::Open(Bracket::List)) if matches!(around, Self::Json | Self::JsonObject) => Self::Json,
            _ => Self::Other,
        }
    }

    /// Whether a missing value after this token is left out.
    fn leaves_out(self, code: &Code<'_>, before: usize) -> bool {
        match code.lexeme(before) {
            Lexeme::Prefix => matches!(self, Self::Object | Self::JsonObject) && code.source(before) == "...",
            Lexeme::Colon => self == Self::JsonObject,
            Lexeme::Comma => self == Self::Assigned,
            _ => false,
        }
    }
}

/// Guards the references to fields for which another piece of code of the text provides, or for what contains them:
/// `{{ $json.a ? 'A: ' : '' }}{{ $json.a }}`.
pub(super) fn guard_elsewhere(references: &mut [Reference]) {
    let field = |reference: &Reference| (reference.origin.clone(), reference.path.clone());
    let guarded: HashSet<_> = references.iter().filter(|reference| reference.is_guarded).map(field).collect();
    if guarded.is_empty() {
        return;
    }
    for reference in references {
        let (origin, mut path) = field(reference);
        path.truncate(COMPARED_STEPS);
        while !reference.is_guarded && !path.is_empty() {
            reference.is_guarded = guarded.contains(&(origin.clone(), path.clone()));
            path.pop();
        }
    }
}

/// Guards the references whose value, if it is missing, is left out: `{...$json.a}`, `Object.assign({}, $json.a)`,
/// `JSON.stringify({a: $json.a})`.
pub(super) fn guard_left_out(code: &Code<'_>, references: &mut [Reference]) {
    let mut enclosing: Vec<(usize, Enclosed)> = Vec::new();
    for (index, token) in code.list().iter().enumerate() {
        while enclosing.pop_if(|(close, _)| *close <= index).is_some() {}
        let enclosed = enclosing.last().map_or(Enclosed::Other, |(_, enclosed)| *enclosed);
        if let (Kind::Open(_), Some(close)) = (token.kind, code.partner(index)) {
            enclosing.push((close, Enclosed::by(code, index, enclosed)));
        } else if index > 0 && enclosed.leaves_out(code, index - 1) && ends_member(code, index, references) {
            let at = references.partition_point(|reference| reference.range.start < token.start());
            references[at].is_guarded = true;
        }
    }
}

/// Whether the reference that begins with this token is a whole member or argument.
fn ends_member(code: &Code<'_>, first: usize, references: &[Reference]) -> bool {
    let next = reads(code, first, references);
    next.is_some_and(|next| code.lexeme(next) == Lexeme::Comma || matches!(code.kind(next), Some(Kind::Close(_))))
}

/// Whether all that is in the bracket is a reference, or a variable that was declared as one: `if ($json.name)`.
fn asks_for_value(code: &Code<'_>, open: usize, references: &[Reference], declared: &HashSet<&str>) -> bool {
    let Some(close) = code.partner(open) else { return false };
    let is_declared = close == open + 2 && declared.contains(code.source(open + 1));
    is_declared || reads(code, open + 1, references) == Some(close)
}

/// The token after a reference, and the members and indexes that follow it, that begins with this token.
pub(super) fn reads(code: &Code<'_>, first: usize, references: &[Reference]) -> Option<usize> {
    members(code, end(code, first, references)?)
}

/// The token after a reference that begins with this token.
pub(super) fn end(code: &Code<'_>, first: usize, references: &[Reference]) -> Option<usize> {
    let end = references[at(code, first, references)?].range.end;
    Some(first + code.list()[first..].partition_point(|token| token.end() <= end))
}

/// Which reference begins with this token.
pub(super) fn at(code: &Code<'_>, first: usize, references: &[Reference]) -> Option<usize> {
    let start = code.token(first)?.start();
    references.binary_search_by_key(&start, |reference| reference.range.start).ok()
}

/// The token after the members and indexes that begin with this one.
pub(super) fn members(code: &Code<'_>, mut next: usize) -> Option<usize> {
    loop {
        match code.kind(next) {
            Some(Kind::Sign) if code.lexeme(next) == Lexeme::Dot => next += 2,
            Some(Kind::Open(Bracket::Index)) => next = code.partner(next)? + 1,
            _ => return Some(next),
        }
    }
}

/// The name of the variable whose declaration begins with this token, if its value is a reference: `const name = $json.name`.
pub(super) fn declared<'a>(code: &Code<'a>, index: usize, references: &[Reference]) -> Option<&'a str> {
    let is_declaration = code.lexeme(index) == Lexeme::Declaration && code.lexeme(index + 2) == Lexeme::Assign;
    let end = if is_declaration { reads(code, index + 3, references)? } else { return None };
    let ends =
        code.token(end).is_none_or(|next| next.begins_line || matches!(next.lexeme, Lexeme::Semicolon | Lexeme::Comma));
    ends.then(|| code.source(index + 1))
}

/// `null`, `undefined`, `void 0`, or an empty string.
fn is_nothing(code: &Code<'_>, index: usize) -> bool {
    let is_empty = |kind| matches!(kind, Kind::Text | Kind::Template) && code.source(index).len() == 2;
    matches!(code.lexeme(index), Lexeme::Nothing | Lexeme::Void) || code.kind(index).is_some_and(is_empty)
}
