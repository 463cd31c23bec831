//! What code may have set itself before it reads it: that says nothing about the items that the node received.
//!
//! Which object a variable holds is not followed. A field counts as set from the end of the first statement that assigns to
//! its name, whatever the object is: `line.total = 1`. Below a reference, or a variable that was declared as one, everything
//! counts as set once a computed member is assigned, `Object.assign` adds to it, or a list gets other elements.

use std::collections::{HashMap, HashSet};

use super::code::Code;
use super::guard::{at, declared, members, reads};
use super::lexeme::Lexeme;
use super::literal::unquoted;
use super::token::{Bracket, Kind};
use super::{Origin, Reference, Step};

/// How many changes of objects are remembered. Code that people write has a handful.
const MAX_CHANGES: usize = 100;

/// Methods that put other elements into a list.
const CHANGES_LIST: [&str; 4] = ["push", "unshift", "splice", "fill"];

/// Says of each reference how much of it the items must have; `references` are those in it.
pub(super) fn mark(code: &Code<'_>, references: &mut [Reference]) {
    let writes = read(code, references);
    for reference in references {
        reference.received = writes.received(code, reference);
        reference.is_written |= writes.targets.contains(&reference.range.start) || writes.redeclares(code, reference);
    }
}

/// From where on a field counts as set, bytes.
struct Since {
    after: usize,
    /// A function that is declared further down can be called earlier: what it assigns counts before it, too.
    before: usize,
}

/// An object that gets other fields, and where it has them.
struct Change {
    origin: Origin,
    path: Vec<Step>,
    after: usize,
}

#[derive(Default)]
struct Writes<'b> {
    /// The names of fields that are assigned.
    names: HashMap<String, Since>,
    changes: Vec<Change>,
    /// Where the references begin that a pattern assigns to: `[$json.a] = …`.
    targets: HashSet<usize>,
    /// Variables of n8n that are parameters or variables of the code.
    redeclared: HashSet<&'b str>,
}

impl Writes<'_> {
    /// How many steps of the path are not set by the code.
    fn received(&self, code: &Code<'_>, reference: &Reference) -> usize {
        let start = reference.range.start;
        if self.redeclares(code, reference) {
            return 0;
        }
        let is_set =
            |name: &str| self.names.get(name).is_some_and(|since| start >= since.after || start < since.before);
        let named = reference.path.iter().position(|step| matches!(step, Step::Name(name) if is_set(name)));
        let changed = self.changes.iter().filter(|change| start >= change.after && change.contains(reference));
        changed.map(|change| change.path.len()).chain(named).min().unwrap_or(reference.path.len())
    }

    /// Whether the variable of a reference is one of the code.
    fn redeclares(&self, code: &Code<'_>, reference: &Reference) -> bool {
        let source = reference.taken_from.as_ref().unwrap_or(&reference.range);
        let text = code.text.get(source.clone()).unwrap_or_default();
        self.redeclared.iter().any(|name| text.starts_with(name))
    }
}

impl Change {
    fn contains(&self, reference: &Reference) -> bool {
        let is_of_one_node = match (&self.origin, &reference.origin) {
            (Origin::Input(_), Origin::Input(_)) => true,
            (Origin::Node { name, .. }, Origin::Node { name: other, .. }) => name == other,
            _ => false,
        };
        is_of_one_node && reference.path.starts_with(&self.path)
    }
}

/// A bracket, and what is known of the tokens in it.
#[derive(Clone, Copy)]
struct Enclosing {
    open: usize,
    close: usize,
    /// For a pattern that is assigned to, where it has its values.
    target: Option<usize>,
    /// Whether it holds parameters, or the pattern of a declaration.
    declares: bool,
    /// Whether it holds the arguments of an `Object.assign` that adds to something that existed.
    adds: bool,
    /// For an object whose members are added to another one, where that has them.
    added: Option<usize>,
    /// Whether it is in a function that is declared with a name.
    is_in_function: bool,
}

struct Reader<'a, 'b> {
    code: &'a Code<'b>,
    references: &'a [Reference],
    /// The variables that are declared as a reference, and which one.
    aliases: HashMap<&'b str, &'a Reference>,
    writes: Writes<'b>,
}

fn read<'b>(code: &Code<'b>, references: &[Reference]) -> Writes<'b> {
    let mut reader = Reader { code, references, aliases: HashMap::new(), writes: Writes::default() };
    let mut enclosing: Vec<Enclosing> = Vec::new();
    for index in 0..code.list().len() {
        while enclosing.pop_if(|around| around.close <= index).is_some() {}
        let around = enclosing.last();
        match (code.kind(index), code.partner(index)) {
            (Some(Kind::Open(bracket)), Some(close)) => {
                let inner = reader.enclosing(index, close, bracket, around);
                enclosing.push(inner);
            }
            _ => reader.token(index, around),
        }
    }
    reader.writes
}

