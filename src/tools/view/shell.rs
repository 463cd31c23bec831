//! Commands that a person copies into a shell.

/// A word in single quotes.
pub fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}
