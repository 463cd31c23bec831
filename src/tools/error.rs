//! Why a call failed: plain sentences that say what to do next.

use std::sync::Arc;

use crate::toolkit::ArgumentError;
use crate::{execution, json, n8n, store, workflow};

/// A failed call. The message is for the agent.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An argument that is missing, unknown or out of range.
    #[error(transparent)]
    Argument(#[from] ArgumentError),
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
    /// Something that the call needs does not exist, or is in the wrong state.
    #[error("{0}")]
    FailedPrecondition(String),
    /// The shared error of several identical calls.
    #[error(transparent)]
    Common(Arc<Self>),
}

impl Error {
    /// The refusal of one argument; `problem` is the rest of the sentence that begins with the argument's name.
    pub(super) fn argument(name: &'static str, problem: impl Into<String>) -> Self {
        ArgumentError::new(name, problem).into()
    }

    /// The refusal of several arguments together, or of a document: a sentence.
    pub(super) fn arguments(problem: impl Into<String>) -> Self {
        ArgumentError::together(problem).into()
    }

    /// The error of one of the calls that failed together.
    pub(super) fn of_one(error: Arc<Self>) -> Self {
        match Arc::try_unwrap(error) {
            Ok(error) => error,
            Err(error) => match &*error {
                Self::Argument(error) => Self::Argument(error.clone()),
                _ => Self::Common(error),
            },
        }
    }
}
