//! What can be wrong with a JSON text.

use std::io;

use struson::reader::ReaderError;

/// A fault in a JSON text, and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} at byte {offset}")]
pub struct Fault {
    /// The kind of fault.
    pub kind: FaultKind,
    /// How many bytes of the body come before the fault.
    pub offset: u64,
}

/// The kinds of [`Fault`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FaultKind {
    /// The body ends before its JSON value does.
    #[error("the JSON ends early")]
    EndedEarly,
    /// There is something after the JSON value.
    #[error("trailing data")]
    Trailing,
    /// A byte that the grammar does not allow here.
    #[error("unexpected {:?}", char::from(*.0))]
    Unexpected(u8),
    /// A closing bracket of the wrong kind.
    #[error("mismatched closing bracket")]
    Bracket,
    /// A control character inside a string.
    #[error("control character in a string")]
    Control,
    /// Bytes that are not UTF-8.
    #[error("invalid UTF-8")]
    Utf8,
    /// A backslash sequence that JSON does not have.
    #[error("invalid escape")]
    Escape,
    /// Neither a number nor `true`, `false` or `null`; or a number of more than 1,024 bytes.
    #[error("invalid number or literal")]
    Scalar,
    /// In a flatted text: a string inside an element that is not the index of another one.
    #[error("a string that is not an index")]
    Index,
    /// In a flatted text: its elements refer to each other so often that following them takes more work than is allowed.
    #[error("too expensive to expand")]
    Expansion,
}

impl FaultKind {
    /// This fault at a byte of the body.
    pub(super) fn at(self, offset: u64) -> Fault {
        Fault { kind: self, offset }
    }
}

/// Why a text could not be read to its end.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The pruning filter found a fault.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// A fault in a part of the text, which has no offset of its own.
    #[error("{0}")]
    Syntax(String),
    /// The source of the text failed.
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

/// The filter's faults pass through struson as I/O errors, and so do struson's own while a string is read.
impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        let error = match error.downcast::<Fault>() {
            Ok(fault) => return Self::Fault(fault),
            Err(error) => error,
        };
        match error.downcast::<FaultKind>().map_err(io::Error::downcast::<ReaderError>) {
            Ok(kind) => Self::Syntax(kind.to_string()),
            Err(Ok(error)) => error.into(),
            Err(Err(error)) => Self::Io(unwrapped(error)),
        }
    }
}

/// The same error; for a fault in a part of a body, only its kind.
pub(super) fn without_offset(error: io::Error) -> io::Error {
    error.downcast::<Fault>().map_or_else(|error| error, |fault| io::Error::other(fault.kind))
}

/// Within a string struson passes on only the message of an error, and appends a position in the pruned text, which
/// means nothing to the reader.
fn unwrapped(error: io::Error) -> io::Error {
    let text = error.to_string();
    let message = text.strip_prefix("IO error '").and_then(|text| text.split_once("' at (roughly)"));
    message.map_or(error, |(message, _)| io::Error::other(message.to_owned()))
}

#[cfg(test)]
mod tests {
    use crate::json::{Cursor, Keep, PrunedReader, Pruner};

    #[test]
    fn a_fault_within_a_string_is_reported_like_any_other() {
        for body in ["\"it ends", "[\"it ends", "[1, "] {
            let mut cursor = Cursor::over(PrunedReader::new(body.as_bytes(), Pruner::new(Keep::Whole, 0..0)));
            let error = cursor.excerpt(1000).unwrap_err();
            assert_eq!(error.to_string(), format!("the JSON ends early at byte {}", body.len()));
        }
    }
}
