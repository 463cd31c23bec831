//! Why a client's file cannot be changed.

/// Why a text is not changed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    /// It does not follow the format. Line and column start at 1.
    #[error("line {line}, column {column}: {what}")]
    Syntax { line: usize, column: usize, what: String },
    /// The change would not be the requested one.
    #[error("{0}")]
    Unfit(String),
}

impl Fault {
    /// A fault at this byte of a text.
    pub(super) fn at(text: &str, byte: usize, what: impl Into<String>) -> Self {
        let before = text.get(..byte).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let (line, column) = (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1);
        Self::Syntax { line, column, what: what.into() }
    }
}