impl<'a, 'b> Reader<'a, 'b> {
    fn enclosing(&self, open: usize, close: usize, bracket: Bracket, around: Option<&Enclosing>) -> Enclosing {
        let code = self.code;
        let before = code.lexeme_before(open);
        let is_pattern = matches!(bracket, Bracket::List | Bracket::Object | Bracket::Block);
        let is_assigned = is_pattern && code.lexeme(close + 1) == Lexeme::Assign && before != Lexeme::Declaration;
        let has_parameters = matches!(bracket, Bracket::Group | Bracket::Call)
            && (code.lexeme(close + 1) == Lexeme::Arrow || code.opens(close + 1, '{'));
        let inherits = around.filter(|_| is_pattern);
        let added = inherits.filter(|around| around.adds).map(|around| code.start(around.close));
        Enclosing {
            open,
            close,
            target: if is_assigned { Some(value_end(code, close + 1)) } else { inherits.and_then(|it| it.target) },
            declares: before == Lexeme::Declaration || has_parameters || inherits.is_some_and(|it| it.declares),
            adds: code.calls(open, "Object", "assign") && !code.opens(open + 1, '{'),
            added,
            is_in_function: around.is_some_and(|it| it.is_in_function) || begins_function(code, open),
        }
    }

    fn token(&mut self, index: usize, around: Option<&Enclosing>) {
        let code = self.code;
        match code.lexeme(index) {
            Lexeme::Assign => self.assignment(index, around),
            Lexeme::Declaration => self.declaration(index),
            Lexeme::Json | Lexeme::Input | Lexeme::Items if self.is_declared(index, around) => {
                self.writes.redeclared.insert(code.source(index));
            }
            _ if code.lexeme_before(index).is_dot() => {}
            _ => self.object(index, around),
        }
        if let Some(after) = around.and_then(|around| around.added)
            && let Some(name) = self.key(index)
        {
            self.set(name, after, 0);
        }
    }

    /// `const line = $json.lines[0]`
    fn declaration(&mut self, index: usize) {
        if let Some(name) = declared(self.code, index, self.references)
            && let Some(reference) = self.reference(index + 3)
        {
            self.aliases.insert(name, reference);
        }
    }

    /// The reference that begins with this token.
    fn reference(&self, index: usize) -> Option<&'a Reference> {
        at(self.code, index, self.references).map(|at| &self.references[at])
    }

    /// `.name = …`, `["name"] = …`
    fn assignment(&mut self, index: usize, around: Option<&Enclosing>) {
        let code = self.code;
        let is_member = code.kind(index.wrapping_sub(1)) == Some(Kind::Word)
            && index.checked_sub(2).is_some_and(|dot| code.lexeme(dot).is_dot());
        let name = match literal_index(code, index) {
            _ if is_member => code.source(index - 1).to_owned(),
            Some(literal) => unquoted(code.source(literal)),
            None => return,
        };
        let before = if around.is_some_and(|around| around.is_in_function) { code.start(index) } else { 0 };
        self.set(name, value_end(code, index), before);
    }

    fn set(&mut self, name: String, after: usize, before: usize) {
        let since = self.writes.names.entry(name).or_insert(Since { after, before });
        since.after = since.after.min(after);
        since.before = since.before.max(before);
    }

    /// The name of a member of an object literal: `name: …`, `'name': …`, and the shorthand for the first.
    fn key(&self, index: usize) -> Option<String> {
        let code = self.code;
        let begins = code.opens(index.wrapping_sub(1), '{') || code.lexeme_before(index) == Lexeme::Comma;
        let ends = matches!(code.lexeme(index + 1), Lexeme::Colon | Lexeme::Comma) || code.closes(index + 1, '}');
        match code.kind(index).filter(|_| begins && ends)? {
            Kind::Word => Some(code.source(index).to_owned()),
            Kind::Text => Some(unquoted(code.source(index))),
            _ => None,
        }
    }

    /// What happens to the object that a reference or a variable with this token names.
    fn object(&mut self, index: usize, around: Option<&Enclosing>) {
        let code = self.code;
        let own = self.reference(index);
        let Some(object) = own.or_else(|| self.aliases.get(code.source(index)).copied()) else { return };
        let next = match own {
            Some(_) => reads(code, index, self.references),
            None => members(code, index + 1),
        };
        let Some(next) = next else { return };
        if let Some(after) = around.and_then(|around| around.target)
            && own.is_some()
            && code.lexeme_before(index) != Lexeme::Assign
        {
            return self.target(index, object, after);
        }
        let is_added_to =
            |around: &&Enclosing| around.adds && around.open + 1 == index && code.lexeme(next) == Lexeme::Comma;
        let changes_list = code.opens(next, '(')
            && code.lexeme_before(next - 1).is_dot()
            && CHANGES_LIST.contains(&code.source(next - 1));
        let after = if let Some(around) = around.filter(is_added_to) {
            code.start(around.close)
        } else if changes_list {
            code.partner(next).map_or(code.range.end, |close| code.start(close))
        } else if code.lexeme(next) == Lexeme::Assign && self.is_unnamed(object, own.is_some(), next) {
            value_end(code, next)
        } else {
            return;
        };
        if self.writes.changes.len() < MAX_CHANGES {
            self.writes.changes.push(Change { origin: object.origin.clone(), path: object.path.clone(), after });
        }
    }

    /// A reference that a pattern assigns to.
    fn target(&mut self, index: usize, reference: &Reference, after: usize) {
        self.writes.targets.insert(self.code.start(index));
        if let Some(Step::Name(name)) = reference.path.last() {
            self.set(name.clone(), after, 0);
        }
    }

    /// Whether what is assigned before this `=` has no name: a computed member, or the whole item.
    fn is_unnamed(&self, object: &Reference, is_own: bool, next: usize) -> bool {
        let is_computed = self.code.closes(next - 1, ']') && literal_index(self.code, next).is_none();
        is_computed || (is_own && object.path.is_empty() && self.code.kind(next - 1) == Some(Kind::Word))
    }

    /// Whether a variable of n8n is a parameter or a variable of the code here.
    fn is_declared(&self, index: usize, around: Option<&Enclosing>) -> bool {
        let code = self.code;
        let is_name = |around: &Enclosing| {
            let begins = around.open + 1 == index || matches!(code.lexeme_before(index), Lexeme::Comma | Lexeme::Colon);
            let ends = around.close == index + 1 || matches!(code.lexeme(index + 1), Lexeme::Comma | Lexeme::Assign);
            around.declares && begins && ends
        };
        code.lexeme_before(index) == Lexeme::Declaration
            || code.lexeme(index + 1) == Lexeme::Arrow
            || around.is_some_and(is_name)
    }
}

