//! Workflow documents: how they are shown, how their nodes are connected, how they are edited, and what n8n accepts. Pure
//! except for workflow files; HTTP is not known here.
//!
//! n8n's own workflows stream through [`outline`], [`graph`], [`node`] and [`raw`], which hold a bounded part of
//! them. A workflow that is changed is a [`Document`], held in full.

mod accepted;
pub mod catalogue;
pub mod connections;
pub mod directory;
pub mod document;
pub mod edit;
pub mod expression;
pub mod file;
pub mod folder;
pub mod graph;
mod layout;
pub mod left_over;
pub mod node;
pub mod outline;
pub mod parsed;
pub mod problems;
mod published;
pub mod raw;
pub mod replay;
pub mod revision;
mod store;
pub mod trigger;
mod undo;
pub mod used_types;
mod written;

pub use accepted::{Accepted, Change, N8N_1, N8N_2};
pub use document::Document;
pub use layout::Layout;
pub use published::PublishedVersion;
pub use store::{EditedFile, FileEdit, WriteMode};
pub use undo::version_of;
pub use written::{WorkflowEdit, Written};

/// Why a text is not a workflow, or an edit is not possible, in words for the agent.
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
    /// JSON, but not a workflow.
    #[error("it is not a workflow: {0}")]
    NotWorkflow(String),
    /// There is no such node.
    #[error("there is no node '{wanted}'")]
    NoNode {
        /// The id or name that was looked for.
        wanted: String,
        /// The names of all nodes.
        names: Vec<String>,
    },
    /// One of several edits is not possible.
    #[error("operation {number} ({name}): {error}")]
    Operation {
        /// Its number, from 1.
        number: usize,
        /// Its name.
        name: &'static str,
        /// Why.
        error: Box<Error>,
    },
    /// The edit is not possible.
    #[error("{0}")]
    Edit(String),
}
