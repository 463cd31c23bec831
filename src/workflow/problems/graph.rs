//! Which nodes lead to which.

use std::collections::HashMap;

use super::super::connections::Connection;

/// The connections as indexes of nodes. Connections with a missing end are left out.
#[derive(Debug)]
pub(super) struct Graph {
    /// The nodes that a node's `main` outputs lead to.
    after: Vec<Vec<usize>>,
    /// The nodes whose `main` outputs lead to a node.
    before: Vec<Vec<usize>>,
    /// The nodes that use a node as their model, tool, memory, …
    users: Vec<Vec<usize>>,
}

impl Graph {
    pub(super) fn new(nodes: usize, connections: &[Connection], places: &HashMap<String, usize>) -> Self {
        let none = || vec![Vec::new(); nodes];
        let mut graph = Self { after: none(), before: none(), users: none() };
        for connection in connections {
            let place = |name: &str| places.get(name).copied();
            let (Some(source), Some(target)) = (place(&connection.source), place(&connection.target)) else { continue };
            if connection.output.kind == "main" {
                graph.after[source].push(target);
                graph.before[target].push(source);
            } else {
                graph.users[source].push(target);
            }
        }
        graph
    }

    /// Whether no node leads to this one and none uses it.
    pub(super) fn nothing_leads_to(&self, node: usize) -> bool {
        self.before[node].is_empty() && self.users[node].is_empty()
    }

    /// Whether it is a model, a tool, a memory, … of another node.
    pub(super) fn is_used(&self, node: usize) -> bool {
        !self.users[node].is_empty()
    }

    /// These nodes, and the nodes that follow them.
    pub(super) fn from(&self, starts: impl IntoIterator<Item = usize>) -> Vec<bool> {
        let mut reached = vec![false; self.after.len()];
        let mut ahead: Vec<_> = starts.into_iter().collect();
        while let Some(node) = ahead.pop() {
            if !std::mem::replace(&mut reached[node], true) {
                ahead.extend(&self.after[node]);
            }
        }
        reached
    }

    /// The nodes that follow this one; it is included only in a cycle.
    pub(super) fn descendants(&self, node: usize) -> Vec<bool> {
        self.from(self.after[node].iter().copied())
    }

    /// The nodes whose items reach this one; it is included only in a cycle. A sub-node gets those of the
    /// nodes that use it.
    pub(super) fn ancestors(&self, node: usize) -> Vec<bool> {
        let mut reached = vec![false; self.before.len()];
        let above = |node: usize| self.before[node].iter().chain(&self.users[node]);
        let mut ahead: Vec<_> = above(node).copied().collect();
        while let Some(node) = ahead.pop() {
            if !std::mem::replace(&mut reached[node], true) {
                ahead.extend(above(node));
            }
        }
        reached
    }
}
