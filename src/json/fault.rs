//! What can be wrong with a body.

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
