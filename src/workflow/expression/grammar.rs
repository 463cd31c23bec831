//! Detects what n8n's parser refuses, as far as adjacent tokens show it. What it accepts must never be a fault: it is
//! esprima in its tolerant mode, in which arguments and members need no comma between them.

use super::Syntax;
use super::code::Code;
use super::fault::{Fault, FaultKind};
use super::lexeme::Lexeme;
use super::literal::is_identifier;
use super::token::{Bracket, Kind};

/// The first reason why the code is refused.
pub(super) fn fault(code: &Code<'_>) -> Option<Fault> {
    let is_unclosed = code.syntax == Syntax::Expression && !code.is_closed;
    let of_kind = |kind, at| Fault { kind, at, is_cut: code.is_closed && is_cut(kind, code), is_unclosed };
    // The brackets first: adjacent tokens are only certain if brackets match.
    let first = code.tokens.fault.or_else(|| pairs(code)).or_else(|| whole(code));
    first.filter(|_| !tolerates_bracket(code)).map(|(kind, at)| of_kind(kind, at))
}

/// esprima does not require the `)` of an `if` or a loop, so nothing can be said about what follows.
fn tolerates_bracket(code: &Code<'_>) -> bool {
    let is_open =
        |index: &usize| code.kind(*index) == Some(Kind::Open(Bracket::Control)) && code.partner(*index).is_none();
    code.syntax != Syntax::Code && (0..code.list().len()).any(|index| is_open(&index))
}

/// Whether the code ends inside something, and a later `}}` may have been intended.
fn is_cut(kind: FaultKind, code: &Code<'_>) -> bool {
    let is_open = matches!(
        kind,
        FaultKind::UnclosedString
            | FaultKind::UnclosedTemplate
            | FaultKind::UnclosedRegex
            | FaultKind::UnclosedBracket(_)
    );
    is_open && code.text.get(code.range.end + 2..).is_some_and(|rest| rest.contains("}}"))
}

/// n8n takes the first statement of an expression as its value.
fn whole(code: &Code<'_>) -> Option<(FaultKind, usize)> {
    if code.syntax == Syntax::Code {
        return None;
    }
    let Some(first) = code.token(0) else { return Some((FaultKind::Empty, code.range.start)) };
    let is_statement = match code.source(0) {
        "if" | "for" | "while" | "do" | "switch" | "try" | "throw" | "return" | "const" | "var" | "class"
        | "function" | "break" | "continue" | "export" | "debugger" | ";" => true,
        // A label.
        word => is_identifier(word) && code.lexeme(1) == Lexeme::Colon,
    };
    is_statement.then_some((FaultKind::Statement, first.start()))
}

/// Checks each token against the one before it.
fn pairs(code: &Code<'_>) -> Option<(FaultKind, usize)> {
    let mut open = Vec::new();
    for index in 0..=code.list().len() {
        let at = code.token(index).map_or(code.range.end, |token| token.start());
        let kind = pair(code, index, open.last().copied());
        if let Some(kind) = kind {
            return Some((kind, at));
        }
        match code.kind(index) {
            Some(Kind::Open(bracket)) => open.push(Some(bracket)),
            Some(Kind::TemplateHead) => open.push(None),
            Some(Kind::Close(_) | Kind::TemplateTail) => drop(open.pop()),
            _ => {}
        }
    }
    None
}

/// `inside`: the bracket around it, `Some(None)` in a placeholder of a template literal.
fn pair(code: &Code<'_>, index: usize, inside: Option<Option<Bracket>>) -> Option<FaultKind> {
    let (before, this) = (code.lexeme_before(index), code.lexeme(index));
    let kind = code.kind(index);
    if before == Lexeme::Dot {
        return (kind != Some(Kind::Word)).then_some(FaultKind::Dot);
    }
    if this.is_dot() {
        let follows_value = !matches!(code.before(index), None | Some(Kind::Sign)) && !is_open(code.before(index));
        let is_refused = !follows_value && before != Lexeme::Step || follows_key(code, index);
        return is_refused.then_some(FaultKind::Dot);
    }
    if before == Lexeme::OptionalDot {
        let fits = matches!(kind, Some(Kind::Word | Kind::Open(Bracket::Group | Bracket::List) | Kind::Template));
        return (!fits && kind != Some(Kind::TemplateHead)).then_some(FaultKind::Dot);
    }
    let lacks_left = is_binary(code, index) && !follows_value(code, index);
    let lacks_right = index > 0 && needs_right(code, index - 1) && ends(code, index);
    // esprima reads `{ day*: 4 }` as two members.
    let may_be_member = inside == Some(Some(Bracket::Object)) && (this == Lexeme::Star || before == Lexeme::Star);
    if (lacks_left || lacks_right) && !may_be_member {
        return Some(FaultKind::Operand);
    }
    follow_each_other(code, index, inside).then_some(FaultKind::Operator)
}

