//! Problems of a node that was renamed, so that those before and after an edit can be compared.

use super::Problem;

impl Problem {
    /// Says the same of its node, if that was renamed.
    pub fn rename_node(&mut self, from: &str, to: &str) {
        if self.node == from {
            to.clone_into(&mut self.node);
        }
    }

    /// Says the same of a node that was renamed, wherever it is named: `$('From')`, `From[main:0] -> Other[main:0]`.
    pub fn rename(&mut self, from: &str, to: &str) {
        self.rename_node(from, to);
        for text in [&mut self.reference, &mut self.detail].into_iter().flatten() {
            *text = renamed(text, from, to);
        }
    }
}

/// A text with another name in place of each one that stands for itself.
fn renamed(text: &str, from: &str, to: &str) -> String {
    let is_part = |char: Option<char>| char.is_some_and(char::is_alphanumeric);
    let (mut renamed, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(from).filter(|_| !from.is_empty()) {
        let (before, after) = (&rest[..at], &rest[at + from.len()..]);
        let before_it = before.chars().next_back().or(renamed.chars().next_back().filter(|_| before.is_empty()));
        let goes_on = is_part(before_it) || is_part(after.chars().next());
        renamed.extend([before, if goes_on { from } else { to }]);
        rest = after;
    }
    renamed + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workflow::problems::Rule;

    #[test]
    fn a_connection_follows_a_renamed_node() {
        let mut problem = Problem::new(Rule::NoSuchNode, "A").with_detail("A[main:0] -> C[main:0]".to_owned());
        problem.rename("A", "A 2");
        problem.rename("m", "X");
        assert_eq!((problem.node.as_str(), problem.detail.as_deref()), ("A 2", Some("A 2[main:0] -> C[main:0]")));
    }

    #[test]
    fn a_name_is_followed_wherever_it_stands_for_itself() {
        for (text, expected) in [
            ("$('B').first()", "$('B2').first()"),
            ("it only runs after 'B'", "it only runs after 'B2'"),
            ("$('BB').item.json.aB + B", "$('BB').item.json.aB + B2"),
        ] {
            assert_eq!(renamed(text, "B", "B2"), expected);
        }
        assert_eq!(renamed("x", "", "y"), "x");
    }
}
