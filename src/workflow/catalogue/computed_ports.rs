//! The ports that n8n computes from a node's parameters.

use serde_json::Value;

use super::ports::{NodeState, Port};

/// `None` where the parameters do not decide it, or it is not known how.
pub(super) fn computed_inputs(name: &str, node: &NodeState<'_>) -> Option<Vec<Port>> {
    match name {
        "merge" => merge_inputs(node),
        "modelSelector" => {
            let count = node.count("numberInputs", 2)?;
            Some(numbered_ports("ai_languageModel", "Model", count))
        }
        _ => None,
    }
}

/// The editor hides the number of inputs in other modes, and n8n then takes two.
fn merge_inputs(node: &NodeState<'_>) -> Option<Vec<Port>> {
    let counted = match node.text_or(&["mode"], "append") {
        "append" | "combineBySql" | "chooseBranch" => true,
        "combine" => node.text(&["combineBy"]) == Some("combineByPosition"),
        _ => false,
    };
    let count = if counted { node.count("numberInputs", 2)? } else { 2 };
    Some(numbered_ports("main", "Input", count))
}

/// n8n takes none for two.
fn numbered_ports(kind: &str, name: &str, count: usize) -> Vec<Port> {
    let count = if count == 0 { 2 } else { count };
    (1..=count).map(|number| Port::new(kind, &format!("{name} {number}"))).collect()
}

/// `None` where the parameters do not decide it, or it is not known how. `kinds` are those its expression mentions.
pub(super) fn computed_outputs(name: &str, kinds: &[String], node: &NodeState<'_>) -> Option<Vec<Port>> {
    match name {
        "switch" => switch_outputs(node),
        "webhook" => Some(webhook_outputs(node)),
        "respondToWebhook" => Some(respond_outputs(node)),
        "textClassifier" => classifier_outputs(node),
        "sentimentAnalysis" => {
            let categories = node.text_or(&["options", "categories"], "Positive, Neutral, Negative");
            Some(categories.split(',').map(|category| Port::main(category.trim())).collect())
        }
        "evaluation" => Some(match node.text(&["operation"]) {
            Some("checkIfEvaluating") => vec![Port::main("Evaluation"), Port::main("Normal")],
            _ => vec![Port::main("")],
        }),
        "guardrails" => Some(match node.text_or(&["operation"], "classify") {
            "classify" => vec![Port::main("Pass"), Port::main("Fail")],
            _ => vec![Port::main("")],
        }),
        _ if is_vector_store(name, kinds) => Some(vec![Port::new(vector_store_output(node), "")]),
        _ => None,
    }
}

/// One output a rule, or a number of them; version 3 changed the names of all parameters.
fn switch_outputs(node: &NodeState<'_>) -> Option<Vec<Port>> {
    let renewed = node.version >= 3.0;
    if node.text(&["mode"]) == Some("expression") {
        let count = node.count(if renewed { "numberOutputs" } else { "outputsAmount" }, 4)?;
        return Some((0..count).map(|index| Port::main(&index.to_string())).collect());
    }
    if !renewed {
        let rules = node.list(&["rules", "rules"])?;
        return Some(rules.iter().map(|rule| Port::main(text_of(rule, "outputKey"))).collect());
    }
    let fresh_rule = [Value::Null];
    let rules = if node.at(&["rules"]).is_some() { node.list(&["rules", "values"])? } else { &fresh_rule };
    let mut outputs: Vec<Port> = rules.iter().enumerate().map(|(index, rule)| rule_output(rule, index)).collect();
    if node.text(&["options", "fallbackOutput"]) == Some("extra") {
        outputs.push(Port::main(node.text_or(&["options", "renameFallbackOutput"], "Fallback")));
    }
    Some(outputs)
}

/// A rule keeps the name of its output when renaming is switched off, but n8n does not show it then.
fn rule_output(rule: &Value, index: usize) -> Port {
    let renamed = rule.get("renameOutput").and_then(Value::as_bool) == Some(true);
    match text_of(rule, "outputKey") {
        name if renamed && !name.is_empty() => Port::main(name),
        _ => Port::main(&index.to_string()),
    }
}

/// One output for each HTTP method.
fn webhook_outputs(node: &NodeState<'_>) -> Vec<Port> {
    let several = node.at(&["multipleMethods"]).and_then(Value::as_bool) == Some(true);
    match node.at(&["httpMethod"]) {
        Some(Value::Array(methods)) => methods.iter().filter_map(Value::as_str).map(Port::main).collect(),
        Some(method) => vec![Port::main(method.as_str().unwrap_or_default())],
        None if several => vec![Port::main("GET"), Port::main("POST")],
        None => vec![Port::main("GET")],
    }
}

/// Version 1.3 always has the second output, later ones where it is asked for.
fn respond_outputs(node: &NodeState<'_>) -> Vec<Port> {
    let asked = node.at(&["enableResponseOutput"]).and_then(Value::as_bool) == Some(true);
    if node.version == 1.3 || (node.version >= 1.4 && asked) {
        vec![Port::main("Input Data"), Port::main("Response")]
    } else {
        vec![Port::main("")]
    }
}

/// One output a category.
fn classifier_outputs(node: &NodeState<'_>) -> Option<Vec<Port>> {
    let categories = node.list(&["categories", "categories"])?;
    let mut outputs: Vec<Port> = categories.iter().map(|category| Port::main(text_of(category, "category"))).collect();
    if node.text(&["options", "fallback"]) == Some("other") {
        outputs.push(Port::main("Other"));
    }
    Some(outputs)
}

/// The stores share one expression, so what it mentions tells them.
fn is_vector_store(name: &str, kinds: &[String]) -> bool {
    let kind = |wanted| kinds.iter().any(|kind| kind == wanted);
    name.contains("ectorStore") && kinds.len() == 3 && kind("main") && kind("ai_tool") && kind("ai_vectorStore")
}

/// A store is a step of the workflow, a sub-node, or a tool, as its mode says.
fn vector_store_output(node: &NodeState<'_>) -> &'static str {
    match node.text_or(&["mode"], "retrieve") {
        "retrieve" => "ai_vectorStore",
        "retrieve-as-tool" => "ai_tool",
        _ => "main",
    }
}

fn text_of<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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
