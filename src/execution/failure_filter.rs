//! Selects failed executions of a store by what no column holds: the failed node, and the texts of its error.

use super::failure::Failure;
use super::stored::{StoredExecution, StoredProjection};
use super::summary::SummaryProjection;

/// Which failures are selected.
#[derive(Clone, Debug, Default)]
pub struct FailureFilter {
    /// The name of the node that failed.
    pub node: Option<String>,
    /// A part of the error's message or description, in any case.
    pub text: Option<String>,
}

impl FailureFilter {
    /// Whether every execution is selected, failed or not.
    pub fn is_empty(&self) -> bool {
        self.node.is_none() && self.text.is_none()
    }

    /// Reads why an execution failed; `None` if it is not selected, did not fail, or cannot be read.
    pub fn find(&self, execution: StoredExecution<'_>) -> Option<Failure> {
        let error = SummaryProjection.read_stored(execution).ok()?.error?;
        self.matches(&error).then_some(error)
    }

    fn matches(&self, error: &Failure) -> bool {
        let is_node = self.node.is_none() || self.node == error.node_name;
        let texts = [&error.message, &error.description].into_iter().flatten();
        let mut texts = texts.map(|text| text.kept.to_lowercase());
        is_node && self.text.as_ref().is_none_or(|part| texts.any(|text| text.contains(&part.to_lowercase())))
    }
}
