//! A workflow next to the one that an execution ran: which recorded items still show what its nodes receive.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::workflow::connections::Connection;
use crate::workflow::left_over::is_left_over;
use crate::workflow::parsed::{NOTE, Parsed, ParsedNode};
use crate::workflow::revision::{does_the_same, same_node, without_hidden};

/// A node of the checked workflow.
pub(super) struct CheckedNode {
    pub node: ParsedNode,
    /// Its name in the execution, if it would now receive what it received there.
    pub ran_as: Option<String>,
    /// Its name in the execution, if it would now output what it output there.
    pub output_as: Option<String>,
    /// The node whose sub-node it is: its `$json` is that node's.
    pub root: Option<String>,
    /// Whether it has several inputs: its `$json` is an item of the first one that has any.
    pub has_several_inputs: bool,
}

impl CheckedNode {
    /// Whether the execution shows what it receives or outputs.
    pub(super) fn is_known(&self) -> bool {
        self.ran_as.is_some() || self.output_as.is_some()
    }

    /// Whether its expressions are looked up. n8n passes the items of a disabled node through, and evaluates nothing.
    pub(super) fn is_checked(&self) -> bool {
        !self.node.is_disabled
    }
}

/// The parameters that n8n's editor hides, such as the body of a request that sends none: they were saved, and are not evaluated.
#[derive(Default)]
pub(super) struct Hidden(HashMap<String, HashSet<String>>);

impl Hidden {
    /// Those of a workflow that was saved like `then`, and ran without them as `executed`.
    pub(super) fn of(now: &Parsed, then: &Parsed, executed: &Parsed) -> Self {
        let of_node = |node: &ParsedNode| {
            let (saved, ran) =
                (same_node(&then.nodes, node, &now.nodes)?, same_node(&executed.nodes, node, &now.nodes)?);
            let pointers = node.texts.iter().map(|text| &text.pointer);
            let hidden = pointers.filter(|pointer| saved.at(pointer).is_some() && ran.at(pointer).is_none());
            Some((node.name.clone(), hidden.cloned().collect()))
        };
        Self(now.nodes.iter().filter_map(of_node).collect())
    }

    /// Whether the parameter of a node at this JSON Pointer is one of them.
    pub(super) fn has(&self, node: &ParsedNode, pointer: &str) -> bool {
        self.0.get(&node.name).is_some_and(|hidden| hidden.contains(pointer))
    }
}

/// The nodes of a workflow without what is hidden, compared with the workflow that an execution ran; and its connections.
/// `is_executed`: that is as n8n ran it, not as it was saved.
pub(super) fn compared(
    mut now: Parsed,
    then: &Parsed,
    hidden: &Hidden,
    is_executed: bool,
) -> (Vec<CheckedNode>, Vec<Connection>) {
    if is_executed {
        now = without_hidden_in(now, then);
    }
    for node in &mut now.nodes {
        let mut texts = std::mem::take(&mut node.texts);
        texts.retain(|text| !hidden.has(node, &text.pointer) && !is_left_over(node, &text.pointer));
        node.texts = texts;
    }
    let old = |node: &ParsedNode| Some((node.name.clone(), same_node(&then.nodes, node, &now.nodes)?));
    let before: Before = now.nodes.iter().filter_map(old).collect();
    let stale = stale(&now, then, &before);
    let is_current = |name: &String| !stale.contains(name);
    let matched = |node: &ParsedNode| {
        let old = before.get(&node.name);
        let is_fed_as_before = old.is_some_and(|old| feeds(&now, &node.name, &before) == feeds_then(then, old));
        let sources = now.connections.iter().filter(|connection| connection.target == node.name);
        let holds = is_fed_as_before && sources.map(|connection| &connection.source).all(is_current);
        let old = old.map(|old| old.name.clone());
        let output_as = old.clone().filter(|_| is_current(&node.name));
        // It is not recorded which of several nodes a sub-node worked for.
        let holds = holds && users(&now.connections, &node.name).len() < 2;
        let has_several_inputs = now.connections.iter().any(|one| one.target == node.name && one.input.index > 0);
        (old.filter(|_| holds), output_as, root(&now.connections, &node.name), has_several_inputs)
    };
    let found: Vec<_> = now.nodes.iter().map(matched).collect();
    let nodes = now.nodes.into_iter().zip(found).filter(|(node, _)| !node.is(NOTE));
    let nodes = nodes.map(|(node, (ran_as, output_as, root, has_several_inputs))| CheckedNode {
        node,
        ran_as,
        output_as,
        root,
        has_several_inputs,
    });
    (nodes.collect(), now.connections)
}

