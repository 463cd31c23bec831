//! The inputs and outputs that n8n computes from a node's parameters.

use super::ports::NodePort;
use crate::node_outputs::{self, NodeState};

/// The inputs of a type, named without its package; `None` if they do not depend on the parameters, or it is unknown
/// how.
pub(super) fn computed_inputs(name: &str, node: &NodeState<'_>) -> Option<Vec<NodePort>> {
    match name {
        "merge" => merge_inputs(node),
        "modelSelector" => {
            let count = node.count("numberInputs", 2)?;
            Some(numbered_ports("ai_languageModel", "Model", count))
        }
        _ => None,
    }
}

/// In the other modes the editor hides the number of inputs, and n8n then uses two.
fn merge_inputs(node: &NodeState<'_>) -> Option<Vec<NodePort>> {
    let counted = match node.text_or(&["mode"], "append") {
        "append" | "combineBySql" | "chooseBranch" => true,
        "combine" => node.text(&["combineBy"]) == Some("combineByPosition"),
        _ => false,
    };
    let count = if counted { node.count("numberInputs", 2)? } else { 2 };
    Some(numbered_ports("main", "Input", count))
}

/// n8n treats 0 as 2.
fn numbered_ports(kind: &str, name: &str, count: usize) -> Vec<NodePort> {
    let count = if count == 0 { 2 } else { count };
    (1..=count).map(|number| NodePort::new(kind, &format!("{name} {number}"))).collect()
}

/// The outputs of a type, named without its package; `None` if they do not depend on the parameters, or it is unknown
/// how. `kinds` are the connection types that its expression mentions.
pub(super) fn computed_outputs(name: &str, kinds: &[String], node: &NodeState<'_>) -> Option<Vec<NodePort>> {
    if is_vector_store(name, kinds) {
        return Some(vec![NodePort::new(vector_store_output(node), "")]);
    }
    let names = node_outputs::computed_outputs(name, node)?;
    Some(names.iter().map(|name| NodePort::main(name)).collect())
}

/// The stores share one expression, which is recognised by the connection types that it mentions.
fn is_vector_store(name: &str, kinds: &[String]) -> bool {
    let kind = |wanted| kinds.iter().any(|kind| kind == wanted);
    name.contains("ectorStore") && kinds.len() == 3 && kind("main") && kind("ai_tool") && kind("ai_vectorStore")
}

/// Depending on its mode, a store is a step of the workflow, a sub-node, or a tool.
fn vector_store_output(node: &NodeState<'_>) -> &'static str {
    match node.text_or(&["mode"], "retrieve") {
        "retrieve" => "ai_vectorStore",
        "retrieve-as-tool" => "ai_tool",
        _ => "main",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::samples;
    use super::*;

    fn outputs(node_type: &str, version: f64, parameters: Value) -> String {
        let catalogue = samples::catalogue();
        let node = NodeState { version, parameters: parameters.as_object().unwrap(), on_error: None };
        catalogue.find(node_type).unwrap().outputs(&node).describe()
    }

    fn inputs(node_type: &str, version: f64, parameters: Value) -> String {
        let catalogue = samples::catalogue();
        let node = NodeState { version, parameters: parameters.as_object().unwrap(), on_error: None };
        catalogue.find(node_type).unwrap().inputs(&node).describe()
    }

    #[test]
    fn the_outputs_of_a_switch_are_its_rules() {
        let rules = json!({"rules": {"values": [
            {"renameOutput": true, "outputKey": "Urgent"}, {"outputKey": "forgotten"}
        ]}, "options": {"fallbackOutput": "extra"}});
        assert_eq!(outputs("base.switch", 3.2, rules), "main:0 'Urgent', main:1 '1', main:2 'Fallback'");
        assert_eq!(outputs("base.switch", 3.2, json!({})), "main:0 '0'");
        assert_eq!(
            outputs("base.switch", 2.0, json!({"rules": {"rules": [{"outputKey": "a"}, {}]}})),
            "main:0 'a', main:1"
        );
        let counted = |count: Value| json!({"mode": "expression", "numberOutputs": count});
        assert_eq!(outputs("base.switch", 3.0, counted(json!(2))), "main:0 '0', main:1 '1'");
        assert_eq!(outputs("base.switch", 3.0, counted(json!("={{ $json.n }}"))), "any number of main");
        assert_eq!(outputs("base.switch", 3.0, counted(json!(1e18))), "any number of main");
        assert_eq!(outputs("base.switch", 3.0, counted(json!(-1))), "none");
        assert_eq!(outputs("base.switch", 1.0, json!({})), "main:0 'a', main:1 'b'", "as version 1 declares them");
    }

    #[test]
    fn a_merge_has_as_many_inputs_as_its_mode_counts() {
        assert_eq!(inputs("base.merge", 3.0, json!({})), "main:0 'Input 1', main:1 'Input 2'");
        let many = |mode: &str| json!({"mode": mode, "numberInputs": 3});
        assert_eq!(inputs("base.merge", 3.0, many("append")), "main:0 'Input 1', main:1 'Input 2', main:2 'Input 3'");
        assert_eq!(inputs("base.merge", 3.0, many("combine")), "main:0 'Input 1', main:1 'Input 2'");
        assert_eq!(inputs("base.merge", 3.0, json!({"numberInputs": "={{ 3 }}"})), "any number of main");
    }

    #[test]
    fn other_outputs_follow_their_parameters() {
        for (node_type, version, parameters, expected) in [
            ("base.webhook", 2.0, json!({}), "main:0 'GET'"),
            ("base.webhook", 2.0, json!({"httpMethod": "PUT"}), "main:0 'PUT'"),
            ("base.webhook", 2.0, json!({"multipleMethods": true}), "main:0 'GET', main:1 'POST'"),
            ("base.webhook", 2.0, json!({"httpMethod": ["GET", "PUT"]}), "main:0 'GET', main:1 'PUT'"),
            ("base.respondToWebhook", 1.3, json!({}), "main:0 'Input Data', main:1 'Response'"),
            ("base.respondToWebhook", 1.5, json!({}), "main:0"),
            ("@acme/ai.textClassifier", 1.0, json!({"categories": {"categories": [{"category": "a"}]}}), "main:0 'a'"),
            ("@acme/ai.textClassifier", 1.0, json!({"options": {"fallback": "other"}}), "main:0 'Other'"),
            ("@acme/ai.sentimentAnalysis", 1.0, json!({"options": {"categories": "a, b"}}), "main:0 'a', main:1 'b'"),
            ("@acme/ai.guardrails", 1.0, json!({}), "main:0 'Pass', main:1 'Fail'"),
            ("base.evaluation", 1.0, json!({"operation": "setOutputs"}), "main:0"),
            ("@acme/ai.vectorStoreMemory", 1.0, json!({}), "ai_vectorStore:0"),
            ("@acme/ai.vectorStoreMemory", 1.0, json!({"mode": "retrieve-as-tool"}), "ai_tool:0"),
            ("@acme/ai.vectorStoreMemory", 1.0, json!({"mode": "insert"}), "main:0"),
        ] {
            assert_eq!(outputs(node_type, version, parameters.clone()), expected, "{node_type} {parameters}");
        }
    }
}
