//! Whether code provides for a value that may be missing.

use super::code::Code;
use super::token::Kind;

/// n8n's functions that ask whether there is a value, or replace one that is missing.
const FUNCTIONS: [&str; 6] = ["isEmpty", "isNotEmpty", "ifEmpty", "hasField", "$ifEmpty", "$if"];

pub(super) fn has_guard(code: &Code<'_>) -> bool {
    (0..code.list().len()).any(|index| match code.kind(index) {
        Some(Kind::Sign) => match code.source(index) {
            "?." | "??" | "||" | "&&" | "?" | "!" | "??=" | "||=" | "&&=" => true,
            "==" | "!=" | "===" | "!==" => is_nothing(code, index.wrapping_sub(1)) || is_nothing(code, index + 1),
            _ => false,
        },
        Some(Kind::Word) => {
            let word = code.source(index);
            matches!(word, "typeof" | "catch") || FUNCTIONS.contains(&word)
        }
        _ => false,
    })
}

/// `null`, `undefined`, or an empty string.
fn is_nothing(code: &Code<'_>, index: usize) -> bool {
    matches!(code.source(index), "null" | "undefined" | "''" | "\"\"" | "``")
}
