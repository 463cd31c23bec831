//! Why a tool has no answer: one plain sentence that says what to do next.

use crate::toolkit::ArgumentError;
use crate::{execution, json, n8n, workflow};

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
    /// The body of a workflow, or of a list of them.
    #[error("n8n's answer is not what it should be: {0}. Nothing of it is shown; try again.")]
    Workflow(#[from] json::ReadError),
    /// A file.
    #[error(transparent)]
    File(#[from] workflow::file::Error),
    /// What was asked for is not there.
    #[error("{0}")]
    NotThere(String),
}

impl From<ArgumentError> for Error {
    fn from(refusal: ArgumentError) -> Self {
        Self::Argument(refusal.0)
    }
}
