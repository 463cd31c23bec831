//! Whether code provides for a value that may be missing.

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

pub(super) fn has_guard(code: &Code<'_>) -> bool {
    (0..code.list().len()).any(|index| match code.kind(index) {
        Some(Kind::Sign) => match code.source(index) {
            "?." | "??" | "||" | "&&" | "?" | "!" | "??=" | "||=" | "&&=" => true,
            "==" | "!=" | "===" | "!==" => is_nothing(code, index.wrapping_sub(1)) || is_nothing(code, index + 1),
            _ => false,
        },
        Some(Kind::Word) => {
            let word = code.source(index);
            matches!(word, "typeof" | "catch") || FUNCTIONS.contains(&word) || asks_for_value(code, index)
        }
        _ => false,
    })
}

/// `'name' in $json`, `if ($json.name)`
fn asks_for_value(code: &Code<'_>, index: usize) -> bool {
    match code.source(index) {
        "in" => matches!(code.before(index), Some(Kind::Text | Kind::Template)),
        "if" | "while" => code.partner(index + 1).is_some_and(|close| {
            let is_link = |index: usize| match code.kind(index) {
                Some(Kind::Sign) => code.source(index) == ".",
                Some(Kind::Open(bracket)) => bracket == Bracket::Index,
                kind => kind.is_some(),
            };
            code.source(index + 2).starts_with("$json") && (index + 2..close).all(is_link)
        }),
        _ => false,
    }
}

/// `null`, `undefined`, or an empty string.
fn is_nothing(code: &Code<'_>, index: usize) -> bool {
    matches!(code.source(index), "null" | "undefined" | "''" | "\"\"" | "``")
}
