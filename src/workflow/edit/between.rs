//! The differences between two texts of a workflow.

use std::collections::HashSet;

use super::Changed;
use super::changed::Held;
use super::parameters::differences;
use super::settings::NODE_SETTINGS;
use crate::json::well_formed;
use crate::workflow::Document;
use crate::workflow::connections::Connection;
use crate::workflow::parsed::{Parsed, ParsedNode};
use crate::workflow::revision::same_node;

/// The changes from one text of a workflow to another: nodes added or removed, their parameters and settings, and connections.
pub fn changes_between(before: &Parsed, after: &Parsed) -> Vec<Changed> {
    let gone = before.nodes.iter().filter(|node| same_node(&after.nodes, node, &before.nodes).is_none());
    let mut changes: Vec<_> =
        gone.map(|node| Changed::Removed { name: node.name.clone(), bridges: Vec::new() }).collect();
    for node in &after.nodes {
        match same_node(&before.nodes, node, &after.nodes) {
            Some(old) => changes_of_node(old, node, &mut changes),
            None => changes.push(Changed::Added {
                id: node.id.clone().unwrap_or_default(),
                name: node.name.clone(),
                chosen: None,
                source: None,
                targets: Vec::new(),
            }),
        }
    }
    changes_of_connections(before, after, &mut changes);
    changes
}

/// The changes from one text of a workflow to another in what is neither a node nor a connection: name, description, settings
/// and pinned data.
pub fn other_changes_between(before: &Document, after: &Document) -> Vec<Changed> {
    let text = |document: &Document, member: &str| {
        document.members().get(member).map(|json| well_formed(json.get().as_bytes()).into_owned())
    };
    let mut changes = Vec::new();
    let mut changed = |path: String, before, after| changes.push(Changed::Value { node: None, path, before, after });
    for member in ["name", "description"] {
        let [was, is] = [before, after].map(|document| text(document, member));
        if was != is {
            let held = |json: Option<String>| json.map(|json| Held::alone(member, &json));
            changed(member.to_owned(), held(was), held(is));
        }
    }
    for member in ["settings", "pinData"] {
        let object = |document| text(document, member).filter(|json| json.starts_with('{')).unwrap_or("{}".to_owned());
        let [was, is] = [before, after].map(object);
        differences([&was, &is], "", &mut |path, before, after| {
            changed(format!("{member}.{}", path.trim_start_matches('/')), before, after);
        });
    }
    changes
}

fn changes_of_node(old: &ParsedNode, node: &ParsedNode, changes: &mut Vec<Changed>) {
    if old.name != node.name {
        let (from, to) = (old.name.clone(), node.name.clone());
        changes.push(Changed::Renamed { from, to, followed: 0, nodes: 0 });
    }
    let text =
        |node: &ParsedNode, member: &str| node.raw(member).map(|json| well_formed(json.get().as_bytes()).into_owned());
    let mut changed = |path: String, before: Option<Held>, after: Option<Held>| {
        changes.push(Changed::Value { node: Some(node.name.clone()), path, before, after });
    };
    let parameters = [old, node].map(|node| text(node, "parameters").unwrap_or_else(|| "{}".to_owned()));
    differences([&parameters[0], &parameters[1]], "", &mut changed);
    for member in NODE_SETTINGS.iter().map(|(name, _)| *name).chain(["type"]) {
        let [before, after] = [old, node].map(|node| text(node, member));
        if before != after {
            let held = |json: &String| Held::alone(member, json);
            changed(member.to_owned(), before.as_ref().map(held), after.as_ref().map(held));
        }
    }
}

/// The connections of an added or removed node are not listed.
fn changes_of_connections(before: &Parsed, after: &Parsed, changes: &mut Vec<Changed>) {
    let name_now = |name: &String| {
        let node = before.nodes.iter().find(|node| node.name == *name)?;
        same_node(&after.nodes, node, &before.nodes).map(|node| node.name.clone())
    };
    let old: Vec<Connection> = before
        .connections
        .iter()
        .filter_map(|one| {
            Some(Connection { source: name_now(&one.source)?, target: name_now(&one.target)?, ..one.clone() })
        })
        .collect();
    let new_nodes: HashSet<_> = after
        .nodes
        .iter()
        .filter(|node| same_node(&before.nodes, node, &after.nodes).is_none())
        .map(|node| node.name.as_str())
        .collect();
    let stays = |one: &&Connection| [&one.source, &one.target].iter().all(|name| !new_nodes.contains(name.as_str()));
    let removed = old.iter().filter(|one| !after.connections.contains(one));
    changes.extend(removed.map(|one| Changed::Disconnected(one.clone())));
    let added = after.connections.iter().filter(stays).filter(|one| !old.contains(one));
    changes.extend(added.map(|one| Changed::Connected { connection: one.clone(), is_new: true }));
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn parsed(workflow: &Value) -> Parsed {
        Parsed::of(&Document::parse(workflow.to_string().as_bytes()).unwrap()).unwrap()
    }

    #[test]
    fn each_difference_is_named_once() {
        let node = |id: &str, name: &str, more: Value| {
            let mut node = json!({"id": id, "name": name, "type": "t", "parameters": {"a": {"b": 1, "c": 2}}});
            node.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            node
        };
        let to = |name: &str| json!({"main": [[{"node": name, "type": "main", "index": 0}]]});
        let before = json!({"nodes": [node("1", "A", json!({})), node("2", "B", json!({"disabled": true})), node("3", "C", json!({}))],
            "connections": {"A": to("B"), "B": to("C")}});
        let after = json!({"nodes": [node("1", "A2", json!({"parameters": {"a": {"b": 1, "c": 3}}})), node("2", "B", json!({})), node("4", "D", json!({}))],
            "connections": {"A2": to("B"), "B": to("D"), "D": to("A2")}});
        let kind = |change: &Changed| match change {
            Changed::Value { node, path, .. } => format!("~ {} {path}", node.as_deref().unwrap_or_default()),
            Changed::Added { name, .. } => format!("+ {name}"),
            Changed::Removed { name, .. } => format!("- {name}"),
            Changed::Renamed { from, to, .. } => format!("{from} -> {to}"),
            Changed::Connected { connection, .. } => format!("+ {connection}"),
            Changed::Disconnected(connection) => format!("- {connection}"),
        };
        let between = |one, other| changes_between(&parsed(one), &parsed(other)).iter().map(kind).collect::<Vec<_>>();
        assert_eq!(between(&before, &after), ["- C", "A -> A2", "~ A2 /a/c", "~ B disabled", "+ D"]);
        assert!(between(&before, &before).is_empty());
        let mut other = before.clone();
        other["connections"] = json!({"A": to("C"), "B": to("C")});
        assert_eq!(between(&before, &other), ["- A[main:0] -> B[main:0]", "+ A[main:0] -> C[main:0]"]);
    }
}
