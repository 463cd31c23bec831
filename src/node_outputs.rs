//! What n8n's editor calls the outputs of a node, if the node itself decides it: `true` and `false` of an IF, the
//! names of a Switch's rules, `error`.
//!
//! Runs of an execution, connections of a workflow and the node catalogue all need it, and executions and workflows
//! must not import each other. Facts: the `outputs` of the node types in `packages/nodes-base` and
//! `packages/@n8n/nodes-langchain` of n8n.
//!
//! ```
//! use n8n_lens::node_outputs::{NodeState, OutputLabels};
//!
//! let parameters = serde_json::Map::new();
//! let node = NodeState { version: 2.2, parameters: &parameters, on_error: Some("continueErrorOutput") };
//! let labels = OutputLabels::new("n8n-nodes-base.if", &node);
//! assert_eq!(labels.names().unwrap(), ["true", "false", "error"]);
//! ```

use serde_json::{Map, Value};

use crate::json::{Detail, Excerpt, Keep, shorten};

/// A node with more outputs has a broken parameter, and they are not worth counting.
const MAX_OUTPUTS: usize = 1_000;

/// Outputs usually have short names; a longer one is cut.
const LABEL_CHARS: usize = 60;

/// How n8n's editor labels the output for items that failed.
const ERROR: &str = "error";

/// The parameters that decide outputs; everything else is pruned.
pub const PARAMETERS: Keep = Keep::Members(&[
    ("mode", Keep::Whole),
    ("numberOutputs", Keep::Whole),
    ("outputsAmount", Keep::Whole),
    ("rules", Keep::Members(&[("values", Keep::EachElement(&RULE)), ("rules", Keep::EachElement(&RULE))])),
    ("httpMethod", Keep::Whole),
    ("multipleMethods", Keep::Whole),
    ("enableResponseOutput", Keep::Whole),
    ("operation", Keep::Whole),
    ("categories", Keep::Members(&[("categories", Keep::EachElement(&Keep::Members(&[("category", Keep::Whole)])))])),
    (
        "options",
        Keep::Members(&[
            ("fallbackOutput", Keep::Whole),
            ("renameFallbackOutput", Keep::Whole),
            ("categories", Keep::Whole),
            ("fallback", Keep::Whole),
        ]),
    ),
]);

const RULE: Keep = Keep::Members(&[("renameOutput", Keep::Whole), ("outputKey", Keep::Whole)]);

/// What the inputs and outputs of a node depend on.
#[derive(Debug, Clone, Copy)]
pub struct NodeState<'a> {
    /// Its `typeVersion`.
    pub version: f64,
    /// Its `parameters`.
    pub parameters: &'a Map<String, Value>,
    /// Its `onError`.
    pub on_error: Option<&'a str>,
}

/// The labels of one node's `main` outputs.
#[derive(Clone, Debug, Default)]
pub struct OutputLabels {
    /// One for each output, empty for an output without a label; `None` if the type's outputs are not known here.
    names: Option<Vec<String>>,
    has_error_output: bool,
}

impl OutputLabels {
    /// The labels of a node of this full type, such as `n8n-nodes-base.switch`.
    pub fn new(node_type: &str, node: &NodeState<'_>) -> Self {
        let has_error_output = node.has_error_output();
        let mut names = known_outputs(node_type, node);
        if let Some(names) = names.as_mut().filter(|_| has_error_output) {
            names.push(ERROR.to_owned());
        }
        Self { names, has_error_output }
    }

    /// The labels of a node whose parameters are a bounded copy; a member that is missing counts as n8n
    /// counts it, a version as 1.
    pub fn of_excerpt(
        node_type: &str,
        version: Option<f64>,
        on_error: Option<&str>,
        parameters: Option<&Excerpt>,
    ) -> Self {
        let parameters = parameters.map(object).unwrap_or_default();
        Self::new(node_type, &NodeState { version: version.unwrap_or(1.0), parameters: &parameters, on_error })
    }

    /// All labels in order, empty for an output without one; `None` if the type's outputs are not known here.
    pub fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    /// The label of output `index`, counted from 0, if it says more than the index does. `outputs` is how many outputs
    /// are in use: for an unknown type, the last of several is taken for the error output if the node has one.
    pub fn get(&self, index: usize, outputs: usize) -> Option<String> {
        let Some(names) = &self.names else {
            let is_error = self.has_error_output && outputs > 1 && index + 1 == outputs;
            return is_error.then(|| ERROR.to_owned());
        };
        let name = names.get(index).filter(|_| names.len() > 1)?;
        (!name.is_empty() && *name != index.to_string()).then(|| shorten(name, LABEL_CHARS))
    }
}

