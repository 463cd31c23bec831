//! The way to n8n: addresses, keys, retries, the streamed body. It does not know what an execution
//! looks like.
//!
//! Facts about n8n's public API are from its source (`packages/cli/src/public-api`) and were seen on
//! n8n 1.123 and 2.41.

mod address;
mod body;
mod check;
mod client;
mod error;
mod execution;
mod gzip;
mod list;
mod locks;
mod production;
mod progress;
mod request;
mod retry;
mod workflows;

pub use address::Address;
pub use check::{SCOPES, Standing};
pub use client::{Client, Settings};
pub use error::Error;
pub use execution::ExecutionRequest;
pub use list::{ListCursor, ListQuery, Listing};
pub use locks::Lock;
pub use production::{ProductionAnswer, ProductionCall};
pub use progress::{Progress, Stage};
pub use workflows::WorkflowQuery;
