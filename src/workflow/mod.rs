//! A workflow document: what is shown of it, how it is connected, how it is edited, and what n8n takes of
//! it. Pure but for the files that it may come from; it does not know HTTP.

mod accepted;
pub mod catalogue;
pub mod connections;
pub mod document;
pub mod edit;
pub mod file;
pub mod folder;
pub mod graph;
mod layout;
pub mod link;
pub mod one_node;
pub mod outline;
pub mod projections;
mod store;
pub mod trigger;
pub mod types;
pub mod whole;

pub use accepted::{Accepted, Change, N8N_1, N8N_2};
pub use document::Document;
pub use layout::Layout;

/// Why a document is none, or cannot be edited so, in words for the agent.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Not JSON.
    #[error("it is not JSON: {what} at line {line}, column {column}")]
    NotJson {
        /// What the parser found.
        what: String,
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
    },
    /// JSON, but no workflow.
    #[error("it is not a workflow: {0}")]
    NotWorkflow(String),
    /// There is no such node.
    #[error("there is no node '{wanted}'")]
    NoNode {
        /// What was asked for.
        wanted: String,
        /// The names that there are.
        names: Vec<String>,
    },
    /// An edit that is not possible.
    #[error("{0}")]
    Edit(String),
}
