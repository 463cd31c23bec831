//! Member chains that begin with one of n8n's variables.

use std::cell::LazyCell;
use std::ops::Range;

use memchr::{memchr, memmem};

use super::code::Code;
use super::lexeme::Lexeme;
use super::lexer::tokens;
use super::literal::unquoted;
use super::token::{Bracket, Kind};
use super::{Access, NodeName, Notation, Origin, Reference, Scanned, Step, Which};

/// What an item has beside its `json` (`INodeExecutionData`), what n8n has at `$('X')`, `$input` and `$node["X"]`, and what every
/// object of JavaScript has.
const NOT_FIELDS: [&str; 26] = [
    "all",
    "binary",
    "constructor",
    "context",
    "data",
    "error",
    "evaluationData",
    "executionStatus",
    "first",
    "hasOwnProperty",
    "index",
    "isExecuted",
    "item",
    "itemMatching",
    "json",
    "last",
    "length",
    "metadata",
    "pairedItem",
    "parameter",
    "params",
    "redaction",
    "runIndex",
    "sendMessage",
    "toString",
    "valueOf",
];

/// One link of a chain, and the index of the token after it.
enum Link {
    Member(Step, usize),
    /// A computed index.
    Computed(usize),
    /// A call, and whether it has arguments.
    Call(bool, usize),
}

/// Adds what the code refers to. `is_cheerio`: `$` is not n8n's.
pub(super) fn find<F: FnOnce() -> bool>(code: &Code<'_>, is_cheerio: &LazyCell<bool, F>, scanned: &mut Scanned) {
    let mut finder = Finder { code, scanned };
    for (index, token) in code.list().iter().enumerate() {
        let is_member = || code.lexeme_before(index).is_dot();
        match token.lexeme {
            Lexeme::Node if is_member() && finder.is_of_item(index) => finder.node_list(index),
            Lexeme::Json | Lexeme::Node | Lexeme::Input | Lexeme::Dollar | Lexeme::Items
                if is_member() || finder.is_key(index) => {}
            Lexeme::Node => finder.node_list(index),
            Lexeme::Json => finder.reference(index, index + 1, Origin::Input(Which::Item), None),
            Lexeme::Input => finder.items(index, index + 1, None),
            Lexeme::Dollar if !**is_cheerio => finder.node(index),
            Lexeme::Items => finder.item_list(index),
            _ => {}
        }
    }
}

/// Whether `$` is a cheerio document, or another variable of the code, so that `$('…')` does not name a node.
pub(super) fn is_cheerio(code: &Code<'_>) -> bool {
    let is_mentioned = memmem::find(&code.text.as_bytes()[code.range.clone()], b"cheerio").is_some();
    code.list().iter().enumerate().any(|(index, token)| match token.lexeme {
        Lexeme::Cheerio => true,
        Lexeme::Dollar => {
            is_bound(code, index)
                || matches!(code.lexeme(index + 1), Lexeme::Assign | Lexeme::Arrow)
                || matches!(code.lexeme_before(index), Lexeme::Declaration | Lexeme::Function)
        }
        _ => is_mentioned && token.kind == Kind::Text && code.source(index).contains("cheerio"),
    })
}

/// Whether it is a parameter of a function, or a part of what a pattern binds: `(a, $) =>`, `const {load: $} =`, `[$] =`.
fn is_bound(code: &Code<'_>, index: usize) -> bool {
    let ends = |index| code.lexeme(index) == Lexeme::Comma || matches!(code.kind(index), Some(Kind::Close(_)));
    let begins = matches!(code.lexeme_before(index), Lexeme::Comma | Lexeme::Colon)
        || matches!(code.before(index), Some(Kind::Open(_)));
    begins && ends(index + 1) && code.enclosing(index).is_some_and(|open| binds(code, open))
}

