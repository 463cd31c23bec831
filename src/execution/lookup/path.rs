//! Paths, and how they are written.

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// To the member of an object.
    Name(String),
    /// To the element of an array, from 0.
    Index(u64),
}

/// A path as written in an expression: `lines[0].taxRate`, `["a name"].b`. A name that is not an identifier is put in
/// brackets, as JSON.
///
/// ```
/// use n8n_lens::execution::lookup::{Step, path_text};
///
/// let path = [Step::Name("tax rates".to_owned()), Step::Index(2), Step::Name("rate".to_owned())];
/// assert_eq!(path_text(&path), r#"["tax rates"][2].rate"#);
/// ```
pub fn path_text(path: &[Step]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Step::Index(index) => text.push_str(&format!("[{index}]")),
            Step::Name(name) if is_identifier(name) => {
                if !text.is_empty() {
                    text.push('.');
                }
                text.push_str(name);
            }
            Step::Name(name) => text.push_str(&format!("[{}]", serde_json::Value::from(name.as_str()))),
        }
    }
    text
}

/// Whether a name can follow a dot. (Some more can in JavaScript; in brackets they are right, too.)
fn is_identifier(name: &str) -> bool {
    let is_part = |char: char| char.is_alphanumeric() || matches!(char, '_' | '$');
    name.chars().all(is_part) && name.chars().next().is_some_and(|first| !first.is_numeric())
}

/// A simple path, of names with dots between them and indexes in brackets: `lines[0].taxRate`. What is not an index stays
/// part of a name.
pub fn path_of(text: &str) -> Vec<Step> {
    let mut path = Vec::new();
    for part in text.split('.') {
        let (name, indexes) = part.split_at(part.find('[').unwrap_or(part.len()));
        let indexes: Option<Vec<_>> =
            indexes.split_terminator(']').map(|index| index.strip_prefix('[')?.parse().ok()).collect();
        match indexes {
            Some(indexes) => {
                path.extend((!name.is_empty() || indexes.is_empty()).then(|| Step::Name(name.to_owned())));
                path.extend(indexes.into_iter().map(Step::Index));
            }
            None => path.push(Step::Name(part.to_owned())),
        }
    }
    if text.is_empty() { Vec::new() } else { path }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read_as_they_are_written() {
        for text in ["a", "a.b", "a[0].b[1][2]", "[3].x", "$a_1.注文", ""] {
            assert_eq!(path_text(&path_of(text)), text, "{text}");
        }
        assert_eq!(path_of("a[x].b"), [Step::Name("a[x]".to_owned()), Step::Name("b".to_owned())]);
        assert_eq!(path_text(&path_of("1a.b c.")), r#"["1a"]["b c"][""]"#);
    }
}
