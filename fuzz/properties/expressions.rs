//! Expressions and code, whole and broken: findings lie within the text, and a renamed node is followed and restored.

#![allow(clippy::explicit_auto_deref, reason = "without the star, the type of what is picked is not inferred")]

use n8n_lens::workflow::expression::{Origin, Syntax, apply, rename, scan};

use super::entropy::Entropy;

const NAMES: [&str; 10] =
    ["A", "Get user", "it's", "\"q\"", "a\\b", "$&", "`${x}`", "}}", "名前 \u{1f600}", "constructor_"];

/// The parts of expressions: they open, close, quote, escape and refer.
const PARTS: [&str; 58] = [
    "={{ ",
    " }}",
    "{{",
    "}}",
    "\\{{",
    "\\}}",
    "$json",
    ".a",
    "[0]",
    "['b c']",
    "[\"d\"]",
    "?.",
    "??",
    "||",
    " ",
    "\n",
    "$('",
    "')",
    "$(\"",
    "\")",
    "$(`",
    "`)",
    ".item",
    ".first()",
    ".last()",
    ".all()[1]",
    ".json",
    "$node[\"",
    "\"]",
    "$node.A",
    "$input",
    "$items(\"",
    "'",
    "\"",
    "`",
    "${",
    "}",
    "{",
    "(",
    ")",
    "/",
    "/x}}/g",
    "//",
    "/*",
    "*/",
    "\\",
    "\\'",
    "=>",
    "return ",
    ";",
    ",",
    "=",
    "1.5",
    "typeof ",
    "!",
    ".length",
    "\u{d7ff}\u{1f600}",
    "\u{2028}",
];

/// Makes a text from the bytes and checks it.
pub fn check(data: &[u8]) {
    let mut entropy = Entropy::new(data);
    let syntax = if entropy.one_in(4) { Syntax::Code } else { Syntax::Expression };
    let text = match entropy.one_in(3) {
        // The input itself.
        true => format!("={}", String::from_utf8_lossy(data)),
        false => made(&mut entropy),
    };
    let scanned = scan(&text, syntax);
    let parts = scanned.references.iter().map(|one| &one.range).chain(scanned.names.iter().map(|one| &one.range));
    for range in parts {
        let part = text.get(range.clone()).unwrap_or_else(|| panic!("{range:?} is not in {text:?}"));
        assert!(!part.is_empty(), "{range:?} of {text:?}");
    }
    if let Some(name) = scanned.names.first().map(|one| one.name.clone()) {
        follows(&text, syntax, &name, *entropy.pick(&NAMES));
    }
}

fn made(entropy: &mut Entropy<'_>) -> String {
    let mut text = "=".to_owned();
    for _ in 0..1 + entropy.below(40) {
        match entropy.below(5) {
            0 => text.push_str(*entropy.pick(&NAMES)),
            1 => {
                let name = entropy.pick(&NAMES).replace('\\', "\\\\").replace('\'', "\\'").replace("}}", "\\x7d\\x7d");
                text.push_str(&format!("{{{{ $('{name}').item.json.x }}}}"));
            }
            _ => text.push_str(*entropy.pick(&PARTS)),
        }
    }
    text
}

/// A rename follows every name that is read, changes nothing else, and can be reverted.
fn follows(text: &str, syntax: Syntax, old: &str, new: &str) {
    let named = |text: &str, name: &str| scan(text, syntax).names.iter().filter(|one| one.name == name).count();
    let read = |text: &str| -> Vec<_> {
        scan(text, syntax).references.into_iter().map(|one| (one.origin, one.path)).collect()
    };
    if old == new || named(text, new) > 0 {
        return;
    }
    let renamed = apply(text, &rename(text, syntax, old, new));
    assert_eq!(
        (named(&renamed, old), named(&renamed, new)),
        (0, named(text, old)),
        "{old:?} -> {new:?}: {text:?} -> {renamed:?}"
    );
    let expected = read(text).into_iter().map(|(origin, path)| match origin {
        Origin::Node { name, output, which } if name == old => {
            (Origin::Node { name: new.to_owned(), output, which }, path)
        }
        origin => (origin, path),
    });
    let expected: Vec<_> = expected.collect();
    assert_eq!(read(&renamed), expected, "{old:?} -> {new:?}: {text:?} -> {renamed:?}");
    let faults = [text, &renamed].map(|text| scan(text, syntax).fault.map(|fault| fault.kind));
    assert_eq!(faults[0], faults[1], "{old:?} -> {new:?}: {text:?} -> {renamed:?}");
    let back = apply(&renamed, &rename(&renamed, syntax, new, old));
    assert_eq!(read(&back), read(text), "{renamed:?} -> {back:?}");
}
