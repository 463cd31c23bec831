//! A workflow, prepared for the rules.

use std::collections::HashMap;
use std::rc::Rc;

use serde_json::value::RawValue;

use super::super::catalogue::NodeType;
use super::super::connections::Connection;
use super::super::document::BorrowedMembers;
use super::super::parsed::{NOTE, ParsedNode, connections};
use super::super::trigger::is_trigger;
use super::super::{Document, Error};
use super::graph::Graph;

/// The nodes and connections of a workflow.
#[derive(Debug)]
pub(super) struct View {
    /// Those that an edit did not change are shared with the workflow before.
    pub(super) nodes: Vec<Rc<ParsedNode>>,
    pub(super) connections: Vec<Connection>,
    pub(super) graph: Graph,
    triggers: Vec<bool>,
    places: HashMap<String, usize>,
}

impl View {
    /// Reads a workflow. `known` are nodes that were read: a node with the same text is not read again.
    pub(super) fn of<'a>(
        document: &Document,
        known: &[Rc<ParsedNode>],
        node_type: &impl Fn(&str) -> Option<&'a NodeType>,
    ) -> Result<Self, Error> {
        let (nodes, connections) = (nodes(document, known)?, connections(document)?);
        let mut places = HashMap::new();
        // A note may have the same name as a node.
        let (notes, others): (Vec<_>, Vec<_>) = nodes.iter().enumerate().partition(|(_, node)| node.is(NOTE));
        for (place, node) in others.into_iter().chain(notes) {
            places.entry(node.name.clone()).or_insert(place);
        }
        let graph = Graph::new(nodes.len(), &connections, &places);
        let starts = |node: &Rc<ParsedNode>| {
            let known = node_type(&node.node_type);
            // The last one is named differently.
            known.is_some_and(|known| known.group.iter().any(|group| group == "trigger"))
                || is_trigger(&node.node_type)
                || node.is("n8n-nodes-base.emailReadImap")
        };
        let triggers = nodes.iter().map(starts).collect();
        Ok(Self { nodes, connections, graph, triggers, places })
    }

    /// The index of the first node with this name.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    /// The position at which problems of this node are listed: in the order of the nodes.
    pub(super) fn place(&self, name: &str) -> usize {
        self.find(name).unwrap_or(self.nodes.len())
    }

    /// Whether executions begin at this node.
    pub(super) fn is_trigger(&self, index: usize) -> bool {
        self.triggers[index]
    }

    /// The nodes that are not disabled, with their indexes.
    pub(super) fn active(&self) -> impl Iterator<Item = (usize, &ParsedNode)> {
        self.nodes.iter().map(Rc::as_ref).enumerate().filter(|(_, node)| !node.is_disabled)
    }

    /// The nodes without an incoming connection that no other node uses: neither triggers nor notes nor
    /// sub-nodes.
    pub(super) fn unreached(&self) -> Vec<String> {
        let is_alone = |(index, node): &(usize, &ParsedNode)| {
            !self.is_trigger(*index) && !node.is(NOTE) && self.graph.nothing_leads_to(*index)
        };
        self.active().filter(is_alone).map(|(_, node)| node.name.clone()).collect()
    }
}

fn nodes(document: &Document, known: &[Rc<ParsedNode>]) -> Result<Vec<Rc<ParsedNode>>, Error> {
    let known: HashMap<_, _> = known.iter().map(|node| (node.raw("name").map(RawValue::get), node)).collect();
    let node = |members: BorrowedMembers<'_>| {
        let name = members.get("name").map(|name| name.get());
        let same = known.get(&name).filter(|node| node.has_members(&members)).map(|node| Rc::clone(node));
        let new = || members.iter().map(|(member, value)| (member.clone(), (*value).to_owned())).collect();
        same.unwrap_or_else(|| Rc::new(ParsedNode::of(new())))
    };
    Ok(document.borrowed_nodes()?.into_iter().map(node).collect())
}
