//! Why a call failed: plain sentences that say what to do next.

use crate::toolkit::ArgumentError;
use crate::{execution, json, n8n, store, workflow};

/// A failed call. The message is for the agent.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An argument that is missing, unknown or out of range.
    #[error("{0}")]
    Argument(String),
    /// A request to n8n failed.
    #[error(transparent)]
    N8n(#[from] n8n::Error),
    /// An execution cannot be read from n8n's store.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The body of an execution cannot be read.
    #[error(transparent)]
    Execution(#[from] execution::Error),
    /// The body of a workflow, or of a list of workflows, cannot be read.
    #[error("n8n sent an invalid response: {0}. Nothing of it is shown; try again.")]
    Workflow(#[from] json::ReadError),
    /// A workflow file cannot be read or written.
    #[error(transparent)]
    File(#[from] workflow::file::Error),
    /// What the call needs does not exist, or is not in a state in which the call is possible.
    #[error("{0}")]
    FailedPrecondition(String),
}

impl From<ArgumentError> for Error {
    fn from(error: ArgumentError) -> Self {
        Self::Argument(error.0)
    }
}
