//! The references in a workflow's expressions, as questions about the items of an execution.

use std::collections::HashMap;

use serde_json::Value;

use super::compared::CheckedNode;
use crate::execution::lookup::{self, Of, Question};
use crate::workflow::expression::{
    Access, NodeName, Origin, ParameterText, Reference, Scanned, Step, Syntax, Which, scan,
};
use crate::workflow::parsed::ParsedNode;

/// A reference, and the question that it poses.
pub(super) struct Asked {
    /// The node whose expression it is.
    pub node: String,
    /// Where the expression is, a JSON Pointer below `parameters`.
    pub parameter: String,
    /// Its source text.
    pub reference: String,
    /// Whether its expression, or the condition that contains it, provides for a missing value.
    pub is_guarded: bool,
    /// Whether the other node may not have run: its expression checks for that, or code may not reach this reference.
    pub may_not_run: bool,
    pub question: Question,
}

/// Conditions that test whether there is a value (`FilterOperatorType` in `packages/workflow/src/interfaces.ts`; the last
/// two belong to If before its version 2).
const ASKS_FOR_VALUE: [&str; 6] = ["exists", "notExists", "empty", "notEmpty", "isEmpty", "isNotEmpty"];

/// Nodes whose parameters n8n evaluates only for the first item (`getNodeParameter(…, 0)` in `n8n-nodes-base`).
const EVALUATED_ONCE: [&str; 8] = [
    "n8n-nodes-base.respondToWebhook",
    "n8n-nodes-base.wait",
    "n8n-nodes-base.stopAndError",
    "n8n-nodes-base.limit",
    "n8n-nodes-base.sort",
    "n8n-nodes-base.splitInBatches",
    "n8n-nodes-base.aggregate",
    "n8n-nodes-base.summarize",
];

/// All references that can be looked up.
pub(super) fn asked(nodes: &[CheckedNode]) -> Vec<Asked> {
    let by_name: HashMap<_, _> = nodes.iter().map(|node| (node.node.name.as_str(), node)).collect();
    let mut asked = Vec::new();
    for node in nodes {
        for text in &node.node.texts {
            let Some(syntax) = text.syntax else { continue };
            let scanned = scan(&text.text, syntax);
            let of_text = |reference| of_reference(node, text, &scanned, reference, &by_name);
            asked.extend(scanned.references.iter().filter_map(of_text));
        }
    }
    asked
}

fn of_reference(
    node: &CheckedNode,
    text: &ParameterText,
    scanned: &Scanned,
    reference: &Reference,
    by_name: &HashMap<&str, &CheckedNode>,
) -> Option<Asked> {
    if reference.path.is_empty() || is_written(text, scanned, reference) {
        return None;
    }
    let (asking, of) = match &reference.origin {
        // Code that runs once has no current item.
        Origin::Input(Which::Item) if runs_once(&node.node) && text.syntax == Some(Syntax::Code) => return None,
        Origin::Input(which) => {
            let receiver = match &node.root {
                Some(root) => by_name.get(root.as_str())?,
                None => node,
            };
            let which = match which {
                Which::Item if is_evaluated_once(&node.node) => Which::First,
                which => *which,
            };
            (receiver.ran_as.clone()?, Of::Input(of_which(which)))
        }
        Origin::Node { name, which } => {
            let output = by_name.get(name.as_str())?.output_as.clone()?;
            let asking = node.ran_as.clone().or_else(|| node.output_as.clone())?;
            (asking, Of::Output { node: output, which: of_which(*which) })
        }
    };
    let may_not_run = match &reference.origin {
        Origin::Node { name, .. } => {
            let asks = |named: &NodeName| named.access == Access::IsExecuted && named.name == *name;
            scanned.has_branches || scanned.names.iter().any(asks)
        }
        Origin::Input(_) => false,
    };
    let written = text.text.get(reference.range.clone()).unwrap_or_default();
    Some(Asked {
        node: node.node.name.clone(),
        parameter: text.pointer.clone(),
        reference: written.to_owned(),
        is_guarded: reference.is_guarded || is_condition_on_value(&node.node, &text.pointer, written),
        may_not_run,
        question: Question { node: asking, of, path: reference.path.iter().map(step).collect() },
    })
}

/// Whether a Code node runs once for all items.
fn runs_once(node: &ParsedNode) -> bool {
    node.parameter("mode") != Some("runOnceForEachItem") && !node.node_type.ends_with(".functionItem")
}

/// Whether n8n evaluates the parameters of a node for its first item only.
fn is_evaluated_once(node: &ParsedNode) -> bool {
    EVALUATED_ONCE.contains(&node.node_type.as_str()) || node.member("executeOnce") == Some(Value::Bool(true))
}

/// Whether the reference reads nothing of an item: code assigns the field, or has done so in an earlier statement.
fn is_written(text: &ParameterText, scanned: &Scanned, reference: &Reference) -> bool {
    let is_before = |other: &Reference| {
        let between = text.text.get(other.range.end..reference.range.start);
        between.is_some_and(|between| between.contains([';', '\n']))
    };
    let writes = |other: &Reference| {
        other.is_written
            && other.origin == reference.origin
            && reference.path.starts_with(&other.path)
            && is_before(other)
    };
    reference.is_written || scanned.references.iter().any(writes)
}

/// Whether a parameter is one side of a condition that tests whether a value exists, or of another condition on the same value
/// next to such a test.
fn is_condition_on_value(node: &ParsedNode, pointer: &str, reference: &str) -> bool {
    let asks = |condition: &Value| {
        let operation = condition["operator"]["operation"].as_str().or(condition["operation"].as_str());
        operation.is_some_and(|operation| ASKS_FOR_VALUE.contains(&operation))
    };
    let above = |pointer: &str| pointer.rsplit_once('/').map(|(above, _)| above.to_owned());
    let Some(condition) = above(pointer) else { return false };
    let sides = ["leftValue", "value1"];
    let is_about = |condition: &Value| {
        sides.iter().any(|side| condition[side].as_str().is_some_and(|text| text.contains(reference)))
    };
    let beside = above(&condition).and_then(|list| node.at(&list)?.as_array());
    node.at(&condition).is_some_and(asks)
        || beside.into_iter().flatten().any(|condition| asks(condition) && is_about(condition))
}

fn of_which(which: Which) -> lookup::Which {
    match which {
        Which::Item | Which::Any => lookup::Which::Any,
        Which::First => lookup::Which::First,
        Which::Last => lookup::Which::Last,
        Which::At(index) => lookup::Which::Index(index),
    }
}

fn step(step: &Step) -> lookup::Step {
    match step {
        Step::Name(name) => lookup::Step::Name(name.clone()),
        Step::Index(index) => lookup::Step::Index(*index),
    }
}
