//! The JavaScript in a node's parameters: which parts of a text n8n runs as code, which fields and nodes that code
//! refers to, whether n8n's parser refuses it, and how to update it when a node is renamed.
//!
//! Nothing is evaluated, and no JavaScript parser is needed: tokens, brackets and their neighbours answer everything that
//! is asked here. Sources: `@n8n/tournament` (`ExpressionSplitter`, `ExpressionBuilder`), which
//! parses with esprima in its tolerant mode, and `getResolvables` in `n8n-nodes-base`. `tests/clients/expressions.rs`
//! compares with the packages themselves.
//!
//! ```
//! use n8n_lens::workflow::expression::{Origin, Step, Syntax, Which, rename, scan};
//!
//! let text = "=Dear {{ $('Get user').first().json.names[0].trim() }}";
//! let scanned = scan(text, Syntax::Expression);
//! let reference = &scanned.references[0];
//! assert_eq!(reference.origin, Origin::Node { name: "Get user".to_owned(), output: None, which: Which::First });
//! assert_eq!(reference.path, [Step::Name("names".to_owned()), Step::Index(0)]);
//! assert_eq!(&text[reference.range.clone()], "$('Get user').first().json.names[0]");
//!
//! let edits = rename(text, Syntax::Expression, "Get user", "Ann's");
//! assert_eq!(edits[0].1, r"'Ann\'s'");
//! assert!(scan("={{ 'it is never closed }}", Syntax::Expression).fault.is_some());
//! ```

mod code;
mod fault;
mod grammar;
mod guard;
mod kinds;
mod lexeme;
mod lexer;
mod literal;
mod patterns;
mod references;
mod rename;
mod strings;
mod syntax;
mod token;
mod writes;

use std::cell::LazyCell;
use std::ops::Range;

use code::{Code, codes};
pub use fault::{Fault, FaultKind};
pub(super) use literal::quoted;
pub use rename::{apply, mentions, rename};
pub(super) use strings::texts_of;
pub use strings::{ParameterText, parameter_texts};
pub use syntax::Syntax;

/// The longest code that is read, bytes. n8n's editor is slow with a tenth of it.
const MAX_CODE_BYTES: usize = 4 * 1024 * 1024;

/// n8n's variables and functions, as its editor completes them. Any other `{{ $x }}` is another program's template.
const VARIABLES: [&str; 29] = [
    "$json",
    "$node",
    "$input",
    "$items",
    "$item",
    "$now",
    "$today",
    "$vars",
    "$env",
    "$workflow",
    "$execution",
    "$prevNode",
    "$itemIndex",
    "$runIndex",
    "$parameter",
    "$secrets",
    "$binary",
    "$data",
    "$fromAI",
    "$position",
    "$if",
    "$ifEmpty",
    "$jmespath",
    "$max",
    "$min",
    "$nodeVersion",
    "$nodeId",
    "$self",
    "$getWorkflowStaticData",
];

/// What a text refers to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scanned {
    /// The fields that are read, in order.
    pub references: Vec<Reference>,
    /// The places where a node is named as a literal, in order, also those in comments.
    pub names: Vec<NodeName>,
    /// How many node names are only known when the code runs.
    pub dynamic_names: usize,
    /// Why n8n's parser refuses the text: the first reason.
    pub fault: Option<Fault>,
    /// How many parts of the text are code.
    pub codes: usize,
    /// Whether some of it runs only under a condition: `if`, `switch`.
    pub has_branches: bool,
}

/// A field that is read, or a whole item if the path is empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// Whose items.
    pub origin: Origin,
    /// The path from the item's `json`, up to the first call or computed index. The name of a method is not part of it.
    pub path: Vec<Step>,
    /// Whether `.length` follows the path: that of a string or a list, or a field with that name.
    pub takes_length: bool,
    /// Its bytes in the text: from the `$` to the end of the path, without the length; or the name of the field in a pattern.
    pub range: Range<usize>,
    /// For a field that a declaration takes from something, `const { a } = $json`: the bytes of that.
    pub taken_from: Option<Range<usize>>,
    /// Whether its expression provides for a missing value: `?.`, `??`, `||`, `&&`, `? :`, `!x`, `typeof`, a comparison
    /// with null, undefined or an empty string, `in`, an `if` that only tests for a value, a `catch`, or a function for it,
    /// such as `filter(Boolean)`. An expression is one `{{ }}`, or all of a Code node; another `{{ }}` of the text counts if it
    /// provides for the same field or for what contains it. Or the value, if it is missing, is left out: `{...$json.a}`.
    pub is_guarded: bool,
    /// Whether nothing is read: a value is assigned to it, or it is deleted.
    pub is_written: bool,
    /// How many steps of the path the item must have. The code may have set what follows: it assigns to a field of that name,
    /// or changes what contains it. None if the variable is not n8n's.
    pub received: usize,
    /// What should stand before the path, if something is missing there: `json` in `$('X').item.a`, `first().json` in
    /// `$('X').first.json.a`, `all().length` in `$input.length`. Nothing is there then, and `origin` and `path` are what was meant.
    pub meant: Option<&'static str>,
    /// Whether the code asks for the kind of the value (`typeof`, `Array.isArray`), or makes one kind of it (`Number`, `toString`, …).
    pub handles_kinds: bool,
    /// Whether it is all of a `{{ }}` beside which the text has something else: n8n puts the value into that.
    pub is_in_text: bool,
}

