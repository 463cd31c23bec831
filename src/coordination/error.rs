//! Why a call has no answer.

use crate::coordination::store::Fault;

/// Why a call has no answer; as an answer it is `{"success": false, "error": "…"}`.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// The rules do not allow it; nothing was changed.
    #[error("{0}")]
    Refused(String),
    /// The database did not do it.
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl Error {
    /// A refusal.
    pub(super) fn refused(text: impl Into<String>) -> Self {
        Self::Refused(text.into())
    }
}

/// What is named is not there: `Task not found: tsk_1`.
pub(super) fn not_found(what: &str, id: &str) -> Error {
    Error::Refused(format!("{what} not found: {id}"))
}
