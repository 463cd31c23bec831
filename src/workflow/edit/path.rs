//! Where a parameter is: a JSON Pointer (RFC 6901), which n8n uses, or a path in the notation of answers.

use crate::json::{CUT_NAME_CHARS, quoted_name};
use crate::workflow::Error;

/// The names and indexes of a path, written as `/rules/values/0` or `rules.values[0]`.
///
/// # Errors
/// [`Error::Edit`] if it ends with a dot: what was to follow is missing.
pub(super) fn steps(path: &str) -> Result<Vec<String>, Error> {
    if !path.starts_with('/') && path.ends_with('.') {
        let path = quoted_name(path, CUT_NAME_CHARS);
        return Err(Error::Edit(format!(
            "the path {path} ends with a dot; name a parameter after it, or leave it out"
        )));
    }
    Ok(parse(path))
}

/// Checks the name of a parameter that is to be created: it must not be a path, or a part of one, in yet another notation.
pub(super) fn check_new_name(name: &str) -> Result<(), Error> {
    let is_padded = name.is_empty() || name.trim() != name;
    let is_root = matches!(name, "$" | "#") || name.starts_with("#/") || name.starts_with('.');
    let inside = name.strip_suffix(']').and_then(|name| Some(name.rsplit_once('[')?.1));
    let is_quoted = |text: &str| text.len() > 1 && text.starts_with(['\'', '"']) && text.ends_with(['\'', '"']);
    let is_bracketed = inside
        .is_some_and(|text| is_quoted(text) || (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())));
    if is_padded || is_root || is_bracketed {
        let name = quoted_name(name, CUT_NAME_CHARS);
        return Err(Error::Edit(format!(
            "there is no parameter {name}, and no node has one of that name; write the path as a JSON Pointer, such as \
             /rules/values/0/output"
        )));
    }
    Ok(())
}

fn parse(path: &str) -> Vec<String> {
    match path.strip_prefix('/') {
        Some(pointer) => pointer.split('/').map(|name| name.replace("~1", "/").replace("~0", "~")).collect(),
        None => dotted(path),
    }
}

/// `a.b[0]["c.d"]`
fn dotted(mut rest: &str) -> Vec<String> {
    let mut names = Vec::new();
    while !rest.is_empty() {
        let (name, after) = match bracketed(rest) {
            Some(found) => found,
            None => {
                let end = rest.find(['.', '[']).filter(|end| *end > 0).unwrap_or(rest.len());
                (rest[..end].to_owned(), &rest[end..])
            }
        };
        names.push(name);
        rest = after.strip_prefix('.').unwrap_or(after);
    }
    names
}

/// `[0]`, `["a.b"]`, `['a.b']`; also returns the rest.
fn bracketed(text: &str) -> Option<(String, &str)> {
    let inside = text.strip_prefix('[')?;
    for quote in ['"', '\''] {
        if let Some(quoted) = inside.strip_prefix(quote) {
            let end = quoted.find(&format!("{quote}]"))?;
            return Some((quoted[..end].to_owned(), &quoted[end + 2..]));
        }
    }
    let end = inside.find(']')?;
    let index = &inside[..end];
    let is_index = !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit());
    is_index.then(|| (index.to_owned(), &inside[end + 1..]))
}

/// As a JSON Pointer.
pub(super) fn pointer(names: &[String]) -> String {
    names.iter().map(|name| format!("/{}", name.replace('~', "~0").replace('/', "~1"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_name_the_same() {
        let same = [
            ("/assignments/assignments/0/value", "assignments.assignments[0].value"),
            ("/a.b/c", "[\"a.b\"].c"),
            ("/a~1b~0/-", "a/b~.-"),
            ("/0/1", "[0][1]"),
            ("/a/b.c", "a['b.c']"),
        ];
        for (one, other) in same {
            assert_eq!(parse(one), parse(other), "{one}");
            assert_eq!(pointer(&parse(other)), one);
        }
        assert_eq!(parse("a[x]"), ["a", "[x]"]);
        assert_eq!(parse("[é"), ["[é"]);
        assert_eq!(parse("/"), [""]);
        assert!(parse("").is_empty());
    }
}