impl<'a> NodeState<'a> {
    /// Whether failed items leave through an output of their own, the last one.
    pub(crate) fn has_error_output(&self) -> bool {
        self.on_error == Some("continueErrorOutput")
    }

    /// The parameter at this path; `null` counts as missing.
    fn at(&self, path: &[&str]) -> Option<&'a Value> {
        let (first, rest) = path.split_first()?;
        let value = rest.iter().try_fold(self.parameters.get(*first)?, |value, key| value.get(key))?;
        (!value.is_null()).then_some(value)
    }

    /// The string at this path.
    pub(crate) fn text(&self, path: &[&str]) -> Option<&'a str> {
        self.at(path)?.as_str()
    }

    /// The string at this path, or the default if there is none or it is empty.
    pub(crate) fn text_or(&self, path: &[&str], default: &'a str) -> &'a str {
        self.text(path).filter(|text| !text.is_empty()).unwrap_or(default)
    }

    /// A number of inputs or outputs; `None` for an expression, whose value only a run can show.
    pub(crate) fn count(&self, name: &str, default: usize) -> Option<usize> {
        let Some(value) = self.at(&[name]) else { return Some(default) };
        let number = value.as_f64()?;
        // The cast saturates: a negative number counts as 0.
        (number <= MAX_OUTPUTS as f64).then_some(number as usize)
    }

    /// A list, empty if it is missing; `None` for an expression.
    fn list(&self, path: &[&str]) -> Option<&'a [Value]> {
        self.at(path).map_or(Some(&[]), |value| value.as_array().map(Vec::as_slice))
    }
}

/// The outputs of n8n's own types, without the one for errors.
fn known_outputs(node_type: &str, node: &NodeState<'_>) -> Option<Vec<String>> {
    if let Some(name) = node_type.strip_prefix("@n8n/n8n-nodes-langchain.") {
        return computed_outputs(name, node);
    }
    let name = node_type.strip_prefix("n8n-nodes-base.")?;
    let fixed: &[&str] = match name {
        "if" => &["true", "false"],
        "splitInBatches" if node.version >= 3.0 => &["done", "loop"],
        "splitInBatches" if node.version >= 2.0 => &["loop", "done"],
        "compareDatasets" => &["in A only", "same", "different", "in B only"],
        "switch" if node.version < 2.0 => &["0", "1", "2", "3"],
        _ => return computed_outputs(name, node),
    };
    Some(fixed.iter().map(|name| (*name).to_owned()).collect())
}

/// The outputs that n8n computes from the parameters of a type, named without its package; `None` if the
/// parameters do not decide them, or it is not known how.
pub(crate) fn computed_outputs(name: &str, node: &NodeState<'_>) -> Option<Vec<String>> {
    match name {
        "switch" => switch_outputs(node),
        "webhook" => Some(webhook_outputs(node)),
        "respondToWebhook" => Some(respond_outputs(node)),
        "textClassifier" => classifier_outputs(node),
        "sentimentAnalysis" => {
            let categories = node.text_or(&["options", "categories"], "Positive, Neutral, Negative");
            Some(categories.split(',').map(|category| category.trim().to_owned()).collect())
        }
        "evaluation" => Some(match node.text(&["operation"]) {
            Some("checkIfEvaluating") => names(&["Evaluation", "Normal"]),
            _ => names(&[""]),
        }),
        "guardrails" => Some(match node.text_or(&["operation"], "classify") {
            "classify" => names(&["Pass", "Fail"]),
            _ => names(&[""]),
        }),
        _ => None,
    }
}

/// One output for each rule, or a number of them; version 3 renamed all parameters.
fn switch_outputs(node: &NodeState<'_>) -> Option<Vec<String>> {
    let renewed = node.version >= 3.0;
    if node.text(&["mode"]) == Some("expression") {
        let count = node.count(if renewed { "numberOutputs" } else { "outputsAmount" }, 4)?;
        return Some((0..count).map(|index| index.to_string()).collect());
    }
    if !renewed {
        let rules = node.list(&["rules", "rules"])?;
        return Some(rules.iter().map(|rule| text_of(rule, "outputKey").to_owned()).collect());
    }
    let fresh_rule = [Value::Null];
    let rules = if node.at(&["rules"]).is_some() { node.list(&["rules", "values"])? } else { &fresh_rule };
    let mut outputs: Vec<_> = rules.iter().enumerate().map(|(index, rule)| rule_output(rule, index)).collect();
    if node.text(&["options", "fallbackOutput"]) == Some("extra") {
        outputs.push(node.text_or(&["options", "renameFallbackOutput"], "Fallback").to_owned());
    }
    Some(outputs)
}

