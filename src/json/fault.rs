//! What can be wrong with a body.

use std::io;

use struson::reader::ReaderError;

/// A fault in a JSON text, and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} at byte {offset}")]
pub struct Fault {
    /// What is wrong.
    pub kind: FaultKind,
    /// Bytes of the body before the fault.
    pub offset: u64,
}

/// The kinds of [`Fault`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FaultKind {
    /// The body is over before its JSON value is.
    #[error("the JSON ends early")]
    EndedEarly,
    /// There are bytes after the JSON value.
    #[error("there is more after the end of the JSON,")]
    Trailing,
    /// A byte that cannot stand here.
    #[error("unexpected {:?}", char::from(*.0))]
    Unexpected(u8),
    /// A closing bracket of the wrong kind.
    #[error("a closing bracket that does not match")]
    Bracket,
    /// A control character inside a string.
    #[error("a control character in a string")]
    Control,
    /// Not UTF-8.
    #[error("text that is not UTF-8")]
    Utf8,
    /// A backslash sequence that JSON does not know.
    #[error("an invalid escape")]
    Escape,
    /// Neither a number nor `true`, `false`, `null`; or a number of over 1,024 bytes.
    #[error("an invalid number or literal")]
    Scalar,
}

impl FaultKind {
    /// This fault at a byte of the body.
    pub(super) fn at(self, offset: u64) -> Fault {
        Fault { kind: self, offset }
    }
}

/// Why a body could not be read to its end.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The body is not the JSON that it should be.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// What is shown is not JSON, and only struson saw it.
    #[error("{0}")]
    Syntax(String),
    /// The bytes stopped coming.
    #[error(transparent)]
    Io(io::Error),
}

impl From<ReaderError> for ReadError {
    fn from(error: ReaderError) -> Self {
        match error {
            ReaderError::IoError { error, .. } => error.into(),
            other => Self::Syntax(other.to_string()),
        }
    }
}

/// The filter's faults reach struson as I/O errors, and struson's reach the reader of a string so.
impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        match error.downcast::<Fault>().map_err(io::Error::downcast::<ReaderError>) {
            Ok(fault) => Self::Fault(fault),
            Err(Ok(error)) => error.into(),
            Err(Err(error)) => Self::Io(unwrapped(error)),
        }
    }
}

/// Within a string struson passes on the words of an error only, and adds a place in the text that the filter left.
fn unwrapped(error: io::Error) -> io::Error {
    let said = error.to_string();
    let words = said.strip_prefix("IO error '").and_then(|words| words.split_once("' at (roughly)"));
    words.map_or(error, |(words, _)| io::Error::other(words.to_owned()))
}

#[cfg(test)]
mod tests {
    use crate::json::{Cursor, Keep, PrunedReader, Pruner};

    #[test]
    fn a_fault_within_a_string_is_told_as_any_other() {
        for body in ["\"it ends", "[\"it ends", "[1, "] {
            let mut cursor = Cursor::over(PrunedReader::new(body.as_bytes(), Pruner::new(Keep::Whole, 0..0)));
            let error = cursor.excerpt(1000).unwrap_err();
            assert_eq!(error.to_string(), format!("the JSON ends early at byte {}", body.len()));
        }
    }
}
