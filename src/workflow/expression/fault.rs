//! Why n8n's parser refuses code.

use std::fmt;

/// A fault and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub kind: FaultKind,
    /// Where, in bytes of the text.
    pub at: usize,
    /// Whether `}}` closed the code while a string, a bracket or something else was open: n8n closes it even there.
    pub is_cut: bool,
    /// Whether no `}}` closes the code, so that it goes on to the end of the text.
    pub is_unclosed: bool,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// A string is not closed on its line.
    UnclosedString,
    /// A template literal is not closed.
    UnclosedTemplate,
    /// A regular expression is not closed on its line.
    UnclosedRegex,
    /// A bracket is not closed.
    UnclosedBracket(char),
    /// A bracket closes nothing, or another kind of bracket.
    UnexpectedBracket(char),
    /// A character that JavaScript does not have outside strings.
    UnexpectedCharacter(char),
    /// Letters directly after a number.
    LetterAfterNumber,
    /// A dot with nothing before it, or without a name after it.
    Dot,
    /// An operator without an operand.
    Operand,
    /// Two values in a row without an operator.
    Operator,
    /// There is nothing between `{{` and `}}`.
    Empty,
    /// A statement where n8n expects a value.
    Statement,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            FaultKind::UnclosedString => f.write_str("a string is not closed")?,
            FaultKind::UnclosedTemplate => f.write_str("a template literal is not closed")?,
            FaultKind::UnclosedRegex => f.write_str("a regular expression is not closed")?,
            FaultKind::UnclosedBracket(bracket) => write!(f, "'{bracket}' is not closed")?,
            FaultKind::UnexpectedBracket(bracket) => write!(f, "'{bracket}' closes nothing")?,
            FaultKind::UnexpectedCharacter(char) => write!(f, "'{}' is not JavaScript here", char.escape_debug())?,
            FaultKind::LetterAfterNumber => f.write_str("letters follow a number")?,
            FaultKind::Dot => f.write_str("a dot is not between a value and a name")?,
            FaultKind::Operand => f.write_str("an operator lacks an operand")?,
            FaultKind::Operator => f.write_str("two values follow each other without an operator")?,
            FaultKind::Empty => f.write_str("there is nothing between {{ and }}")?,
            FaultKind::Statement => f.write_str("it is a statement, not a value")?,
        }
        match self.is_cut {
            true => f.write_str("; the first }} ends an expression, even inside a string"),
            false if self.is_unclosed => f.write_str("; no }} closes the {{ of the expression"),
            false => Ok(()),
        }
    }
}