/// A rule keeps the name of its output when renaming is switched off, but n8n does not show it then.
fn rule_output(rule: &Value, index: usize) -> String {
    let renamed = rule.get("renameOutput").and_then(Value::as_bool) == Some(true);
    match text_of(rule, "outputKey") {
        name if renamed && !name.is_empty() => name.to_owned(),
        _ => index.to_string(),
    }
}

/// One output for each HTTP method.
fn webhook_outputs(node: &NodeState<'_>) -> Vec<String> {
    let several = node.at(&["multipleMethods"]).and_then(Value::as_bool) == Some(true);
    match node.at(&["httpMethod"]) {
        Some(Value::Array(methods)) => methods.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Some(method) => vec![method.as_str().unwrap_or_default().to_owned()],
        None if several => names(&["GET", "POST"]),
        None => names(&["GET"]),
    }
}

/// Version 1.3 always has the second output, later versions on request.
fn respond_outputs(node: &NodeState<'_>) -> Vec<String> {
    let enabled = node.at(&["enableResponseOutput"]).and_then(Value::as_bool) == Some(true);
    if node.version == 1.3 || (node.version >= 1.4 && enabled) {
        names(&["Input Data", "Response"])
    } else {
        names(&[""])
    }
}

/// One output for each category.
fn classifier_outputs(node: &NodeState<'_>) -> Option<Vec<String>> {
    let categories = node.list(&["categories", "categories"])?;
    let mut outputs: Vec<_> = categories.iter().map(|category| text_of(category, "category").to_owned()).collect();
    if node.text(&["options", "fallback"]) == Some("other") {
        outputs.push("Other".to_owned());
    }
    Some(outputs)
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn text_of<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// A bounded copy as an object; an empty one for anything else.
fn object(copy: &Excerpt) -> Map<String, Value> {
    let (mut text, mut clipped) = (String::new(), 0);
    copy.write(Detail::WHOLE, &mut text, &mut clipped);
    serde_json::from_str(&text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn labels(node_type: &str, version: f64, parameters: Value, on_error: Option<&str>) -> OutputLabels {
        OutputLabels::new(node_type, &NodeState { version, parameters: parameters.as_object().unwrap(), on_error })
    }

    fn shown(labels: &OutputLabels, outputs: usize) -> Vec<Option<String>> {
        (0..outputs).map(|index| labels.get(index, outputs)).collect()
    }

    fn some(name: &str) -> Option<String> {
        Some(name.to_owned())
    }

    #[test]
    fn the_branches_of_n8ns_own_types_have_labels() {
        let none = || json!({});
        assert_eq!(shown(&labels("n8n-nodes-base.if", 2.0, none(), None), 2), [some("true"), some("false")]);
        assert_eq!(shown(&labels("n8n-nodes-base.splitInBatches", 3.0, none(), None), 2), [some("done"), some("loop")]);
        assert_eq!(shown(&labels("n8n-nodes-base.splitInBatches", 2.0, none(), None), 2), [some("loop"), some("done")]);
        assert_eq!(shown(&labels("n8n-nodes-base.switch", 1.0, none(), None), 2), [None, None]);
        assert_eq!(shown(&labels("community.if", 1.0, none(), None), 2), [None, None]);
        assert_eq!(shown(&labels("n8n-nodes-base.webhook", 2.0, none(), None), 1), [None], "an only output needs none");
    }

    #[test]
    fn a_switch_is_labelled_by_its_rules() {
        let rules = json!({"rules": {"values": [
            {"renameOutput": true, "outputKey": "Urgent"}, {"outputKey": "forgotten"}
        ]}, "options": {"fallbackOutput": "extra"}});
        let switch = labels("n8n-nodes-base.switch", 3.2, rules, None);
        assert_eq!(shown(&switch, 3), [some("Urgent"), None, some("Fallback")]);
    }

    #[test]
    fn the_error_output_comes_last() {
        let on_error = Some("continueErrorOutput");
        let branch = labels("n8n-nodes-base.if", 2.0, json!({}), on_error);
        assert_eq!(shown(&branch, 2), [some("true"), some("false")], "a run without errors has two outputs");
        assert_eq!(branch.get(2, 3), some("error"));
        let unknown = labels("n8n-nodes-base.httpRequest", 4.0, json!({}), on_error);
        assert_eq!((shown(&unknown, 1), shown(&unknown, 2)), (vec![None], vec![None, some("error")]));
    }

    #[test]
    fn a_long_label_is_cut() {
        let rules = json!({"rules": {"values": [{"renameOutput": true, "outputKey": "x".repeat(90)}, {}]}});
        let label = labels("n8n-nodes-base.switch", 3.0, rules, None).get(0, 2).unwrap();
        assert_eq!(label, format!("{}…[+30 chars]", "x".repeat(60)));
    }
}
