//! Whether code provides for values of several kinds: a text in one item, a number in another one.

use super::code::Code;
use super::guard::{at, end};
use super::lexeme::Lexeme;
use super::token::{Bracket, Kind};
use super::{Reference, Syntax};

/// Functions that take any value, and make one kind of it.
const CONVERTS: [&str; 5] = ["Boolean", "Number", "String", "parseFloat", "parseInt"];

/// Says of each reference whether the code provides for the kinds of its value; `references` are those in it.
pub(super) fn mark(code: &Code<'_>, references: &mut [Reference]) {
    let is_in_text = is_in_text(code);
    for first in 0..code.list().len() {
        let (Some(at), Some(next)) = (at(code, first, references), end(code, first, references)) else { continue };
        references[at].handles_kinds |= is_asked_for(code, first, next) || is_converted(code, first, next);
        references[at].is_in_text |= is_in_text && first == 0 && next == code.list().len();
    }
}

/// Whether n8n puts the value of the code into a text: there is something beside it. In JSON, the kind of a value matters even
/// there, unless it is in quotes.
fn is_in_text(code: &Code<'_>) -> bool {
    match code.syntax {
        Syntax::Code => false,
        Syntax::Template => true,
        Syntax::Expression => {
            let before = code.text.get("=".len()..code.range.start - "{{".len()).unwrap_or_default();
            let is_bare_json = before.trim_start().starts_with(['{', '[']) && !before.ends_with('"');
            let is_alone = before.is_empty() && code.range.end + "}}".len() >= code.text.len();
            !(is_bare_json || is_alone)
        }
    }
}

/// `typeof $json.a`, `Array.isArray($json.a)`
fn is_asked_for(code: &Code<'_>, first: usize, next: usize) -> bool {
    let open = first.wrapping_sub(1);
    code.lexeme_before(first) == Lexeme::Typeof
        || (is_argument(code, open, next) && code.calls(open, "Array", "isArray"))
}

/// `Number($json.a)`, `$json.a.toString()`, `[].concat($json.a)`
fn is_converted(code: &Code<'_>, first: usize, next: usize) -> bool {
    let is_text = code.lexeme(next).is_dot() && code.source(next + 1) == "toString" && code.opens(next + 2, '(');
    let open = first.wrapping_sub(1);
    let callee = first.wrapping_sub(2);
    is_text
        || is_argument(code, open, next)
            && (code.calls(open, "JSON", "stringify")
                || is_concat_of_empty_list(code, callee)
                || (CONVERTS.contains(&code.source(callee)) && !code.lexeme_before(callee).is_dot()))
}

/// Whether the tokens between are all of an argument; `open` is the bracket before it.
fn is_argument(code: &Code<'_>, open: usize, next: usize) -> bool {
    code.kind(open) == Some(Kind::Open(Bracket::Call)) && (code.closes(next, ')') || code.lexeme(next) == Lexeme::Comma)
}

/// `[].concat`
fn is_concat_of_empty_list(code: &Code<'_>, name: usize) -> bool {
    let before = |distance: usize| name.wrapping_sub(distance);
    code.source(name) == "concat"
        && code.lexeme(before(1)) == Lexeme::Dot
        && code.closes(before(2), ']')
        && code.opens(before(3), '[')
}

#[cfg(test)]
mod tests {
    use crate::workflow::expression::{Syntax, scan};

    #[test]
    fn what_asks_for_the_kind_or_converts_it_is_known() {
        for (code, expected) in [
            ("typeof $json.a === 'string'", true),
            ("Array.isArray($json.a)", true),
            ("Number($json.a)", true),
            ("parseInt($json.a, 10)", true),
            ("String($('X').first().json.a)", true),
            ("JSON.stringify($json.a)", true),
            ("[].concat($json.a).join()", true),
            ("$json.a.toString()", true),
            ("$json.a?.toString()", true),
            ("Number($json.a + 1)", false),
            ("Number($json.a.trim())", false),
            ("f.Number($json.a)", false),
            ("[1].concat($json.a)", false),
            ("f($json.a)", false),
            ("$json.a.toFixed()", false),
            ("$json.a", false),
        ] {
            let scanned = scan(&format!("={{{{ {code} }}}}"), Syntax::Expression);
            assert_eq!(scanned.references[0].handles_kinds, expected, "{code}");
        }
    }

    #[test]
    fn what_stands_alone_in_a_text_is_known() {
        for (text, expected) in [
            ("=Price: {{ $json.a }}", true),
            ("={{ $json.a }} EUR", true),
            ("={{ $json.a }}", false),
            ("=Price: {{ $json.a * 2 }}", false),
            ("=Price: {{ -$json.a }}", false),
            ("={\"price\": {{ $json.a }}}", false),
            ("={\"price\": \"{{ $json.a }}\"}", true),
        ] {
            assert_eq!(scan(text, Syntax::Expression).references[0].is_in_text, expected, "{text}");
        }
        assert!(scan("<b>{{ $json.a }}</b>", Syntax::Template).references[0].is_in_text);
        assert!(!scan("$json.a", Syntax::Code).references[0].is_in_text);
    }
}