/// Whether a bracket encloses parameters, or a pattern.
fn binds(code: &Code<'_>, open: usize) -> bool {
    let Some(close) = code.partner(open) else { return false };
    if code.opens(open, '(') {
        return code.lexeme(close + 1) == Lexeme::Arrow || code.opens(close + 1, '{');
    }
    code.lexeme(close + 1) == Lexeme::Assign
        || code.lexeme_before(open) == Lexeme::Declaration
        || code.enclosing(open).is_some_and(|outer| binds(code, outer))
}

struct Finder<'a, 'b> {
    code: &'a Code<'b>,
    scanned: &'a mut Scanned,
}

impl Finder<'_, '_> {
    /// `{$json: 1}`
    fn is_key(&self, index: usize) -> bool {
        let follows = || self.code.lexeme_before(index) == Lexeme::Comma || self.code.opens(index.wrapping_sub(1), '{');
        self.code.lexeme(index + 1) == Lexeme::Colon && follows()
    }

    /// `$item(0).$node`
    fn is_of_item(&self, index: usize) -> bool {
        let open = index.checked_sub(2).and_then(|close| self.code.partner(close));
        open.and_then(|open| open.checked_sub(1)).is_some_and(|callee| self.code.source(callee) == "$item")
    }

    /// The link that begins with this token.
    fn link(&self, index: usize) -> Option<Link> {
        let lexeme = self.code.lexeme(index);
        let is_optional = lexeme == Lexeme::OptionalDot;
        match self.code.kind(index + 1) {
            Some(Kind::Word) if lexeme.is_dot() => {
                Some(Link::Member(Step::Name(self.code.source(index + 1).to_owned()), index + 2))
            }
            _ => self.bracket(index + usize::from(is_optional), is_optional),
        }
    }

    fn bracket(&self, index: usize, is_optional: bool) -> Option<Link> {
        let Some(Kind::Open(bracket)) = self.code.kind(index) else { return None };
        let close = self.code.partner(index)?;
        match bracket {
            Bracket::Call => Some(Link::Call(close > index + 1, close + 1)),
            Bracket::Group if is_optional => Some(Link::Call(close > index + 1, close + 1)),
            Bracket::Index => Some(self.index(index + 1, close)),
            Bracket::List if is_optional => Some(self.index(index + 1, close)),
            _ => None,
        }
    }

    fn index(&self, index: usize, close: usize) -> Link {
        let source = self.code.source(index);
        let step = match self.code.kind(index) {
            _ if close != index + 1 => None,
            Some(Kind::Text | Kind::Template) => Some(Step::Name(unquoted(source))),
            Some(Kind::Number) => source.parse().ok().map(Step::Index),
            _ => None,
        };
        step.map_or(Link::Computed(close + 1), |step| Link::Member(step, close + 1))
    }

    /// `.name` after this token, if it is not called: the index after it.
    fn member(&self, index: usize, name: &str) -> Option<usize> {
        match self.link(index)? {
            Link::Member(Step::Name(found), next) if found == name => Some(next),
            _ => None,
        }
    }

    /// Reads the path after the item's `json`, or where that should be, and adds the reference.
    fn reference(&mut self, first: usize, mut next: usize, origin: Origin, meant: Option<&'static str>) {
        // Each step with the tokens that it consists of.
        let mut steps = Vec::new();
        while let Some(Link::Member(step, after)) = self.link(next) {
            steps.push((step, next..after));
            next = after;
        }
        let is_written = self.code.lexeme(next) == Lexeme::Assign || self.code.lexeme_before(first) == Lexeme::Delete;
        if matches!(self.link(next), Some(Link::Call(..))) {
            // The name of a method.
            next = steps.pop().map_or(next, |(_, tokens)| tokens.start);
        }
        // In brackets, it is rather a member of the item itself.
        let is_below = steps.len() > 1;
        let is_length = |(step, tokens): &(Step, Range<usize>)| {
            let is_word = self.code.kind(tokens.end - 1) == Some(Kind::Word);
            matches!(step, Step::Name(name) if name == "length") && (is_word || is_below)
        };
        let length = steps.pop_if(|last| is_length(last));
        let end = length.as_ref().map_or(next, |(_, tokens)| tokens.start);
        let token = |index: usize| self.code.token(index);
        let (Some(start), Some(last)) = (token(first), end.checked_sub(1).and_then(token)) else { return };
        let range = start.start()..last.end();
        let path: Vec<_> = steps.into_iter().map(|(step, _)| step).collect();
        if meant.is_some() && path.is_empty() {
            return;
        }
        let received = path.len();
        let takes_length = length.is_some();
        let is_written = is_written && !takes_length;
        self.scanned.references.push(Reference {
            origin,
            path,
            takes_length,
            range,
            taken_from: None,
            is_guarded: false,
            is_written,
            received,
            meant,
            handles_kinds: false,
            is_in_text: false,
        });
    }

