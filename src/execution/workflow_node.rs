//! One node of the executed workflow.

use crate::json::{Cursor, Excerpt, Keep, Members, ReadError, members};
use crate::node_outputs::{self, OutputLabels};

/// A longer node type is cut; real ones never are.
pub(super) const TYPE_CHARS: usize = 200;

/// Memory for the parameters of a node, or for those of them that the table keeps.
const PARAMETER_BYTES: usize = 16 * 1024;

/// One node of a workflow.
#[derive(Debug, Default)]
pub(super) struct WorkflowNode {
    pub name: Option<String>,
    pub node_type: Option<String>,
    pub on_error: Option<String>,
    /// How n8n wrote `on_error` before version 1.
    continue_on_fail: bool,
    pub type_version: Option<f64>,
    pub id: Option<String>,
    pub position: Option<(f64, f64)>,
    pub disabled: bool,
    pub always_output_data: bool,
    pub parameters: Option<Excerpt>,
}

members!(WorkflowNode, |node, cursor| match name {
    ("parameters", node_outputs::PARAMETERS) => node.parameters = Some(cursor.excerpt(PARAMETER_BYTES)?),
    ("name", Keep::Whole) => node.name = cursor.name()?,
    ("type", Keep::Whole) => node.node_type = cursor.text(TYPE_CHARS)?,
    ("typeVersion", Keep::Whole) => node.type_version = cursor.number()?,
    ("onError", Keep::Whole) => node.on_error = cursor.text(TYPE_CHARS)?,
    ("continueOnFail", Keep::Whole) => node.continue_on_fail = cursor.is_true()?,
    ("id", Keep::Whole) => node.id = cursor.text(TYPE_CHARS)?,
    ("position", Keep::Whole) => node.position = read_position(cursor)?,
    ("disabled", Keep::Whole) => node.disabled = cursor.is_true()?,
    ("alwaysOutputData", Keep::Whole) => node.always_output_data = cursor.is_true()?,
});

impl WorkflowNode {
    /// What is kept for a summary: the first six members, up to `continueOnFail`.
    pub(super) const SUMMARY: Keep = Keep::Members(Self::MEMBERS.split_at(6).0);

    /// What is kept to name a node: its id, its name, and its type with its version.
    pub(super) const IDENTITY: Keep = Keep::Members(&Keep::Whole.of_each(["id", "name", "type", "typeVersion"]));

    /// What is kept for a description: all parameters, not only those that decide what a node's outputs are called.
    pub(super) const WHOLE: Keep = Keep::Members(&Keep::extended::<_, { Self::MEMBERS.len() }>(
        Self::MEMBERS.split_at(1).1,
        [("parameters", Keep::Whole)],
    ));

    /// Whether the workflow continues after an error of this node.
    pub(super) fn continues(&self) -> bool {
        self.continue_on_fail || self.on_error.as_deref().is_some_and(|on_error| on_error.starts_with("continue"))
    }

    /// The labels of its outputs, as n8n's editor shows them.
    pub(super) fn output_labels(&self) -> OutputLabels {
        let node_type = self.node_type.as_deref().unwrap_or_default();
        OutputLabels::of_excerpt(node_type, self.type_version, self.on_error.as_deref(), self.parameters.as_ref())
    }
}

/// Reads `[x, y]`; `None` for anything else.
fn read_position(cursor: &mut Cursor<'_>) -> Result<Option<(f64, f64)>, ReadError> {
    let mut position = [None; 2];
    cursor.array(|cursor, at| match position.get_mut(at as usize) {
        Some(part) => cursor.number().map(|number| *part = number),
        None => cursor.skip(),
    })?;
    Ok(position[0].zip(position[1]))
}
