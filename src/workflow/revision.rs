//! Two revisions of one workflow: which nodes are the same, and which of them do the same.

use serde_json::Value;

use super::expression::{apply, rename};
use super::parsed::ParsedNode;

/// The members that decide what a node outputs, in addition to its parameters.
const DECIDES: [&str; 5] = ["type", "typeVersion", "disabled", "executeOnce", "credentials"];

/// The members that decide how a node goes on after an error.
const ON_ERROR: [&str; 5] = ["onError", "continueOnFail", "alwaysOutputData", "retryOnFail", "maxTries"];

/// The counterpart of `node`, which is one of `own`, among the `nodes` of the other revision: the node with its id, or the node
/// with its name if neither id occurs in the other revision. A node that was removed and added again has a new id.
pub fn same_node<'a>(nodes: &'a [ParsedNode], node: &ParsedNode, own: &[ParsedNode]) -> Option<&'a ParsedNode> {
    let have_same_id = |one: &ParsedNode, other: &ParsedNode| one.id.is_some() && one.id == other.id;
    let has_name = |other: &&ParsedNode| other.name == node.name;
    let with_id = || nodes.iter().filter(|other| have_same_id(node, other));
    // n8n accepts two nodes with one id.
    let by_id = with_id().find(has_name).or_else(|| with_id().next());
    let is_new = |other: &&ParsedNode| !own.iter().any(|node| have_same_id(node, other));
    by_id.or_else(|| nodes.iter().filter(has_name).find(is_new))
}

/// Whether a node that ran as `then` returns the same for the same items as `now`, after other nodes were `renamed`: their names
/// then and now.
pub fn does_the_same(now: &ParsedNode, then: &ParsedNode, renamed: &[(&str, &str)]) -> bool {
    let parameters = |node: &ParsedNode| Value::Object(node.parameters.clone());
    let written = |node: &ParsedNode| node.raw("parameters").map(|parameters| parameters.get().to_owned());
    agree(now, then, &DECIDES)
        && match now.is_read && then.is_read {
            true => {
                let now = parameters(now);
                // Most nodes name none that was renamed.
                ran_with(&now, &parameters(then)) || (!renamed.is_empty() && ran_with(&now, &with_names(then, renamed)))
            }
            // Parameters that could not be read.
            false => written(now) == written(then),
        }
}

/// A node without the parameters that n8n's editor hides, so that the node that ran as `then` lacks them: n8n fills in a default for
/// every other one. Only parameters at the top are certain: those in a collection have no default before they are added.
pub fn without_hidden(mut node: ParsedNode, then: &ParsedNode) -> ParsedNode {
    // Otherwise nothing shows that n8n filled any in.
    let has_defaults = then.parameters.keys().any(|name| !node.parameters.contains_key(name));
    if has_defaults && node.is_read && then.is_read && agree(&node, then, &["type", "typeVersion"]) {
        node.parameters.retain(|name, _| then.parameters.contains_key(name));
    }
    node
}

/// The parameters of a node in which other nodes have their new names.
fn with_names(node: &ParsedNode, renamed: &[(&str, &str)]) -> Value {
    let mut parameters = Value::Object(node.parameters.clone());
    for text in &node.texts {
        let (Some(syntax), Some(value)) = (text.syntax, parameters.pointer_mut(&text.pointer)) else { continue };
        let follow = |text: String, (old, new): &(&str, &str)| apply(&text, &rename(&text, syntax, old, new));
        let edited = renamed.iter().fold(text.text.clone(), follow);
        if edited != text.text {
            *value = edited.into();
        }
    }
    parameters
}

/// Whether a node goes on after an error as it did.
pub fn goes_on_the_same(now: &ParsedNode, then: &ParsedNode) -> bool {
    agree(now, then, &ON_ERROR)
}