/// The literal in the index before this token: `["name"]`.
fn literal_index(code: &Code<'_>, after: usize) -> Option<usize> {
    let close = after.checked_sub(1).filter(|close| code.closes(*close, ']'))?;
    let open = code.partner(close).filter(|open| open + 2 == close)?;
    let is_text = matches!(code.kind(open + 1), Some(Kind::Text | Kind::Template));
    (is_text && code.kind(open) == Some(Kind::Open(Bracket::Index))).then_some(open + 1)
}

/// Where the value ends that is assigned with this `=`: at the latest where the next one is.
fn value_end(code: &Code<'_>, assign: usize) -> usize {
    let mut next = assign + 1;
    while let Some(token) = code.token(next) {
        // What a line begins with is another statement, unless an operator is before it or it is one.
        let is_statement = next > assign + 1
            && token.begins_line
            && matches!(token.kind, Kind::Word | Kind::Number | Kind::Text | Kind::Close(_))
            && code.before(next) != Some(Kind::Sign);
        let ends = matches!(token.lexeme, Lexeme::Semicolon | Lexeme::Comma | Lexeme::Assign);
        match (token.kind, code.partner(next)) {
            _ if is_statement || ends => break,
            (Kind::Close(_), _) => break,
            (Kind::Open(_), Some(close)) if close > next => next = close + 1,
            _ => next += 1,
        }
    }
    code.start(next)
}

/// Whether this bracket opens the body of a function with a name: `function add(line) {`.
fn begins_function(code: &Code<'_>, open: usize) -> bool {
    let parameters = open.checked_sub(1).filter(|close| code.closes(*close, ')')).and_then(|close| code.partner(close));
    let function = parameters.and_then(|parameters| parameters.checked_sub(2));
    code.opens(open, '{') && function.is_some_and(|function| code.lexeme(function) == Lexeme::Function)
}

#[cfg(test)]
mod tests {
    use super::super::{Reference, Syntax, scan};

    /// The references of code that are looked up, with `…` if only the beginning of the path is.
    fn looked_up(text: &str) -> Vec<String> {
        let references = scan(text, Syntax::Code).references.into_iter();
        let asked = references.filter(|one| !one.is_written && one.received > 0);
        let shown = |one: &Reference| if one.received < one.path.len() { "…" } else { "" };
        asked.map(|one| format!("{}{}", &text[one.range.clone()], shown(&one))).collect()
    }

    #[track_caller]
    fn asks(text: &str, expected: &[&str]) {
        assert_eq!(looked_up(text), expected, "{text}");
    }