/// The nodes without the parameters and texts that n8n left out when it ran them.
fn without_hidden_in(mut now: Parsed, then: &Parsed) -> Parsed {
    let olds: Vec<_> = now.nodes.iter().map(|node| same_node(&then.nodes, node, &now.nodes)).collect();
    let nodes = std::mem::take(&mut now.nodes).into_iter().zip(olds);
    now.nodes = nodes.map(|(node, old)| if let Some(old) = old { without_hidden(node, old) } else { node }).collect();
    for node in &mut now.nodes {
        let mut texts = std::mem::take(&mut node.texts);
        texts.retain(|text| node.at(&text.pointer).is_some());
        node.texts = texts;
    }
    now
}

/// The nodes of the execution, by their current names.
type Before<'a> = HashMap<String, &'a ParsedNode>;

/// What feeds a node, with nodes named as they were then.
fn feeds(workflow: &Parsed, node: &str, before: &Before<'_>) -> BTreeSet<(String, usize, usize)> {
    let into = workflow.connections.iter().filter(|one| one.target == node && one.output.kind == "main");
    into.map(|Connection { source, output, input, .. }| {
        (before.get(source).map_or_else(|| source.clone(), |old| old.name.clone()), output.index, input.index)
    })
    .collect()
}

/// What fed a node of the execution.
fn feeds_then(then: &Parsed, node: &ParsedNode) -> BTreeSet<(String, usize, usize)> {
    feeds(then, &node.name, &HashMap::new())
}

/// The nodes whose recorded output no longer holds: new or changed ones, and all nodes after them.
fn stale(now: &Parsed, then: &Parsed, before: &Before<'_>) -> HashSet<String> {
    let renamed: Vec<_> = before.iter().map(|(name, old)| (old.name.as_str(), name.as_str())).collect();
    let renamed: Vec<_> = renamed.into_iter().filter(|(old, new)| old != new).collect();
    let is_changed = |node: &&ParsedNode| {
        let Some(old) = before.get(&node.name) else { return true };
        feeds(now, &node.name, before) != feeds_then(then, old) || !does_the_same(node, old, &renamed)
    };
    let mut stale: HashSet<String> = now.nodes.iter().filter(is_changed).map(|node| node.name.clone()).collect();
    let mut open: Vec<String> = stale.iter().cloned().collect();
    while let Some(from) = open.pop() {
        // A changed sub-node also changes what its root outputs.
        for next in now.connections.iter().filter(|connection| connection.source == from) {
            if stale.insert(next.target.clone()) {
                open.push(next.target.clone());
            }
        }
    }
    stale
}

/// The node at the end of the connections of a sub-node; `None` if there are several.
fn root(connections: &[Connection], node: &str) -> Option<String> {
    let used_by = |node: &str| {
        let mut users = users(connections, node).into_iter();
        users.next().filter(|_| users.next().is_none()).map(str::to_owned)
    };
    let mut root = used_by(node)?;
    for _ in 0..connections.len() {
        match used_by(&root) {
            Some(next) => root = next,
            None => return Some(root),
        }
    }
    None
}

/// The nodes that a sub-node works for.
fn users<'a>(connections: &'a [Connection], node: &str) -> BTreeSet<&'a str> {
    let is_its = |one: &&Connection| one.source == node && one.output.kind.starts_with("ai_");
    connections.iter().filter(is_its).map(|one| one.target.as_str()).collect()
}