    /// The item that is read from a node or from the input: `.item.json`, `.first().json`, `.all()[0].json`.
    fn items(&mut self, first: usize, index: usize, name: Option<&str>) {
        let Some(Link::Member(Step::Name(method), next)) = self.link(index) else { return };
        let called = match self.link(next) {
            Some(Link::Call(has_arguments, after)) => Some((has_arguments, after)),
            _ => None,
        };
        let output = self.output(next + 1);
        // Whether the arguments name a run, or are computed.
        let is_of_another_run = |has_arguments: bool| has_arguments && output.is_none_or(|(_, is_alone)| !is_alone);
        let (which, next) = match (method.as_str(), called) {
            ("item", None) => return self.json(first, next, name, (None, Which::Item)),
            ("item" | "json", _) | ("first" | "last" | "all", None) => {
                return self.without_call(first, (&method, next, called.map(|(_, after)| after)), name);
            }
            ("pairedItem", Some((has_arguments, after))) => {
                let which = if has_arguments { Which::Any } else { Which::Item };
                return self.json(first, after, name, (None, which));
            }
            ("itemMatching", Some((_, after))) => return self.json(first, after, name, (None, Which::Any)),
            ("first" | "last", Some((has_arguments, after))) if is_of_another_run(has_arguments) => (Which::Any, after),
            ("first", Some((_, after))) => (Which::First, after),
            ("last", Some((_, after))) => (Which::Last, after),
            ("all", Some((has_arguments, after))) => match self.element(after, is_of_another_run(has_arguments)) {
                Some(element) => element,
                None => {
                    return self.meant(first, self.member(after, "json"), origin(name, Which::First), "all()[0].json");
                }
            },
            ("length", None) => return self.number_of_items(first, next, name),
            (method, None) if !NOT_FIELDS.contains(&method) => {
                return self.meant(first, Some(index), origin(name, Which::Item), "item.json");
            }
            _ => return,
        };
        self.json(first, next, name, (output.map(|(output, _)| output), which));
    }

    /// What is read of a method that is not called, of `item` that is, or of a node's `json`: nothing has it.
    fn without_call(&mut self, first: usize, (method, next, after): (&str, usize, Option<usize>), name: Option<&str>) {
        let (which, meant) = match (method, after) {
            ("json", None) => return self.meant(first, Some(next), origin(name, Which::Item), "item.json"),
            ("item", Some(_)) => (Which::Item, "item.json"),
            ("first", None) => (Which::First, "first().json"),
            ("last", None) => (Which::Last, "last().json"),
            ("all", None) => return self.length(first, next, name),
            _ => return,
        };
        self.meant(first, self.member(after.unwrap_or(next), "json"), origin(name, which), meant);
    }

    /// `$('X').all.length`
    fn length(&mut self, first: usize, index: usize, name: Option<&str>) {
        if let Some(next) = self.member(index, "length") {
            self.number_of_items(first, next, name);
        }
    }

    /// The length of what is no list of items; `next` is the token after it.
    fn number_of_items(&mut self, first: usize, next: usize, name: Option<&str>) {
        let (Some(start), Some(last)) = (self.code.token(first), self.code.token(next - 1)) else { return };
        self.scanned.references.push(Reference {
            origin: origin(name, Which::First),
            path: Vec::new(),
            takes_length: false,
            range: start.start()..last.end(),
            taken_from: None,
            is_guarded: false,
            is_written: false,
            received: 0,
            meant: Some("all().length"),
            handles_kinds: false,
            is_in_text: false,
        });
    }

