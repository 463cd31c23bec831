//! Fields that a declaration takes from a reference: `const { name, age: years = 1 } = $json`. Only this flat form is read.

use std::ops::Range;

use super::code::Code;
use super::lexeme::Lexeme;
use super::token::Kind;
use super::{Reference, Step};

/// A field in a pattern.
struct Member {
    /// The token that names it.
    name: usize,
    /// The token of the variable that gets its value.
    variable: usize,
    has_default: bool,
}

/// The fields that declarations take from these references, and the variables that get their values.
pub(super) fn fields<'b>(code: &Code<'b>, references: &[Reference]) -> (Vec<Reference>, Vec<&'b str>) {
    let (mut fields, mut variables) = (Vec::new(), Vec::new());
    for whole in references.iter().filter(|whole| whole.meant.is_none() && !whole.takes_length) {
        for member in members(code, &whole.range).unwrap_or_default() {
            variables.push(code.source(member.variable));
            fields.extend(field(code, whole, &member));
        }
    }
    (fields, variables)
}

fn field(code: &Code<'_>, whole: &Reference, member: &Member) -> Option<Reference> {
    let name = Step::Name(code.source(member.name).to_owned());
    let path = [&whole.path[..], &[name]].concat();
    Some(Reference {
        received: path.len(),
        path,
        range: code.token(member.name)?.range(),
        is_guarded: member.has_default,
        taken_from: Some(whole.range.clone()),
        ..whole.clone()
    })
}

/// The members of the pattern in `const { … } = SOURCE`; `None` if the source is not the whole value, or the pattern is not flat.
fn members(code: &Code<'_>, source: &Range<usize>) -> Option<Vec<Member>> {
    let first = code.list().partition_point(|token| token.start() < source.start);
    let next = code.list().partition_point(|token| token.end() <= source.end);
    let close =
        first.checked_sub(2).filter(|close| code.closes(*close, '}') && code.lexeme(first - 1) == Lexeme::Assign)?;
    let open = code.partner(close).filter(|open| code.lexeme_before(*open) == Lexeme::Declaration)?;
    let ends = match code.token(next) {
        Some(token) => token.begins_line || matches!(token.lexeme, Lexeme::Semicolon | Lexeme::Comma),
        None => true,
    };
    // A next line can go on with the same value: `.a`, `|| x`.
    let goes_on =
        code.kind(next) == Some(Kind::Sign) && !matches!(code.lexeme(next), Lexeme::Semicolon | Lexeme::Comma);
    let (mut members, mut at) = (Vec::new(), open + 1);
    while ends && !goes_on && at < close {
        let (member, after) = member(code, at)?;
        members.extend(member);
        at = after;
    }
    Some(members)
}

/// The member that begins with this token, none for the rest of them; and the token after its comma.
fn member(code: &Code<'_>, at: usize) -> Option<(Option<Member>, usize)> {
    if code.source(at) == "..." {
        return ends(code, at + 2).then_some((None, at + 3));
    }
    let is_name = |index: usize| code.kind(index) == Some(Kind::Word);
    let variable = if code.lexeme(at + 1) == Lexeme::Colon { at + 2 } else { at };
    if !is_name(at) || !is_name(variable) {
        return None;
    }
    let has_default = code.lexeme(variable + 1) == Lexeme::Assign;
    let mut after = variable + 1;
    while has_default && !ends(code, after) {
        after = match (code.kind(after)?, code.partner(after)) {
            (Kind::Open(_), Some(close)) if close > after => close + 1,
            _ => after + 1,
        };
    }
    ends(code, after).then_some((Some(Member { name: at, variable, has_default }), after + 1))
}

/// Whether a member of a pattern ends before this token.
fn ends(code: &Code<'_>, index: usize) -> bool {
    code.lexeme(index) == Lexeme::Comma || code.closes(index, '}')
}

#[cfg(test)]
mod tests {
    use crate::workflow::expression::{Step, Syntax, scan};

    /// The fields that are taken from something, with `?` if they are guarded.
    fn taken(text: &str) -> Vec<String> {
        let references = scan(text, Syntax::Code).references.into_iter();
        let shown = |name: &Step| if let Step::Name(name) = name { name.clone() } else { String::new() };
        references
            .filter_map(|one| {
                let source = text[one.taken_from?].to_owned();
                let path: Vec<_> = one.path.iter().map(shown).collect();
                Some(format!("{source}: {}{}", path.join("."), if one.is_guarded { "?" } else { "" }))
            })
            .collect()
    }

    #[test]
    fn a_flat_pattern_takes_fields() {
        for (text, expected) in [
            ("const { a } = $json;", &["$json: a"][..]),
            (
                "const { a: b, c = f(1, {d: 2}), e: g = 1, ...rest } = $json\nf(rest)",
                &["$json: a", "$json: c?", "$json: e?"],
            ),
            ("let { a, } = $input.first().json", &["$input.first().json: a"]),
            ("const { a } = $('X').first().json.b, c = 1", &["$('X').first().json.b: b.a"]),
            ("const { a: { b } } = $json", &[]),
            ("const { 'a b': c } = $json", &[]),
            ("const { [a]: c } = $json", &[]),
            ("const { a } = $json.b.map(f)", &[]),
            ("const { a } = $json\n  .b(1)", &[]),
            ("const { a } = $json || {}", &[]),
            ("({ a } = $json)", &[]),
            ("const [a] = $json", &[]),
            ("const a = $json", &[]),
            ("const $json = 1; const { a } = f($json)", &[]),
        ] {
            assert_eq!(taken(text), expected, "{text}");
        }
    }

    #[test]
    fn an_if_that_asks_for_the_variable_is_a_guard() {
        assert_eq!(taken("const { a: b, c } = $json; if (b) f(c)"), ["$json: a?", "$json: c?"]);
        assert_eq!(taken("const { a: b, c } = $json; if (a) f(c)"), ["$json: a", "$json: c"]);
    }

    #[test]
    fn what_the_code_sets_is_not_taken() {
        let received = |text: &str| -> Vec<_> {
            let references = scan(text, Syntax::Code).references.into_iter();
            references.filter(|one| one.taken_from.is_some()).map(|one| one.received).collect()
        };
        assert_eq!(received("const { a } = $json; f($json.b)"), [1]);
        assert_eq!(received("$json.a = 1; const { a, b } = $json"), [0, 1]);
        assert_eq!(received("const $json = f(); const { a } = $json"), [0]);
    }
}
