//! Why a tool has no answer: one plain sentence that says what to do next.

use crate::{execution, n8n};

/// A failure, in words for the agent.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An argument that is missing, unknown or out of range.
    #[error("{0}")]
    Argument(String),
    /// n8n.
    #[error(transparent)]
    N8n(#[from] n8n::Error),
    /// The body.
    #[error(transparent)]
    Execution(#[from] execution::Error),
    /// What was asked for is not in the execution.
    #[error("{0}")]
    NotThere(String),
}
