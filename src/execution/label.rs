//! What people call an output of the executed node.

use super::workflow::WorkflowNode;
use crate::node_outputs::OutputLabels;

/// The labels of the node's outputs, as n8n's editor shows them.
pub(super) fn labels(node: &WorkflowNode) -> OutputLabels {
    let node_type = node.node_type.as_deref().unwrap_or_default();
    OutputLabels::of_excerpt(node_type, node.type_version, node.on_error.as_deref(), node.parameters.as_ref())
}
