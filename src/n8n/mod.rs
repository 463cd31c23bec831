//! The way to n8n: addresses, keys, retries, the streamed body. It does not know what an execution
//! looks like.
//!
//! Facts about n8n's public API are from its source (`packages/cli/src/public-api`) and were seen on
//! n8n 1.123 and 2.41.

mod activation;
mod address;
mod body;
mod check;
mod client;
mod error;
mod execution;
mod gzip;
mod list;
mod production;
mod progress;
mod request;
mod retry;
mod secret;
mod turns;
mod workflows;

pub use activation::Activation;
pub use address::Address;
pub use body::BodyText;
pub use check::{SCOPES, Standing};
pub use client::{Client, Settings};
pub use error::Error;
pub use execution::ExecutionRequest;
pub use list::{ListQuery, Listing};
pub use production::{ProductionAnswer, ProductionCall};
pub use progress::{Progress, Stage};
pub use secret::Secret;
pub use turns::Turn;
pub use workflows::WorkflowQuery;
