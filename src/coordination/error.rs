//! Why a call failed.

use std::time::Duration;

use crate::coordination::store::StoreError;

/// Why a call failed. Clients see it as `{"success": false, "error": "…"}`; see [`failure`](super::failure).
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// The rules do not allow the call; nothing was changed.
    #[error("{0}")]
    Refused(String),
    /// Too many attempts to authenticate are pending; this one was not verified. It can be repeated after this time.
    #[error("Too many attempts to authenticate are waiting, and this one was not checked. Try again in {} s.", .0.as_secs())]
    TooManyAttempts(Duration),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Error {
    /// A refusal with this text.
    pub(super) fn refused(text: impl Into<String>) -> Self {
        Self::Refused(text.into())
    }
}

/// The refusal for an unknown id: `Task not found: tsk_1`.
pub(super) fn not_found(what: &str, id: &str) -> Error {
    Error::Refused(format!("{what} not found: {id}"))
}
