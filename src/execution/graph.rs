//! The workflow that was executed, as a picture: where its nodes stand, and what connects them.

use std::io::Read;

use super::label;
use super::workflow::WorkflowNode;
use crate::json::{Cursor, Keep, ReadError};
use crate::node_outputs;

/// A longer name of a connection type is cut; real ones never are.
const TYPE_CHARS: usize = 60;

/// The most nodes and connections of a picture; any further ones are counted.
const NODES: usize = 1000;
const LINKS: usize = 4000;

/// What is kept of `workflowData` for a summary with a graph.
pub(super) const KEEP: Keep = Keep::Members(&[
    ("name", Keep::Whole),
    (
        "nodes",
        Keep::EachElement(&Keep::Members(&[
            ("name", Keep::Whole),
            ("type", Keep::Whole),
            ("typeVersion", Keep::Whole),
            ("onError", Keep::Whole),
            ("continueOnFail", Keep::Whole),
            ("position", Keep::Whole),
            ("disabled", Keep::Whole),
            ("parameters", node_outputs::PARAMETERS),
        ])),
    ),
    ("connections", Keep::EachMember(&Keep::EachMember(&Keep::EachElement(&Keep::EachElement(&LINK))))),
]);

const LINK: Keep = Keep::Members(&[("node", Keep::Whole), ("index", Keep::Whole)]);

/// The nodes of a workflow, without sticky notes, and the connections between them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    /// The nodes that have a position.
    pub nodes: Vec<GraphNode>,
    /// What connects them.
    pub links: Vec<Link>,
    /// How many more nodes have a position than the 1,000 that are kept.
    pub more_nodes: u64,
    /// How many more connections there are than the 4,000 that are kept.
    pub more_links: u64,
}

/// A node in the picture of a workflow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GraphNode {
    /// Its name.
    pub name: String,
    /// Its type, such as `n8n-nodes-base.httpRequest`.
    pub node_type: Option<String>,
    /// Its upper left corner in n8n's editor: pixels to the right, and down.
    pub position: (f64, f64),
    /// Whether it is switched off.
    pub disabled: bool,
    /// What n8n's editor calls its `main` outputs, if there are several and their names are known: empty for one without.
    pub output_labels: Vec<String>,
}

/// A connection from an output of a node to an input of another one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// The node that it leaves.
    pub from: String,
    /// Its output, from 0.
    pub output: u64,
    /// The node that it enters.
    pub to: String,
    /// Its input, from 0.
    pub input: u64,
    /// The connection's type: `main`, or one of AI nodes such as `ai_tool`.
    pub kind: String,
}

impl GraphNode {
    fn new(node: &WorkflowNode, name: &str, position: (f64, f64)) -> Self {
        let labels = label::labels(node);
        let output_labels = labels.names().filter(|names| names.len() > 1).map(<[String]>::to_vec).unwrap_or_default();
        let (name, node_type) = (name.to_owned(), node.node_type.clone());
        Self { name, node_type, position, disabled: node.disabled, output_labels }
    }
}

impl Graph {
    /// Adds a node, if it has a name and a position.
    pub(super) fn add_node(&mut self, node: &WorkflowNode) {
        let Some((name, position)) = node.name.as_deref().zip(node.position) else { return };
        if self.nodes.len() < NODES {
            self.nodes.push(GraphNode::new(node, name, position));
        } else {
            self.more_nodes += 1;
        }
    }

    pub(super) fn clear_nodes(&mut self) {
        (self.nodes, self.more_nodes) = (Vec::new(), 0);
    }

    pub(super) fn clear_links(&mut self) {
        (self.links, self.more_links) = (Vec::new(), 0);
    }

    /// Reads `{node, type, index}`, where an output of this type leads; returns whether there was anything.
    pub(super) fn read_link<R: Read>(
        &mut self,
        cursor: &mut Cursor<R>,
        from: &str,
        kind: &str,
        output: u64,
    ) -> Result<bool, ReadError> {
        if !cursor.at_object()? {
            return cursor.skip_present();
        }
        let (mut to, mut input) = (None, 0);
        cursor.object(|cursor, member| {
            match member {
                "node" => to = cursor.name()?,
                "index" => input = cursor.number()?.unwrap_or(0),
                _ => cursor.skip()?,
            }
            Ok(())
        })?;
        let Some(to) = to else { return Ok(true) };
        if self.links.len() < LINKS {
            let kind = kind.chars().take(TYPE_CHARS).collect();
            self.links.push(Link { from: from.to_owned(), output, to, input, kind });
        } else {
            self.more_links += 1;
        }
        Ok(true)
    }
}

/// Reads `[x, y]`; `None` for anything else.
pub(super) fn read_position<R: Read>(cursor: &mut Cursor<R>) -> Result<Option<(f64, f64)>, ReadError> {
    let mut position = [None; 2];
    cursor.array(|cursor, at| match position.get_mut(at as usize) {
        Some(part) => cursor.number().map(|number| *part = number),
        None => cursor.skip(),
    })?;
    Ok(position[0].zip(position[1]))
}