/// `{$json.a}`: the first name in an object of an expression. After a colon, it may be the block of a label.
fn follows_key(code: &Code<'_>, index: usize) -> bool {
    let Some(brace) = index.checked_sub(2) else { return false };
    code.kind(brace) == Some(Kind::Open(Bracket::Object))
        && code.before(index) == Some(Kind::Word)
        && code.syntax != Syntax::Code
        && code.lexeme_before(brace) != Lexeme::Colon
}

fn is_open(kind: Option<Kind>) -> bool {
    matches!(kind, Some(Kind::Open(_) | Kind::TemplateHead | Kind::TemplateMiddle))
}

/// Whether the operator is binary wherever it stands.
fn is_binary(code: &Code<'_>, index: usize) -> bool {
    match code.lexeme(index) {
        // `function*`, `{ *keys() {} }`, `import * as`
        Lexeme::Star => !matches!(code.lexeme_before(index), Lexeme::Function | Lexeme::Yield | Lexeme::Modifier),
        lexeme => lexeme.is_binary(),
    }
}

fn follows_value(code: &Code<'_>, index: usize) -> bool {
    match code.before(index) {
        None => false,
        Some(_) if code.lexeme(index) == Lexeme::Star && may_mark_generator(code, index) => true,
        Some(Kind::Sign) => code.lexeme_before(index) == Lexeme::Step,
        kind => !is_open(kind),
    }
}

/// Whether a generator may be declared here: in an object or a class.
fn may_mark_generator(code: &Code<'_>, index: usize) -> bool {
    let is_brace = |bracket| matches!(bracket, Bracket::Object | Bracket::Block);
    match code.before(index) {
        Some(Kind::Open(bracket) | Kind::Close(bracket)) => is_brace(bracket),
        _ => matches!(code.lexeme_before(index), Lexeme::Comma | Lexeme::Semicolon),
    }
}

/// Whether the operator cannot be the last token.
fn needs_right(code: &Code<'_>, index: usize) -> bool {
    is_binary(code, index) || matches!(code.lexeme(index), Lexeme::Not | Lexeme::Prefix | Lexeme::Arrow)
}

/// Whether nothing, a closing bracket or a separator is here.
fn ends(code: &Code<'_>, index: usize) -> bool {
    match code.kind(index) {
        None | Some(Kind::Close(_) | Kind::TemplateMiddle | Kind::TemplateTail) => true,
        Some(Kind::Sign) => {
            matches!(code.lexeme(index), Lexeme::Comma | Lexeme::Semicolon | Lexeme::Colon) || is_binary(code, index)
        }
        _ => false,
    }
}

/// Whether two values are adjacent, separated neither by a line break nor by esprima's tolerance.
fn follow_each_other(code: &Code<'_>, index: usize, inside: Option<Option<Bracket>>) -> bool {
    let Some(this) = code.token(index) else { return false };
    let may_end_statement = matches!(inside, None | Some(Some(Bracket::Block)));
    let is_separated = match inside {
        Some(Some(Bracket::Call | Bracket::Object)) if code.syntax != Syntax::Code => true,
        Some(Some(Bracket::Control)) => true,
        _ => may_end_statement && this.begins_line,
    };
    let begins = match this.kind {
        Kind::Number | Kind::Text => true,
        Kind::Word => !this.lexeme.is_special(),
        _ => false,
    };
    begins && !is_separated && ends_value(code, index)
}

/// Whether the token before this one surely ends a value.
fn ends_value(code: &Code<'_>, index: usize) -> bool {
    let Some(before) = index.checked_sub(1) else { return false };
    match code.before(index) {
        Some(Kind::Number | Kind::Text | Kind::Regex | Kind::Template | Kind::TemplateTail) => true,
        Some(Kind::Close(Bracket::Index | Bracket::List | Bracket::Call | Bracket::Group)) => true,
        Some(Kind::Word) => code.lexeme_before(before).is_dot() || !code.lexeme(before).is_special(),
        _ => false,
    }
}
