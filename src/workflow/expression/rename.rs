//! Renaming a node in the code that refers to it.

use std::ops::Range;

use super::code::codes;
use super::literal::{is_identifier, quoted, unquoted};
use super::token::{Kind, Token};
use super::{Notation, Syntax, names};

/// The edits that replace the node name `old` with `new` in the text: ranges of bytes and their replacements, in
/// order. Each literal keeps its quotes; `$node.Old` becomes `$node["New name"]` if the name is not an identifier; and
/// inside `{{ }}`, a `}}` in the name is escaped, because n8n would end the code there.
pub fn rename(text: &str, syntax: Syntax, old: &str, new: &str) -> Vec<(Range<usize>, String)> {
    let is_in_braces = syntax != Syntax::Code;
    let named = codes(text, syntax).flat_map(|code| names(&code)).filter(|name| name.name == old);
    let literal = |notation| match notation {
        Notation::Quoted(quote) => quoted(new, quote, is_in_braces),
        Notation::Member { is_optional } if is_identifier(new) => {
            format!("{}{new}", if is_optional { "?." } else { "." })
        }
        Notation::Member { is_optional } => {
            format!("{}[{}]", if is_optional { "?." } else { "" }, quoted(new, '"', is_in_braces))
        }
    };
    named.map(|name| (name.range, literal(name.notation))).collect()
}

/// Applies these edits, as returned by [`rename`], to the text.
pub fn apply(text: &str, edits: &[(Range<usize>, String)]) -> String {
    let (mut edited, mut at) = (String::with_capacity(text.len()), 0);
    for (range, replacement) in edits {
        edited.push_str(text.get(at..range.start).unwrap_or_default());
        edited.push_str(replacement);
        at = range.end;
    }
    edited.push_str(text.get(at..).unwrap_or_default());
    edited
}

/// How often a node seems to be named where [`rename`] does not change the text: in a plain string, in one that holds code, as
/// `$evaluateExpression` takes it, or as a word in code that cannot be read.
pub fn mentions(text: &str, syntax: Syntax, name: &str) -> usize {
    if name.is_empty() {
        return 0;
    }
    let in_code = codes(text, syntax).map(|code| {
        let known = names(&code);
        let is_known = |range: &Range<usize>| known.binary_search_by_key(&range.start, |name| name.range.start).is_ok();
        let is_plain = |kind| matches!(kind, Kind::Text | Kind::Template);
        let literals = code.list().iter().filter(|token| is_plain(token.kind) && !is_known(&token.range()));
        let names_it = |token: &&Token| {
            let literal = unquoted(&text[token.range()]);
            literal == name || (token.kind == Kind::Text && holds_code(&literal) && words(&literal, name) > 0)
        };
        let plain = literals.filter(names_it).count();
        let read = code.list().last().map_or(code.range.start, |token| token.end());
        let is_unread = code.tokens.fault.is_some();
        plain + if is_unread { words(&text[read..code.range.end], name) } else { 0 }
    });
    in_code.sum()
}

fn holds_code(literal: &str) -> bool {
    ["$(", "$node", "$items("].iter().any(|start| literal.contains(start))
}

/// How often a text contains a name that no letter or digit continues: `Step 12` is not `Step 1`.
fn words(text: &str, name: &str) -> usize {
    let is_word = |at: usize| {
        let ends = [name.chars().next_back(), text[at + name.len()..].chars().next()];
        !ends.iter().all(|char| char.is_some_and(char::is_alphanumeric))
    };
    text.match_indices(name).filter(|(at, _)| is_word(*at)).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workflow::expression::scan;

    fn names_of(expression: &str) -> Vec<String> {
        scan(expression, Syntax::Expression).names.into_iter().map(|name| name.name).collect()
    }

    /// Names that break a textual replacement.
    const ODD_NAMES: [&str; 10] = ["it's", "\"", "a\\", "$&", "${x}", "}}", "a`b", "🎉", "}}}", "*/"];

    #[test]
    fn a_name_is_replaced_as_it_is_written() {
        let renamed = |text: &str, syntax| apply(text, &rename(text, syntax, "Old", "a'b"));
        let expression = |text: &str| renamed(text, Syntax::Expression);
        assert_eq!(expression("={{ $('Old').item + $(\"Old\").item }}"), r#"={{ $('a\'b').item + $("a'b").item }}"#);
        assert_eq!(expression("={{ $node.Old.json.x }}"), r#"={{ $node["a'b"].json.x }}"#);
        assert_eq!(expression("={{ $node?.Old.json.x }}"), r#"={{ $node?.["a'b"].json.x }}"#);
        assert_eq!(
            expression("={{ $node['Old'].json }} {{ $items(`Old`)[0] }}"),
            r"={{ $node['a\'b'].json }} {{ $items(`a'b`)[0] }}"
        );
        assert_eq!(expression("=Old {{ 'Old' + $('Older').item }}"), "=Old {{ 'Old' + $('Older').item }}");
        let code = "// see $('Old')\nreturn $('Old').all()";
        assert_eq!(renamed(code, Syntax::Code), "// see $('a\\'b')\nreturn $('a\\'b').all()");
        assert_eq!(
            rename("={{ $node.Old.json }}", Syntax::Expression, "Old", "New_1")[0],
            (9..13, ".New_1".to_owned())
        );
    }

    #[test]
    fn an_odd_name_reads_back() {
        for name in ODD_NAMES {
            for text in
                ["={{ $('Old').item.json.a }}", "={{ $node.Old.json.a }}", "={{ $(`Old`).item.json.a /* $('Old') */ }}"]
            {
                let edited = apply(text, &rename(text, Syntax::Expression, "Old", name));
                let scanned = scan(&edited, Syntax::Expression);
                assert!(scanned.names.iter().all(|found| found.name == name) && !scanned.names.is_empty(), "{edited}");
                assert_eq!((scanned.references.len(), scanned.fault), (1, None), "{edited}");
                let back = apply(&edited, &rename(&edited, Syntax::Expression, name, "Old"));
                assert_eq!(names_of(&back), names_of(text), "{edited}");
            }
        }
    }

    #[test]
    fn mentions_are_places_that_a_rename_leaves() {
        assert_eq!(mentions("f(\"{{ $('Old').x }} Old\", \"Old\", `${$('Old')}`)", Syntax::Code, "Old"), 2);
        assert_eq!(mentions("={{ 'Old' + f('Old') + 'Older' }}", Syntax::Expression, "Old"), 2);
        assert_eq!(mentions("={{ $('Old').item.json.replace('}}', $('Old').item) }}", Syntax::Expression, "Old"), 0);
        assert_eq!(mentions("={{ 'it }} ", Syntax::Expression, "it"), 1);
    }
}
