//! A workflow document: what is shown of it, how it is connected, and what n8n takes of it. Pure; it
//! does not know where documents come from, but for the files of [`mod@file`].

mod accepted;
pub mod document;
pub mod file;
pub mod graph;
pub mod one_node;
pub mod outline;
pub mod whole;

pub use accepted::{Accepted, Change, N8N_1, N8N_2};
pub use document::Document;

/// Why a document is none, in words for the agent.
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
}
