//! A workflow as the rules look at it.

use std::collections::HashMap;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::super::catalogue::NodeType;
use super::super::connections::{Connection, Connections};
use super::super::document::Members;
use super::super::expression::{ParameterText, parameter_texts};
use super::super::trigger::is_trigger;
use super::super::{Document, Error};
use super::graph::Graph;
use crate::json::well_formed;

/// Text on the canvas.
pub(super) const NOTE: &str = "n8n-nodes-base.stickyNote";

/// A node, with U+FFFD in place of each half of a surrogate pair.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) node_type: String,
    pub(super) version: f64,
    pub(super) is_disabled: bool,
    pub(super) is_trigger: bool,
    pub(super) on_error: Option<String>,
    pub(super) webhook_id: Option<String>,
    pub(super) parameters: Map<String, Value>,
    pub(super) texts: Vec<ParameterText>,
}

/// The nodes and connections of a workflow.
#[derive(Debug)]
pub(super) struct View {
    pub(super) nodes: Vec<Node>,
    pub(super) connections: Vec<Connection>,
    pub(super) graph: Graph,
    places: HashMap<String, usize>,
}

impl View {
    pub(super) fn of<'a>(
        document: &Document,
        node_type: &impl Fn(&str) -> Option<&'a NodeType>,
    ) -> Result<Self, Error> {
        let nodes: Vec<_> = document.nodes()?.iter().map(|node| Node::of(node, node_type)).collect();
        let mut places = HashMap::new();
        // A note may have the name of a node.
        let (notes, others): (Vec<_>, Vec<_>) = nodes.iter().enumerate().partition(|(_, node)| node.is(NOTE));
        for (place, node) in others.into_iter().chain(notes) {
            places.entry(node.name.clone()).or_insert(place);
        }
        let connections: Connections = match document.members().get("connections") {
            Some(connections) => serde_json::from_str(&well_formed(connections.get().as_bytes()))
                .map_err(|_| Error::NotWorkflow("connections must be an object".to_owned()))?,
            None => Connections::default(),
        };
        let connections: Vec<_> = connections.iter().collect();
        let graph = Graph::new(nodes.len(), &connections, &places);
        Ok(Self { nodes, connections, graph, places })
    }

    /// The index of the first node with this name.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    /// Where problems of this node are listed: in the order of the nodes.
    pub(super) fn place(&self, name: &str) -> usize {
        self.find(name).unwrap_or(self.nodes.len())
    }

    /// The nodes that are not disabled, with their indexes.
    pub(super) fn active(&self) -> impl Iterator<Item = (usize, &Node)> {
        self.nodes.iter().enumerate().filter(|(_, node)| !node.is_disabled)
    }

    /// The nodes that no connection leads to and that are of no use to another: neither triggers nor notes nor
    /// sub-nodes.
    pub(super) fn unreached(&self) -> Vec<String> {
        let is_alone =
            |(index, node): &(usize, &Node)| !node.is_trigger && !node.is(NOTE) && self.graph.nothing_leads_to(*index);
        self.active().filter(is_alone).map(|(_, node)| node.name.clone()).collect()
    }
}

impl Node {
    fn of<'a>(node: &Members, node_type: &impl Fn(&str) -> Option<&'a NodeType>) -> Self {
        let text = |member: &str| read::<String>(node, member);
        let own_type = text("type").unwrap_or_default();
        let version = read(node, "typeVersion").unwrap_or(1.0);
        let texts = node.get("parameters").map(|parameters| parameter_texts(&own_type, version, parameters.get()));
        let is_of_group = node_type(&own_type).is_some_and(|known| known.group.iter().any(|group| group == "trigger"));
        Self {
            name: text("name").unwrap_or_default(),
            version,
            is_disabled: read(node, "disabled").unwrap_or(false),
            // This one is called differently.
            is_trigger: is_of_group || is_trigger(&own_type) || own_type == "n8n-nodes-base.emailReadImap",
            on_error: text("onError"),
            webhook_id: text("webhookId"),
            parameters: read(node, "parameters").unwrap_or_default(),
            texts: texts.unwrap_or_default(),
            node_type: own_type,
        }
    }

    pub(super) fn is(&self, node_type: &str) -> bool {
        self.node_type == node_type
    }

    /// The string parameter of this name.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.get(name)?.as_str()
    }
}

/// A member of a node; `None` if it is missing or of another type.
fn read<T: DeserializeOwned>(node: &Members, member: &str) -> Option<T> {
    serde_json::from_str(&well_formed(node.get(member)?.get().as_bytes())).ok()
}
