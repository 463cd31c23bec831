//! A workflow together with the text that it is written in.

use std::sync::Arc;

use super::{Document, Error};

/// A workflow, and its text. Reading a large one takes longer than most edits of it, so that both are passed on.
#[derive(Clone, Debug)]
pub struct Written {
    /// The workflow. The thread that checks an edit shares it.
    pub document: Arc<Document>,
    /// Its text.
    pub text: String,
}

impl Written {
    /// Reads a text.
    ///
    /// # Errors
    /// As [`Document::parse`].
    pub fn parse(text: String) -> Result<Self, Error> {
        Ok(Self { document: Arc::new(Document::parse(text.as_bytes())?), text })
    }
}

impl From<Document> for Written {
    /// A workflow in [its own text](Document::text).
    fn from(document: Document) -> Self {
        Self { text: document.text(), document: Arc::new(document) }
    }
}

/// Derives a workflow from another, or refuses.
pub trait WorkflowEdit<T>: FnOnce(&Written) -> Result<(T, Written), Error> {}

impl<T, F: FnOnce(&Written) -> Result<(T, Written), Error>> WorkflowEdit<T> for F {}
