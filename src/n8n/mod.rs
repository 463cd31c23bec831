//! The client for n8n's public API: addresses, keys, retries, streamed bodies. It does not know what an
//! execution looks like.
//!
//! Facts about the API are from n8n's source (`packages/cli/src/public-api`) and were verified on n8n
//! 1.123 and 2.41.

mod address;
mod allowance;
mod body;
mod cached;
mod caching;
mod check;
mod client;
mod error;
mod execution;
mod gzip;
mod identity;
mod list;
mod locks;
mod production;
mod progress;
mod request;
mod rerun;
pub(crate) mod retry;
mod slots;
mod stamp;
mod workflows;

pub use address::Address;
pub use allowance::{Allowance, AllowanceLimits};
pub use caching::Caching;
pub use check::{CheckReport, SCOPES};
pub use client::{Client, Settings};
pub use error::Error;
pub use execution::{ExecutionRequest, Reading};
pub use list::{ListCursor, ListQuery, Listing};
pub use locks::Lock;
pub use production::{ProductionCall, ProductionFile, ProductionResponse};
pub use progress::{Progress, Stage};
pub use rerun::VersionToPublish;
pub use stamp::is_final;
pub use workflows::WorkflowQuery;