    /// A reference in which something is missing before the path, which begins with the token `next`.
    fn meant(&mut self, first: usize, next: Option<usize>, origin: Origin, meant: &'static str) {
        if let Some(next) = next {
            self.reference(first, next, origin, Some(meant));
        }
    }

    /// The number of an output as an argument, and whether none follows it.
    fn output(&self, index: usize) -> Option<(u64, bool)> {
        let output = self.code.source(index).parse().ok().filter(|_| self.code.kind(index) == Some(Kind::Number))?;
        let is_alone = self.code.closes(index + 1, ')');
        (is_alone || self.code.lexeme(index + 1) == Lexeme::Comma).then_some((output, is_alone))
    }

    /// An element of a list of items.
    fn element(&self, index: usize, is_of_another_run: bool) -> Option<(Which, usize)> {
        match self.link(index)? {
            Link::Member(Step::Index(at), next) if !is_of_another_run => Some((Which::At(at), next)),
            Link::Member(Step::Index(_), next) | Link::Computed(next) => Some((Which::Any, next)),
            _ => None,
        }
    }

    fn json(&mut self, first: usize, index: usize, name: Option<&str>, (output, which): (Option<u64>, Which)) {
        let origin = name.map_or(Origin::Input(which), |name| Origin::Node { name: name.to_owned(), output, which });
        match self.link(index) {
            Some(Link::Member(Step::Name(member), next)) if member == "json" => {
                self.reference(first, next, origin, None)
            }
            // A field of the item that is rather one of its `json`.
            Some(Link::Member(Step::Name(member), _)) if !NOT_FIELDS.contains(&member.as_str()) => {
                self.reference(first, index, origin, Some("json"));
            }
            _ => {}
        }
    }

    fn is_literal(&self, index: usize) -> bool {
        matches!(self.code.kind(index), Some(Kind::Text | Kind::Template))
    }

    /// Adds the name in this literal; `first` and `after` are the tokens around the whole reference.
    fn name(&mut self, index: usize, first: usize, after: usize) -> String {
        let source = self.code.source(index);
        let name = unquoted(source);
        let quote = source.chars().next().unwrap_or('"');
        self.named(index, name.clone(), Notation::Quoted(quote), first..after);
        name
    }

    fn named(&mut self, index: usize, name: String, notation: Notation, tokens: Range<usize>) {
        let token_at = |index: usize| self.code.token(index);
        let (Some(token), Some(first), Some(last)) =
            (token_at(index), token_at(tokens.start), token_at(tokens.end.saturating_sub(1)))
        else {
            return;
        };
        let source = first.start()..last.end();
        let start = match notation {
            Notation::Quoted(_) => token.start(),
            Notation::Member { .. } => self.code.token(index - 1).map_or(token.start(), |dot| dot.start()),
        };
        let access = match self.link(tokens.end) {
            // The list itself.
            _ if self.code.lexeme(tokens.start) == Lexeme::Items => Access::Items,
            Some(Link::Member(Step::Name(member), _)) => match member.as_str() {
                "isExecuted" => Access::IsExecuted,
                "item" | "pairedItem" | "itemMatching" => Access::PairedItem,
                "first" | "last" | "all" | "json" | "binary" => Access::Items,
                _ => Access::Other,
            },
            _ => Access::Other,
        };
        let range = start..token.end();
        self.scanned.names.push(NodeName {
            name,
            range,
            source,
            access,
            is_guarded: false,
            is_in_comment: false,
            notation,
        });
    }

    /// `$('X')`
    fn node(&mut self, index: usize) {
        if self.code.kind(index + 1) != Some(Kind::Open(Bracket::Call)) {
            return;
        }
        match self.code.partner(index + 1) {
            Some(close) if close == index + 3 && self.is_literal(index + 2) => {
                let name = self.name(index + 2, index, close + 1);
                self.items(index, close + 1, Some(&name));
            }
            Some(close) if close > index + 2 => self.scanned.dynamic_names += 1,
            _ => {}
        }
    }

