//! The page as one document that needs no other file: its modules become one script, in the order of their imports.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use ring::digest;
use serde_json::Value;

use super::assets;

/// A document, and what a policy must know to allow its script and its style, and no others.
pub(super) struct Document {
    pub html: String,
    /// `'sha256-…'` of the script.
    pub script: String,
    /// `'sha256-…'` of the style.
    pub style: String,
}

impl Document {
    /// The document that starts these modules, one after the other; it contains `about` as JSON. `head` is added to its head.
    pub(super) fn of(entries: &[&str], head: &str, about: &Value) -> Self {
        // No text may end the element that contains it.
        let about = about.to_string().replace('<', "\\u003c");
        let (style, script) = (assets::text("style.css"), script(entries));
        let html = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>n8n-lens</title>\n{head}<style>{style}</style>\n</head>\n\
             <body>\n<noscript>This page needs JavaScript.</noscript>\n\
             <script type=\"application/json\" id=\"about\">{about}</script>\n<script type=\"module\">{script}</script>\n</body>\n\
             </html>\n"
        );
        Self { html, script: source(&script), style: source(style) }
    }
}

/// The text of an element as a source that a policy allows (Content Security Policy Level 3, `hash-source`).
fn source(text: &str) -> String {
    format!("'sha256-{}'", BASE64_STANDARD.encode(digest::digest(&digest::SHA256, text.as_bytes())))
}

/// The script that runs modules, each preceded by its imports.
fn script(entries: &[&str]) -> String {
    let mut order = Vec::new();
    entries.iter().for_each(|entry| sort(entry, &mut order));
    order.iter().map(|name| module(name)).collect()
}

/// Adds a module after everything that it imports, unless it was added before.
fn sort(name: &str, order: &mut Vec<String>) {
    if order.iter().any(|sorted| sorted == name) {
        return;
    }
    imports(assets::text(name)).for_each(|(_, from)| sort(from, order));
    order.push(name.to_owned());
}

/// The names that a module imports, and the modules that they come from.
fn imports(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().filter_map(import)
}

/// A line such as `import { fill, h } from './dom.js';`.
fn import(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix("import { ")?.strip_suffix("';")?.split_once(" } from './")
}

/// A module as a constant that holds its exports.
fn module(name: &str) -> String {
    let (mut lines, mut exports) = (String::new(), Vec::new());
    for line in assets::text(name).lines().filter(|line| !is_comment(line)) {
        let line = match (import(line), line.strip_prefix("export ")) {
            (Some((names, from)), _) => format!("const {{ {names} }} = {};", constant(from)),
            (None, Some(declaration)) => {
                exports.push(declared(declaration));
                declaration.to_owned()
            }
            (None, None) => line.to_owned(),
        };
        lines = lines + &line + "\n";
    }
    format!("const {} = (() => {{\n{lines}return {{ {} }};\n}})();\n", constant(name), exports.join(", "))
}

/// Comments are on separate lines.
fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    ["//", "/**", "* ", "*/"].iter().any(|start| line.starts_with(start)) || line == "*"
}

/// `words.en.js` as `$words_en`.
fn constant(name: &str) -> String {
    format!("${}", name.trim_end_matches(".js").replace('.', "_"))
}

/// The name declared by `async function call(tool) {`, `class List {` or `const ROW = 32;`.
fn declared(declaration: &str) -> &str {
    let name = declaration.trim_start_matches("async ").trim_start_matches("function ");
    let name = name.trim_start_matches("class ").trim_start_matches("const ");
    name.split(|char: char| !char.is_alphanumeric() && char != '_').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The modules of the page inside a client.
    fn modules() -> Vec<String> {
        let mut order = Vec::new();
        ["app.js", "main.js"].iter().for_each(|entry| sort(entry, &mut order));
        order
    }

    #[test]
    fn every_module_comes_after_those_that_it_imports() {
        let order = modules();
        assert!(order.len() > 25, "{order:?}");
        for (at, name) in order.iter().enumerate() {
            for (_, from) in imports(assets::text(name)) {
                assert!(order[..at].iter().any(|before| before == from), "{name} imports {from}, which imports it");
            }
        }
    }

    #[test]
    fn modules_are_written_as_they_are_read_here() {
        for name in modules() {
            for line in assets::text(&name).lines() {
                let begins = |word: &str| line.starts_with(word);
                assert!(
                    !begins("import") || import(line).is_some_and(|(names, _)| !names.contains(" as ")),
                    "{name}: {line}"
                );
                let declares = ["function ", "async function ", "class ", "const "];
                let exports =
                    line.strip_prefix("export ").is_none_or(|rest| declares.iter().any(|word| rest.starts_with(word)));
                assert!(exports && !line.contains("import("), "{name}: {line}");
            }
        }
    }

    /// A module that nothing imports would never be loaded.
    #[test]
    fn every_module_is_in_the_document() {
        let order = modules();
        // The page that exchanges the token starts it on its own.
        for name in assets::names().filter(|name| name.ends_with(".js") && *name != "enter.js") {
            assert!(order.iter().any(|sorted| sorted == name), "{name}");
        }
    }

    #[test]
    fn nothing_ends_an_element_or_comes_from_elsewhere() {
        let document = Document::of(&["app.js", "main.js"], "", &json!({"n8nUrl": "</script><b>"})).html;
        assert_eq!(document.matches("</script").count(), 2);
        assert_eq!(document.matches("</style").count(), 1);
        assert!(document.contains(r"\u003c/script>\u003cb>"));
        let outside = ["<link", " src=", "@import"];
        assert!(!outside.iter().any(|text| document.contains(text)), "something is loaded from elsewhere");
        assert!(!assets::text("style.css").contains("url("), "a style loads something");
    }

    #[test]
    fn the_document_is_small() {
        let document = Document::of(&["app.js", "main.js"], "", &json!({}));
        let bytes = assets::compress(document.html.as_bytes()).len();
        println!("{bytes} bytes compressed");
        assert!((20_000..80_000).contains(&bytes), "{bytes}");
    }
}
