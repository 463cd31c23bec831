//! What is known of a node in addition to its summary.

use crate::execution::fields::{FieldView, Together};
use crate::json::Excerpt;
use crate::secrets::redact;

/// What is known of a node in addition to its summary.
#[derive(Clone, Debug, Default)]
pub struct DescribedNode {
    /// The outputs whose items it took, each once: at most 8 nodes with their `main` outputs, from 0.
    pub sources: Vec<(String, u64)>,
    /// The first item of its outputs.
    pub sample: Option<Excerpt>,
    /// A hash of the text of its `json`.
    pub sample_hash: u64,
    /// The message of the first error of its runs, shortened.
    pub error: Option<String>,
    /// The first item of the input that n8n stores itself: what a sub-node of an AI agent was called with.
    pub input: Option<Excerpt>,
    /// The paths of its items whose values are worth reporting, the most important first.
    pub fields: Vec<FieldView>,
    /// Facts about them that hold for the same items.
    pub together: Vec<Together>,
    /// Whether it did not run, since its output was pinned.
    pub pinned: bool,
    /// How it is set up.
    pub settings: NodeSettings,
}

/// How a node is set up.
#[derive(Clone, Debug, Default)]
pub struct NodeSettings {
    /// What n8n's editor calls its `main` outputs, if there are several and their names are known.
    pub output_labels: Vec<String>,
    /// n8n's `onError`, or `continueOnFail`, if the execution goes on after an error.
    pub on_error: Option<String>,
    /// Whether it is disabled.
    pub disabled: bool,
    /// Whether it always outputs data: an empty item if there would be none.
    pub always_output_data: bool,
    /// Its parameters.
    pub parameters: Option<Excerpt>,
}

impl DescribedNode {
    /// The memory that it takes, bytes: an estimate.
    pub(super) fn bytes(&self) -> usize {
        const FIELD_BYTES: usize = size_of::<FieldView>() + 64;
        let texts = |field: &FieldView| {
            let values: usize = field.values.iter().map(|(value, _)| 40 + value.len()).sum();
            FIELD_BYTES + 2 * field.path.len() + values
        };
        let claims = self.together.iter().map(|one| 200 * one.claims.len()).sum::<usize>();
        let items = self.sample.iter().chain(&self.input).map(Excerpt::bytes).sum::<usize>();
        let error = self.error.as_ref().map_or(0, String::len);
        size_of::<Self>() + error + self.fields.iter().map(texts).sum::<usize>() + claims + items
    }

    /// Forgets everything about the values in its items.
    pub(super) fn forget_items(&mut self) {
        (self.sample, self.input) = (None, None);
        (self.fields, self.together) = (Vec::new(), Vec::new());
    }

    /// Masks the values of known secret keys.
    pub(super) fn redact(&mut self) {
        let items = self.sample.iter_mut().chain(&mut self.input);
        items.chain(&mut self.settings.parameters).for_each(redact::item);
    }
}