    /// `$items("X")[0]`, `$items("X", output, run)[0]`, `$items()[0]`
    fn item_list(&mut self, index: usize) {
        let Some(close) = self.code.partner(index + 1).filter(|_| self.code.opens(index + 1, '(')) else { return };
        let has_more = self.code.lexeme(index + 3) == Lexeme::Comma;
        let name = match self.code.kind(index + 2) {
            Some(Kind::Close(_)) => None,
            _ if self.is_literal(index + 2) && (has_more || close == index + 3) => {
                Some(self.name(index + 2, index, close + 1))
            }
            _ => {
                self.scanned.dynamic_names += 1;
                return;
            }
        };
        let output = self.output(index + 4).filter(|_| has_more);
        let is_of_another_run = has_more && output.is_none_or(|(_, is_alone)| !is_alone);
        if let Some((which, next)) = self.element(close + 1, is_of_another_run) {
            // n8n reads the first output of a node, whatever leads here (`$items` in `workflow-data-proxy.ts`).
            let is_first = name.is_some() && !has_more;
            let output = output.map(|(output, _)| output).or(is_first.then_some(0));
            self.json(index, next, name.as_deref(), (output, which));
        }
    }

    /// `$node["X"].json`, `$node.X.json`
    fn node_list(&mut self, index: usize) {
        let (name, next) = match self.link(index + 1) {
            Some(Link::Member(Step::Name(name), next)) if self.code.kind(next - 1) == Some(Kind::Word) => {
                let is_optional = self.code.lexeme(index + 1) == Lexeme::OptionalDot;
                self.named(next - 1, name.clone(), Notation::Member { is_optional }, index..next);
                (name, next)
            }
            Some(Link::Member(Step::Name(_), next)) => (self.name(next - 2, index, next), next),
            Some(Link::Member(..) | Link::Computed(_)) => {
                self.scanned.dynamic_names += 1;
                return;
            }
            _ => return,
        };
        self.json(index, next, Some(&name), (None, Which::Item));
    }
}

/// Items of a node, in any of its outputs, or of the input.
fn origin(name: Option<&str>, which: Which) -> Origin {
    name.map_or(Origin::Input(which), |name| Origin::Node { name: name.to_owned(), output: None, which })
}

/// Adds the nodes that are named in comments. n8n renames them too.
pub(super) fn names_in_comments<F: FnOnce() -> bool>(
    code: &Code<'_>,
    is_cheerio: &LazyCell<bool, F>,
    scanned: &mut Scanned,
) {
    for comment in &code.tokens.comments {
        let inside = comment.start + 2..comment.end;
        if code.text.get(inside.clone()).is_none_or(|inside| memchr(b'$', inside.as_bytes()).is_none()) {
            continue;
        }
        let tokens = tokens(code.text, inside.clone(), None, true);
        let comment = Code { text: code.text, tokens, range: inside, syntax: code.syntax, is_closed: false };
        let mut found = Scanned::default();
        find(&comment, is_cheerio, &mut found);
        scanned.names.extend(found.names.into_iter().map(|mut name| {
            name.is_in_comment = true;
            name
        }));
    }
}

#[cfg(test)]
mod tests {
    use crate::workflow::expression::{Syntax, scan};

    #[test]
    fn a_dollar_that_the_code_binds_names_no_node() {
        let names = |code: &str| scan(&format!("{code} $('X')"), Syntax::Code).names.len();
        for bound in [
            "(a, $, b) =>",
            "items.map(($) => 1);",
            "const {$} = q;",
            "const {load: $, a} = q;",
            "const [$] = q;",
            "[a, {b: [$]}] = q;",
            "rows.map(({ $ }) => 1);",
        ] {
            assert_eq!(names(bound), 0, "{bound}");
        }
        for free in ["f({ $, a: $ }, [$]);", "if (a) { f($) }"] {
            assert_eq!(names(free), 1, "{free}");
        }
    }
}
