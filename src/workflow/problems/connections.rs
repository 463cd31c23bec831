//! Rules about connections and outputs.

use super::super::catalogue::{NodePorts, NodeState, NodeType};
use super::super::edit::labelled_outputs;
use super::super::parsed::ParsedNode;
use super::view::View;
use super::{Problem, Rule};
use crate::json::shorten;

/// The most characters shown of a connection.
const SHOWN_CHARS: usize = 160;

/// `outputs` are those of each node.
pub(super) fn problems(view: &View, outputs: &[NodePorts]) -> Vec<Problem> {
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
    found
}

/// The nodes that n8n's own migration report names (`always-output-data-multi-output-v3`): since 3.0, the empty item is added
/// only where all outputs are empty.
pub(super) fn always_output(view: &View, outputs: &[NodePorts]) -> Vec<String> {
    let is_one = |(index, node): &(usize, &ParsedNode)| {
        let is_on = node.raw("alwaysOutputData").is_some_and(|value| value.get() == "true");
        let has_error_output = node.on_error.as_deref() == Some("continueErrorOutput");
        let has_several = matches!(outputs[*index], NodePorts::Known(_)) && outputs[*index].has("main", 1);
        is_on && (has_error_output || has_several)
    };
    view.active().filter(is_one).map(|(_, node)| node.name.clone()).collect()
}

/// The outputs that are surely all: of a version that the catalogue knows, and with the parameters that decide them.
pub(super) fn outputs<'a>(node: &ParsedNode, node_type: &impl Fn(&str) -> Option<&'a NodeType>) -> NodePorts {
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