/// Whether an execution can have run the saved nodes. Its own differ by the defaults that n8n fills in and the parameters it hides.
pub fn could_be_same(saved: &[ParsedNode], executed: &[ParsedNode]) -> bool {
    let parameters = |node: &ParsedNode| Value::Object(node.parameters.clone());
    let is_one = |node: &ParsedNode| {
        same_node(saved, node, executed).is_some_and(|saved| {
            saved.name == node.name
                && saved.node_type == node.node_type
                && agrees(&parameters(saved), &parameters(node))
        })
    };
    saved.len() == executed.len() && executed.iter().all(is_one)
}

/// Whether two values have no difference other than members that only one of them has.
fn agrees(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            one.iter().all(|(name, one)| other.get(name).is_none_or(|other| agrees(one, other)))
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| agrees(one, other))
        }
        _ => one == other,
    }
}

fn agree(now: &ParsedNode, then: &ParsedNode, members: &[&str]) -> bool {
    // `null` and `false` are the same as a missing member.
    let value = |node: &ParsedNode, member: &str| {
        node.member(member).filter(|value| !value.is_null() && *value != Value::Bool(false))
    };
    members.iter().all(|member| value(now, member) == value(then, member))
}

/// Whether a node that ran with `then` has the parameters `now`. The workflow of an execution has every default filled in
/// (`getNodeParameters` in n8n's `packages/workflow/src/node-helpers.ts`): a member that only it has counts as one if it could be one.
fn ran_with(now: &Value, then: &Value) -> bool {
    match (now, then) {
        (Value::Object(now), Value::Object(then)) => {
            now.keys().all(|name| then.contains_key(name))
                && then.iter().all(|(name, then)| match now.get(name) {
                    Some(now) => ran_with(now, then),
                    None => can_be_default(then),
                })
        }
        (Value::Array(now), Value::Array(then)) => {
            now.len() == then.len() && now.iter().zip(then).all(|(now, then)| ran_with(now, then))
        }
        _ => now == then,
    }
}

