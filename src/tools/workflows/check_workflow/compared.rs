//! A workflow beside the one that an execution ran: which recorded items still say what its nodes receive.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde_json::Value;

use crate::workflow::connections::{Connection, Connections};
use crate::workflow::document::{Members, text};
use crate::workflow::expression::{ParameterText, parameter_texts};
use crate::workflow::{self, Document};

/// Text on the canvas.
const NOTE: &str = "n8n-nodes-base.stickyNote";

/// What decides what a node outputs: with other values of these, the recorded items are those of another node.
const DECIDES: [&str; 6] = ["type", "typeVersion", "parameters", "disabled", "executeOnce", "credentials"];

/// A node of the checked workflow.
pub(super) struct CheckedNode {
    pub name: String,
    pub node_type: String,
    /// Its name in the execution, if what it received there is what it would receive now.
    pub ran_as: Option<String>,
    /// Its name in the execution, if what it output there is what it would output now.
    pub output_as: Option<String>,
    /// The node that it is a sub-node of: its `$json` is that one's.
    pub root: Option<String>,
    pub texts: Vec<ParameterText>,
    pub parameters: Value,
}

/// The nodes of a workflow that are not disabled, beside those of the workflow that an execution ran.
///
/// # Errors
/// The nodes or the connections are not what they should be.
pub(super) fn compared(checked: &Document, ran: &Document) -> Result<Vec<CheckedNode>, workflow::Error> {
    let (now, then) = (Nodes::of(checked)?, Nodes::of(ran)?);
    let before: HashMap<_, _> = now.nodes.iter().filter_map(|node| Some((name(node), then.same(node)?))).collect();
    let stale = now.stale(&before, &then);
    let node = |node: &Members| {
        let own = name(node);
        let old = before.get(&own).map(|old| name(old));
        let is_fed_as_before =
            old.as_ref().is_some_and(|old| now.feeds(&own, &before) == then.feeds(old, &HashMap::new()));
        let is_current = |name: &String| !stale.contains(name);
        let sources = now.connections.iter().filter(|connection| connection.target == own);
        let holds = is_fed_as_before && sources.map(|connection| &connection.source).all(is_current);
        let (node_type, parameters) = (text(node, "type").unwrap_or_default(), node.get("parameters"));
        let version = node.get("typeVersion").and_then(|version| version.get().parse().ok()).unwrap_or(1.0);
        CheckedNode {
            ran_as: old.clone().filter(|_| holds),
            output_as: old.filter(|_| is_current(&own)),
            root: now.root(&own),
            texts: parameters.map(|json| parameter_texts(&node_type, version, json.get())).unwrap_or_default(),
            parameters: parameters.and_then(|json| serde_json::from_str(json.get()).ok()).unwrap_or_default(),
            name: own,
            node_type,
        }
    };
    let is_checked = |node: &&Members| text(node, "type").as_deref() != Some(NOTE) && !is_disabled(node);
    Ok(now.nodes.iter().filter(is_checked).map(node).collect())
}

/// The nodes and connections of a workflow.
struct Nodes {
    nodes: Vec<Members>,
    connections: Vec<Connection>,
}

impl Nodes {
    fn of(document: &Document) -> Result<Self, workflow::Error> {
        let connections: Connections = document.connections()?;
        Ok(Self { nodes: document.nodes()?, connections: connections.iter().collect() })
    }

    /// The node with the id of this one; with its name, if either has no id.
    fn same(&self, node: &Members) -> Option<&Members> {
        let id = text(node, "id");
        let by_id = self.nodes.iter().find(|other| id.is_some() && text(other, "id") == id);
        let by_name = || {
            self.nodes.iter().find(|other| name(other) == name(node) && (id.is_none() || text(other, "id").is_none()))
        };
        by_id.or_else(by_name)
    }

    /// What feeds a node, under the names that the nodes had.
    fn feeds(&self, node: &str, before: &HashMap<String, &Members>) -> BTreeSet<(String, String, usize, usize)> {
        let into =
            self.connections.iter().filter(|connection| connection.target == node && connection.output.kind == "main");
        into.map(|Connection { source, output, input, .. }| {
            let source = before.get(source).map_or_else(|| source.clone(), |old| name(old));
            (source, output.kind.clone(), output.index, input.index)
        })
        .collect()
    }

    /// The nodes whose recorded output is no longer theirs: those that are new, or that were changed, and all after them.
    fn stale(&self, before: &HashMap<String, &Members>, then: &Self) -> HashSet<String> {
        let is_changed = |node: &&Members| {
            let Some(old) = before.get(&name(node)) else { return true };
            let feeds_differ = self.feeds(&name(node), before) != then.feeds(&name(old), &HashMap::new());
            feeds_differ || DECIDES.iter().any(|member| value(node, member) != value(old, member))
        };
        let mut stale: HashSet<String> = self.nodes.iter().filter(is_changed).map(name).collect();
        let mut open: Vec<String> = stale.iter().cloned().collect();
        while let Some(from) = open.pop() {
            // A changed sub-node changes what its root outputs, too.
            for next in self.connections.iter().filter(|connection| connection.source == from) {
                if stale.insert(next.target.clone()) {
                    open.push(next.target.clone());
                }
            }
        }
        stale
    }

    /// The node at the end of the connections of a sub-node.
    fn root(&self, node: &str) -> Option<String> {
        let used_by = |node: &str| {
            let connection =
                self.connections.iter().find(|one| one.source == node && one.output.kind.starts_with("ai_"));
            connection.map(|connection| connection.target.clone())
        };
        let mut root = used_by(node)?;
        for _ in 0..self.nodes.len() {
            match used_by(&root) {
                Some(next) => root = next,
                None => return Some(root),
            }
        }
        None
    }
}

fn name(node: &Members) -> String {
    text(node, "name").unwrap_or_default()
}

fn is_disabled(node: &Members) -> bool {
    node.get("disabled").is_some_and(|disabled| disabled.get() == "true")
}

/// A member as JSON; `null` and `false` are as if it were not there.
fn value(node: &Members, member: &str) -> Option<Value> {
    let value: Value = serde_json::from_str(node.get(member)?.get()).ok()?;
    Some(value).filter(|value| !value.is_null() && *value != Value::Bool(false))
}
