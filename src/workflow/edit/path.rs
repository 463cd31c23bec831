//! Where a parameter is: a JSON Pointer (RFC 6901), which n8n uses, or a path in the notation of answers.

/// The names and indexes of a path, written as `/rules/values/0` or `rules.values[0]`.
pub(super) fn parse(path: &str) -> Vec<String> {
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

/// `[0]`, `["a.b"]`; also returns the rest.
fn bracketed(text: &str) -> Option<(String, &str)> {
    let inside = text.strip_prefix('[')?;
    if let Some(quoted) = inside.strip_prefix('"') {
        let end = quoted.find("\"]")?;
        return Some((quoted[..end].to_owned(), &quoted[end + 2..]));
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