/// Whether n8n could have filled this in: it is neither a list of values nor an expression.
fn can_be_default(value: &Value) -> bool {
    match value {
        Value::Array(elements) => elements.is_empty(),
        Value::Object(members) => members.values().all(can_be_default),
        Value::String(text) => !text.starts_with('='),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::workflow::Document;
    use crate::workflow::parsed::Parsed;

    #[test]
    fn a_node_is_the_same_by_its_id_or_as_the_successor_of_its_name() {
        let nodes = |nodes: &[(&str, &str)]| {
            let node = |(id, name): &(&str, &str)| json!({"id": Some(id).filter(|id| !id.is_empty()), "name": name, "type": "t"});
            let nodes: Vec<_> = nodes.iter().map(node).collect();
            let text = json!({"nodes": nodes, "connections": {}}).to_string();
            Parsed::of(&Document::parse(text.as_bytes()).unwrap()).unwrap().nodes
        };
        type Nodes<'a> = &'a [(&'a str, &'a str)];
        let cases: [(Nodes<'_>, Nodes<'_>, &[Option<&str>]); 7] = [
            (&[("1", "A")], &[("1", "B")], &[Some("A")]),
            (&[("1", "A")], &[("2", "A")], &[Some("A")]),
            (&[("1", "A")], &[("", "A")], &[Some("A")]),
            (&[("", "A")], &[("2", "A")], &[Some("A")]),
            // One was renamed, and a new one has its name.
            (&[("1", "A")], &[("1", "A v1"), ("2", "A")], &[Some("A"), None]),
            (&[("1", "A"), ("2", "B")], &[("2", "A"), ("1", "B")], &[Some("B"), Some("A")]),
            (&[("1", "A"), ("1", "B")], &[("1", "B"), ("1", "A")], &[Some("B"), Some("A")]),
        ];
        for (then, now, expected) in cases {
            let (then, now) = (nodes(then), nodes(now));
            let found = |node| same_node(&then, node, &now).map(|node| node.name.as_str());
            assert_eq!(now.iter().map(found).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn what_only_one_has_is_no_difference() {
        let saved = json!({"url": "=a", "hidden": "=b", "list": [{"name": "a"}]});
        let executed = json!({"url": "=a", "method": "GET", "list": [{"name": "a", "type": "string"}]});
        assert!(agrees(&saved, &executed));
        for other in [json!({"url": "=b"}), json!({"list": []}), json!({"list": [{"name": "b"}]}), json!({"url": {}})] {
            assert!(!agrees(&saved, &other), "{other}");
        }
    }

    #[test]
    fn a_node_that_names_a_renamed_one_does_the_same() {
        let node = |code: &str| {
            let text = json!({"nodes": [{"name": "A", "type": "n8n-nodes-base.code", "parameters": {"jsCode": code}}]});
            Parsed::of(&Document::parse(text.to_string().as_bytes()).unwrap()).unwrap().nodes.remove(0)
        };
        let (then, now) = (node("return $('Get').all()"), node("return $('Get it').all()"));
        assert!(does_the_same(&now, &then, &[("Get", "Get it")]) && !does_the_same(&now, &then, &[]));
        assert!(!does_the_same(&node("return $('Other').all()"), &then, &[("Get", "Get it")]));
    }

    #[test]
    fn parameters_that_cannot_be_read_are_compared_as_they_are_written() {
        let node = |parameters: &str| {
            let text = format!(r#"{{"nodes": [{{"name": "A", "parameters": {parameters}}}]}}"#);
            Parsed::of(&Document::parse(text.as_bytes()).unwrap()).unwrap().nodes.remove(0)
        };
        let (one, other) = (r#"{"url": "a", "n": 1e400}"#, r#"{"url": "b", "n": 1e400}"#);
        assert!(does_the_same(&node(one), &node(one), &[]));
        assert!(!does_the_same(&node(one), &node(other), &[]) && !does_the_same(&node(one), &node("{}"), &[]));
    }

    #[test]
    fn parameters_that_an_execution_lacks_are_hidden() {
        let node = |parameters: Value| {
            let node = json!({"name": "A", "type": "n8n-nodes-base.httpRequest", "typeVersion": 4.2, "parameters": parameters});
            let text = json!({"nodes": [node], "connections": {}}).to_string();
            Parsed::of(&Document::parse(text.as_bytes()).unwrap()).unwrap().nodes.remove(0)
        };
        let then = || node(json!({"url": "a", "sendBody": false, "options": {}}));
        let is_same = |now: Value, then: &ParsedNode| does_the_same(&without_hidden(node(now), then), then, &[]);
        assert!(is_same(json!({"url": "a", "bodyParameters": {"parameters": [{"name": "x"}]}}), &then()));
        for changed in [
            json!({"url": "b", "bodyParameters": {}}),
            json!({"url": "a", "sendBody": true, "bodyParameters": {}}),
            json!({"url": "a", "options": {"timeout": 1}, "bodyParameters": {}}),
        ] {
            assert!(!is_same(changed.clone(), &then()), "{changed}");
        }
        // Nothing was filled in: it may be new.
        assert!(!is_same(json!({"url": "a", "jsonBody": "x"}), &node(json!({"url": "a"}))));
    }

    #[test]
    fn defaults_that_n8n_fills_in_are_no_change() {
        let now = json!({"url": "=a", "options": {}, "list": [{"name": "a"}]});
        let filled = json!({"url": "=a", "options": {}, "method": "GET", "sendQuery": false, "notice": "",
            "id": {"__rl": true, "mode": "list", "value": ""}, "list": [{"name": "a", "type": "string"}]});
        assert!(ran_with(&now, &filled));
        for changed in [
            json!({"url": "=b", "options": {}, "list": [{"name": "a"}]}),
            json!({"options": {}, "list": [{"name": "a"}]}),
            json!({"url": "=a", "options": {}, "list": []}),
            json!({"url": "=a", "options": {}}),
        ] {
            assert!(!ran_with(&changed, &now), "{changed}");
            assert!(!ran_with(&changed, &filled), "{changed}");
        }
        assert!(!ran_with(&filled, &now), "what only the workflow of now has was set since");
    }
}
