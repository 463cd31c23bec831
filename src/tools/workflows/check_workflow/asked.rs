//! The references in a workflow's expressions, as questions about the items of an execution.

use std::collections::HashMap;

use super::compared::CheckedNode;
use crate::execution::lookup::{self, Of, Question};
use crate::workflow::expression::{Access, Origin, ParameterText, Reference, Scanned, Step, Syntax, Which, scan};
use crate::workflow::parsed::ParsedNode;

/// A reference, and the question that it is.
pub(super) struct Asked {
    /// The node whose expression it is.
    pub node: String,
    /// Where the expression is, a JSON Pointer below `parameters`.
    pub parameter: String,
    /// As it is written.
    pub reference: String,
    /// Whether its expression, or the condition that it is in, provides for a missing value.
    pub is_guarded: bool,
    /// Whether its expression asks whether the other node was executed.
    pub asks_if_executed: bool,
    pub question: Question,
}

/// Conditions that are about whether there is a value (`FilterOperatorType` in `packages/workflow/src/interfaces.ts`; the last
/// two of If before its version 2).
const ASKS_FOR_VALUE: [&str; 6] = ["exists", "notExists", "empty", "notEmpty", "isEmpty", "isNotEmpty"];

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
    if reference.path.is_empty() {
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
            (receiver.ran_as.clone()?, Of::Input(of_which(*which)))
        }
        Origin::Node { name, which } => {
            let output = by_name.get(name.as_str())?.output_as.clone()?;
            let asking = node.ran_as.clone().or_else(|| node.output_as.clone())?;
            (asking, Of::Output { node: output, which: of_which(*which) })
        }
    };
    let asks_if_executed = match &reference.origin {
        Origin::Node { name, .. } => {
            scanned.names.iter().any(|named| named.access == Access::IsExecuted && named.name == *name)
        }
        Origin::Input(_) => false,
    };
    Some(Asked {
        node: node.node.name.clone(),
        parameter: text.pointer.clone(),
        reference: text.text.get(reference.range.clone()).unwrap_or_default().to_owned(),
        is_guarded: reference.is_guarded || is_condition_on_value(&node.node, &text.pointer),
        asks_if_executed,
        question: Question { node: asking, of, path: reference.path.iter().map(step).collect() },
    })
}

/// Whether a Code node runs once for all items.
fn runs_once(node: &ParsedNode) -> bool {
    node.parameter("mode") != Some("runOnceForEachItem") && !node.node_type.ends_with(".functionItem")
}

/// Whether a parameter is a side of a condition that is about whether there is a value.
fn is_condition_on_value(node: &ParsedNode, pointer: &str) -> bool {
    let Some(condition) = pointer.rsplit_once('/').and_then(|(condition, _)| node.at(condition)) else { return false };
    let operation = condition["operator"]["operation"].as_str().or(condition["operation"].as_str());
    operation.is_some_and(|operation| ASKS_FOR_VALUE.contains(&operation))
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