    #[test]
    fn a_field_that_was_assigned_is_not_looked_up() {
        asks("const j = $input.item.json; j.late = 1; f($json.late, $json.lake)", &["$json.lake"]);
        asks("$json['x y'] = 3; f($json['x y'])", &[]);
        asks("function add(o) { o.later = 1 }\nadd($json); f($json.later)", &[]);
        asks("add($json); f($json.later)\nfunction add(o) { o.later = 1 }", &[]);
        asks("const all = [$input.item]; all[0].json.b = 2; f($input.item.json.b)", &[]);
        asks(
            "$json.lines.forEach((l) => { l.total = l.qty }); f($json.lines[0].total)",
            &["$json.lines", "$json.lines[0].total…"],
        );
        asks(
            "for (const line of $json.lines) line.sum = 1\nf($json.lines[1].sum)",
            &["$json.lines", "$json.lines[1].sum…"],
        );
        asks(
            "for (const i in $json.lines) { $json.lines[i].no = i }\nf($json.lines[0].no)",
            &["$json.lines", "$json.lines", "$json.lines[0].no…"],
        );
        asks(
            "$json.lines.map((l) => Object.assign(l, {vat: 1, 'a b': 2, net})); f($json.lines[0].vat + $json.net)",
            &["$json.lines", "$json.lines[0].vat…"],
        );
        asks("$input.item.json = {...$json, z: 1}; f($json.z)", &[]);
    }

    #[test]
    fn an_object_that_gets_unknown_fields_is_not_looked_up() {
        asks("Object.assign($json, {merged: 5}); f($json.merged)", &[]);
        asks("for (const k of keys) $json[k] = k; f($json.k1)", &[]);
        asks("const j = $json\nj[k] = 1\nf($json.k1)", &[]);
        asks("$json.map[k] = 1; f($json.map.a, $json.mop)", &["$json.map", "$json.map.a…", "$json.mop"]);
        asks("$json.lines.push({extra: 1}); f($json.lines[2].extra)", &["$json.lines", "$json.lines[2].extra…"]);
        asks(
            "const lines = $json.lines; lines.push(x); f($json.lines[2].extra, $json.line)",
            &["$json.lines", "$json.lines[2].extra…", "$json.line"],
        );
        asks("[$json.p, $json.q] = [1, 2]; f($json.p, $json.q, $json.r)", &["$json.r"]);
        asks("({a: $json.p} = x); f($json.p)", &[]);
        asks(
            "Object.assign($('X').first().json, y); f($('X').item.json.a, $('Y').item.json.a)",
            &["$('Y').item.json.a"],
        );
    }

    #[test]
    fn a_variable_of_the_code_is_not_n8ns() {
        for text in [
            "const f = ($json) => $json.other",
            "const f = $json => $json.other",
            "list.map((a, $json, b) => $json.other)",
            "list.map(([i, $json]) => $json.other)",
            "function f($json = {}) { return $json.other }",
            "for (const $json of list) f($json.other)",
            "for (const [i, $json] of list) f($json.other)",
            "let $json = {}; f($json.other)",
        ] {
            asks(text, &[]);
        }
        asks("list.map((x = $json.a) => x); if ($json) { f($json.b) }", &["$json.a", "$json.b"]);
        asks("list.map(($json) => 1); f($input.item.json.a)", &["$input.item.json.a"]);
    }

    #[test]
    fn a_misspelt_name_is_still_looked_up() {
        asks("const x = $json.nmae", &["$json.nmae"]);
        asks("return {json: {nmae: $json.nmae}}", &["$json.nmae"]);
        asks("out.nmae = $json.nmae; f(out)", &["$json.nmae"]);
        asks("out.nmae =\n  $json.nmae +\n  $json.nmae\nf(out)", &["$json.nmae", "$json.nmae"]);
        asks("out.nmae = f({\n  a: $json.nmae,\n})\n  .trim($json.nmae)", &["$json.nmae", "$json.nmae"]);
        asks("const nmae = $json.nmae; const out = {}; out.nmae = nmae", &["$json.nmae"]);
        asks("Object.assign({}, {nmae: 1}); f($json.nmae)", &["$json.nmae"]);
        asks("Object.assign(out, {nmae: $json.nmae})", &["$json.nmae"]);
        asks("if (x.nmae == 1) out[k] = $json.nmae; f($json.nmae)", &["$json.nmae", "$json.nmae"]);
        asks("out.push({nmae: 1}); f($json.nmae)", &["$json.nmae"]);
        asks("$json.total = 1; f($json.data.total, $json.total)", &["$json.data.total…"]);
        asks("const {nmae} = $json; const [a] = [$json.nmae]", &["nmae", "$json.nmae"]);
    }
}
