//! The shape of an n8n execution, one projection a file.
//!
//! A projection is a table of what it keeps ([`Keep`](crate::json::Keep)) and the code that reads it.
//! It depends on no order of keys: `workflowData` may stand before or behind `data`, an error before
//! or behind `runData`; of equal keys the last one counts, as in JavaScript. Facts about n8n are from
//! its source (`packages/workflow/src/run-execution-data`, `packages/cli/src/public-api`) and were
//! seen on n8n 1.123 and 2.41.

mod body;
mod failure;
mod header;
mod inputs;
mod items;
mod label;
pub mod node;
mod run;
pub mod summary;
mod workflow;

pub use failure::Failure;
pub use header::{Header, duration};
pub use items::{Port, Ports};
pub use run::{Run, Source};

/// Why an execution could not be shown.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The body could not be read to its end.
    #[error("The body is not whole or not valid JSON: {0}. Nothing of it is shown; get it once more.")]
    Read(#[from] crate::json::ReadError),
    /// JSON, but not an execution.
    #[error(
        "This is JSON, but not an n8n execution: it has no `id`, `status` or `data`. Give what GET /api/v1/executions/{{id}}?includeData=true answers."
    )]
    NotAnExecution,
}
