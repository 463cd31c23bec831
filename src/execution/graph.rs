//! The workflow that was executed, as a picture: where its nodes stand, and what connects them.

use std::io::Read;

use super::label;
use super::workflow::WorkflowNode;
use crate::json::{Cursor, Keep, ReadError};
use crate::node_outputs;

/// A longer name of a connection type is cut; real ones never are.
const TYPE_CHARS: usize = 60;

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
    /// The node, if it has a name and a position.
    pub(super) fn new(node: &WorkflowNode) -> Option<Self> {
        let labels = label::labels(node);
        let output_labels = labels.names().filter(|names| names.len() > 1).map(<[String]>::to_vec).unwrap_or_default();
        let (name, node_type) = (node.name.clone()?, node.node_type.clone());
        Some(Self { name, node_type, position: node.position?, disabled: node.disabled, output_labels })
    }
}

impl Graph {
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
        if let Some(to) = to {
            let kind = kind.chars().take(TYPE_CHARS).collect();
            self.links.push(Link { from: from.to_owned(), output, to, input, kind });
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
