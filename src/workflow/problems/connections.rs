//! Rules about connections and outputs.

use super::super::catalogue::{NodePorts, NodeState, NodeType};
use super::super::edit::labelled_outputs;
use super::super::parsed::ParsedNode;
use super::view::View;
use super::{Problem, Rule};
use crate::json::shorten;

/// The most characters shown of a connection.
const SHOWN_CHARS: usize = 160;

pub(super) fn problems<'a>(view: &View, node_type: &impl Fn(&str) -> Option<&'a NodeType>) -> Vec<Problem> {
    let outputs: Vec<_> = view.nodes.iter().map(|node| outputs(node, node_type)).collect();
    let mut found = Vec::new();
    for connection in &view.connections {
        let shown = || shorten(&connection.to_string(), SHOWN_CHARS);
        let (source, target) = (view.find(&connection.source), view.find(&connection.target));
        if source.is_none() || target.is_none() {
            found.push(Problem::new(Rule::NoSuchNode, &connection.source).with_detail(shown()));
        }
        let Some(outputs) = source.map(|source| &outputs[source]) else { continue };
        if !outputs.has(&connection.output.kind, connection.output.index) {
            let detail = format!("{}; it has {}", shown(), shorten(&outputs.describe(), SHOWN_CHARS));
            found.push(Problem::new(Rule::NoSuchOutput, &connection.source).with_detail(detail));
        }
    }
    found.extend(view.active().filter_map(|(index, node)| always_outputs(node, &outputs[index])));
    found
}

/// n8n's own migration report lists such nodes (`always-output-data-multi-output-v3`): since 3.0, the empty item is added only
/// if all outputs are empty.
fn always_outputs(node: &ParsedNode, outputs: &NodePorts) -> Option<Problem> {
    let is_on = node.raw("alwaysOutputData").is_some_and(|value| value.get() == "true");
    let has_error_output = node.on_error.as_deref() == Some("continueErrorOutput");
    let has_several = matches!(outputs, NodePorts::Known(_)) && outputs.has("main", 1);
    let detail = "before n8n 3.0, its first output gets an empty item although another one has items";
    let problem = || Problem::new(Rule::AlwaysOutputsData, &node.name).with_detail(detail.to_owned());
    (is_on && (has_error_output || has_several)).then(problem)
}

/// The outputs, if they are certainly complete: of a version in the catalogue, with the parameters that decide them.
fn outputs<'a>(node: &ParsedNode, node_type: &impl Fn(&str) -> Option<&'a NodeType>) -> NodePorts {
    let parameters = &node.parameters;
    let is_switch = node.node_type.ends_with(".switch");
    let decides = ["rules", "numberOutputs", "outputsAmount"].iter().any(|name| parameters.contains_key(*name));
    if node.is_disabled || parameters.is_empty() || is_switch && !decides {
        return NodePorts::Unknown;
    }
    let state = NodeState { version: node.version, parameters, on_error: node.on_error.as_deref() };
    match node_type(&node.node_type) {
        Some(known) if known.versions.iter().any(|version| version.as_f64() == Some(node.version)) => {
            known.outputs(&state)
        }
        Some(_) => NodePorts::Unknown,
        None => labelled_outputs(&node.node_type, &state),
    }
}
