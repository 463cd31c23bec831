//! The labels of outputs, for the node types that have them (`packages/nodes-base`).

use super::workflow::WorkflowNode;
use crate::json::Excerpt;

/// A longer label is cut.
const LABEL_CHARS: usize = 60;

/// The label of output `index` of `outputs`, as n8n's editor shows it.
pub(super) fn label(node: &WorkflowNode, index: u64, outputs: u64) -> Option<String> {
    if node.on_error.as_deref() == Some("continueErrorOutput") && outputs > 1 && index + 1 == outputs {
        return Some("error".to_owned());
    }
    let at = usize::try_from(index).ok()?;
    let fixed: &[&str] = match node.node_type.as_deref()? {
        "n8n-nodes-base.if" => &["true", "false"],
        "n8n-nodes-base.splitInBatches" if node.type_version? >= 3.0 => &["done", "loop"],
        "n8n-nodes-base.splitInBatches" if node.type_version? >= 2.0 => &["loop", "done"],
        "n8n-nodes-base.compareDatasets" => &["in A only", "same", "different", "in B only"],
        "n8n-nodes-base.switch" => return switch_key(node.parameters.as_ref()?, at),
        _ => return None,
    };
    fixed.get(at).map(|label| (*label).to_owned())
}

/// The label that the user gave to an output of a Switch node: `rules.values[at].outputKey`.
fn switch_key(parameters: &Excerpt, at: usize) -> Option<String> {
    let rule = element(member(member(parameters, "rules")?, "values")?, at)?;
    if !matches!(member(rule, "renameOutput")?, Excerpt::Scalar(renamed) if renamed == "true") {
        return None;
    }
    match member(rule, "outputKey")? {
        Excerpt::Text(key) => Some(key.cut(LABEL_CHARS).0.into_owned()),
        _ => None,
    }
}

fn member<'a>(value: &'a Excerpt, name: &str) -> Option<&'a Excerpt> {
    match value {
        Excerpt::Object { kept, .. } => kept.iter().find(|(member, _)| member == name).map(|(_, value)| value),
        _ => None,
    }
}

fn element(value: &Excerpt, at: usize) -> Option<&Excerpt> {
    match value {
        Excerpt::Array { kept, .. } => kept.get(at),
        _ => None,
    }
}
