//! The workflow that was executed, as a picture: where its nodes stand, and what connects them.

use super::workflow::{LinkStart, Workflow};
use super::workflow_node::WorkflowNode;
use crate::json::{Cursor, Keep, Members, ReadError, members};

/// A longer name of a connection type is cut; real ones never are.
const TYPE_CHARS: usize = 60;

/// The maximum number of nodes and connections of a picture; any further ones are counted.
const NODES: usize = 1000;
const LINKS: usize = 4000;

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

/// The workflow that was executed, with its picture.
#[derive(Debug, Default)]
pub(super) struct DrawnWorkflow {
    pub workflow: Workflow,
    pub graph: Graph,
}

members!(DrawnWorkflow, |drawn, cursor| match name {
    ("name", Keep::Whole) => drawn.workflow.name = cursor.name()?,
    ("nodes", Keep::EachElement(&WorkflowNode::KEEP)) => drawn.read_nodes(cursor)?,
    ("connections", CONNECTIONS) => drawn.read_connections(cursor)?,
});

const CONNECTIONS: Keep = Keep::EachMember(&Keep::EachMember(&Keep::EachElement(&Keep::EachElement(&LinkEnd::KEEP))));

/// Where an output leads.
#[derive(Default)]
struct LinkEnd {
    node: Option<String>,
    input: Option<u64>,
}

members!(LinkEnd, |end, cursor| match name {
    ("node", Keep::Whole) => end.node = cursor.name()?,
    ("index", Keep::Whole) => end.input = cursor.number()?,
});

impl DrawnWorkflow {
    fn read_nodes(&mut self, cursor: &mut Cursor<'_>) -> Result<(), ReadError> {
        (self.graph.nodes, self.graph.more_nodes) = (Vec::new(), 0);
        self.workflow.read_nodes(cursor, |node| self.graph.add_node(node))
    }

    fn read_connections(&mut self, cursor: &mut Cursor<'_>) -> Result<(), ReadError> {
        (self.graph.links, self.graph.more_links) = (Vec::new(), 0);
        self.workflow.read_connections(cursor, |cursor, start| self.graph.read_link(cursor, start))
    }
}

impl GraphNode {
    fn new(node: &WorkflowNode, name: &str, position: (f64, f64)) -> Self {
        let (name, node_type) = (name.to_owned(), node.node_type.clone());
        Self { name, node_type, position, disabled: node.disabled }
    }
}

impl Graph {
    /// Adds a node, if it has a name and a position.
    fn add_node(&mut self, node: &WorkflowNode) {
        let Some((name, position)) = node.name.as_deref().zip(node.position) else { return };
        if self.nodes.len() < NODES {
            self.nodes.push(GraphNode::new(node, name, position));
        } else {
            self.more_nodes += 1;
        }
    }

    /// Reads `{node, type, index}`, where an output of this type leads; returns whether there was anything.
    fn read_link(&mut self, cursor: &mut Cursor<'_>, start: LinkStart<'_>) -> Result<bool, ReadError> {
        if !cursor.at_object()? {
            return cursor.skip_present();
        }
        let end = LinkEnd::read_or_default(cursor)?;
        let Some(to) = end.node else { return Ok(true) };
        if self.links.len() < LINKS {
            let kind = start.kind.chars().take(TYPE_CHARS).collect();
            let (from, input) = (start.node.to_owned(), end.input.unwrap_or(0));
            self.links.push(Link { from, output: start.output, to, input, kind });
        } else {
            self.more_links += 1;
        }
        Ok(true)
    }
}