/// Where a field is read from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// What the node received: `$json`, `$input`.
    Input(Which),
    /// The output of another node: `$('X')`, `$node["X"]`, `$node.X`, `$items("X")`.
    Node {
        /// Its name.
        name: String,
        /// The number of the output, if it is written: `first(1)`, `$items("X", 1)`.
        output: Option<u64>,
        /// Which of its items.
        which: Which,
    },
}

/// Which item is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Which {
    /// The current item, or the one that it came from: `$json`, `.item`, `$node["X"]`.
    Item,
    /// `first()`.
    First,
    /// `last()`.
    Last,
    /// `all()[2]`, counted from 0.
    At(u64),
    /// Only known when the code runs: a computed index, `itemMatching(…)`, another run.
    Any,
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// A member.
    Name(String),
    /// An element, counted from 0.
    Index(u64),
}

/// A place where a node is named.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeName {
    /// The name.
    pub name: String,
    /// The literal with its quotes, or for `$node.Name` the dot and the name.
    pub range: Range<usize>,
    /// The whole reference: `$('Name')`, `$node["Name"]`.
    pub source: Range<usize>,
    /// How the node is used.
    pub access: Access,
    /// As [`Reference::is_guarded`].
    pub is_guarded: bool,
    /// Whether it is in a comment, which only renaming considers.
    pub is_in_comment: bool,
    notation: Notation,
}

/// How code uses a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// `isExecuted`, which code may read from a node that did not run.
    IsExecuted,
    /// The item that the current one came from: `.item`, `pairedItem()`, `itemMatching(…)`. n8n traces it back through the
    /// nodes in between.
    PairedItem,
    /// Its items: `first()`, `last()`, `all()`, `json`, `binary`.
    Items,
    /// Anything else, such as `params`.
    Other,
}

/// How a name is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Notation {
    /// In these quotes.
    Quoted(char),
    /// `.Name`, or `?.Name`.
    Member { is_optional: bool },
}

/// Reads a text. Text that is not code is skipped, and so is code of more than 4 MiB.
pub fn scan(text: &str, syntax: Syntax) -> Scanned {
    let mut scanned = Scanned::default();
    for code in codes(text, syntax) {
        scanned.codes += 1;
        let (references, names) = (scanned.references.len(), scanned.names.len());
        find(&code, &mut scanned);
        let (fields, variables) = patterns::fields(&code, &scanned.references[references..]);
        if !fields.is_empty() {
            scanned.references.extend(fields);
            scanned.references[references..].sort_by_key(|reference| reference.range.start);
        }
        let refers = scanned.references.len() > references || scanned.names.len() > names;
        if refers && guard::has_guard(&code, &scanned.references[references..], &variables) {
            scanned.references[references..].iter_mut().for_each(|reference| reference.is_guarded = true);
            scanned.names[names..].iter_mut().for_each(|name| name.is_guarded = true);
        }
        if scanned.references.len() > references {
            guard::guard_left_out(&code, &mut scanned.references[references..]);
            writes::mark(&code, &mut scanned.references[references..]);
            kinds::mark(&code, &mut scanned.references[references..]);
        }
        scanned.has_branches |= guard::has_branches(&code);
        scanned.fault = scanned.fault.take().or_else(|| grammar::fault(&code));
    }
    if scanned.codes > 1 {
        guard::guard_elsewhere(&mut scanned.references);
    }
    scanned.names.sort_by_key(|name| name.range.start);
    scanned
}

/// Finds the references and the names of nodes.
fn find(code: &Code<'_>, scanned: &mut Scanned) {
    let is_cheerio = LazyCell::new(|| references::is_cheerio(code));
    references::find(code, &is_cheerio, scanned);
    references::names_in_comments(code, &is_cheerio, scanned);
}

/// The names of nodes in a piece of code, in order.
fn names(code: &Code<'_>) -> Vec<NodeName> {
    let mut scanned = Scanned::default();
    find(code, &mut scanned);
    scanned.names.sort_by_key(|name| name.range.start);
    scanned.names
}

/// The first `{{ }}` in a plain text that n8n was probably meant to evaluate: it begins with one of n8n's variables, and
/// n8n's parser accepts it.
pub fn unevaluated(text: &str) -> Option<Range<usize>> {
    let is_meant = |code: &Code<'_>| {
        let is_variable = VARIABLES.contains(&code.source(0)) || (code.source(0) == "$" && code.source(1) == "(");
        is_variable && grammar::fault(code).is_none()
    };
    codes(text, Syntax::Template).find(is_meant).map(|code| code.range.start - 2..code.range.end + 2)
}

#[cfg(test)]
mod tests;
