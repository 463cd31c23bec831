//! Why a call failed.

use std::time::Duration;

use serde_json::{Value, json};

use crate::coordination::store::StoreError;
use crate::toolkit::ArgumentError;

/// Why a call failed. Clients see its [`answer`](Self::answer).
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// An argument that is missing, unknown or not allowed.
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    /// The rules do not allow the call; nothing was changed.
    #[error("{0}")]
    Refused(String),
    /// The rules do not allow the call; only its session was renewed.
    #[error("{0}")]
    RefusedInSession(&'static str),
    /// Too many attempts to authenticate are pending; this one was not verified. It can be repeated after this time.
    #[error("Too many attempts to authenticate are waiting, and this one was not checked. Try again in {} s.", .0.as_secs())]
    TooManyAttempts(Duration),
    /// The health check failed: its answer.
    #[error("The health check failed: {0}")]
    Unhealthy(Value),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Error {
    /// The answer to the call: `{"success": false, "error": "…"}`. If the call can be repeated after some time,
    /// `retry_after` says after how many seconds. A failed health check has an answer of its own.
    pub fn answer(&self) -> Value {
        match self {
            Self::Unhealthy(answer) => answer.clone(),
            Self::TooManyAttempts(wait) => {
                json!({"success": false, "error": self.to_string(), "retry_after": wait.as_secs()})
            }
            _ => json!({"success": false, "error": self.to_string()}),
        }
    }

    /// A refusal with this text.
    pub(super) fn refused(text: impl Into<String>) -> Self {
        Self::Refused(text.into())
    }
}

/// The refusal for an unknown id: `Task not found: tsk_1`.
pub(super) fn not_found(what: &str, id: &str) -> Error {
    Error::Refused(format!("{what} not found: {id}"))
}
