//! How the nodes of a workflow are connected.
//!
//! n8n keeps `connections[source][type][output][] = {node, type, index}`; a list may hold `null`.

use std::collections::HashMap;
use std::io::Read;

use crate::json::{Cursor, Excerpt, Keep, ReadError, cut_name};

/// What the graph needs of a workflow.
pub const KEEP: Keep = Keep::Members(&[
    ("id", Keep::Whole),
    ("name", Keep::Whole),
    ("nodes", Keep::EachElement(&Keep::Members(&[("id", Keep::Whole), ("name", Keep::Whole), ("type", Keep::Whole)]))),
    ("connections", Keep::Whole),
]);

/// What is held of the connections: room for tens of thousands.
const CONNECTIONS_BYTES: usize = 16 * 1024 * 1024;

/// An id or a type is never longer.
const WORD_CHARS: usize = 200;

/// A workflow as its nodes and what they are connected to.
#[derive(Debug, Default)]
pub struct Graph {
    /// n8n's id of the workflow.
    pub id: String,
    /// Its name.
    pub name: String,
    /// In the order of the workflow.
    pub nodes: Vec<GraphNode>,
    /// n8n's own object.
    pub connections: Option<Excerpt>,
}

/// A node and its neighbours: each once, by name; with the type of the connection unless it is `main`.
#[derive(Debug, Default)]
pub struct GraphNode {
    /// Its name.
    pub name: String,
    /// Its id.
    pub id: String,
    /// Its type.
    pub node_type: String,
    /// Where its data come from.
    pub inputs: Vec<String>,
    /// Where its data go.
    pub outputs: Vec<String>,
}

/// Reads the graph of a workflow.
///
/// # Errors
/// [`ReadError`].
pub fn read<R: Read>(mut cursor: Cursor<R>) -> Result<Graph, ReadError> {
    let mut graph = Graph::default();
    cursor.object(|cursor, member| {
        match member {
            "id" => graph.id = cursor.text(WORD_CHARS)?.unwrap_or_default(),
            "name" => graph.name = cursor.name()?.map(cut_name).unwrap_or_default(),
            "nodes" => {
                cursor.array(|cursor, _| {
                    graph.nodes.push(read_node(cursor)?);
                    Ok(())
                })?;
            }
            "connections" => graph.connections = Some(cursor.excerpt(CONNECTIONS_BYTES)?),
            _ => cursor.skip()?,
        }
        Ok(())
    })?;
    cursor.finish()?;
    graph.connect();
    Ok(graph)
}

fn read_node<R: Read>(cursor: &mut Cursor<R>) -> Result<GraphNode, ReadError> {
    let mut node = GraphNode::default();
    cursor.object(|cursor, member| {
        match member {
            "id" => node.id = cursor.text(WORD_CHARS)?.unwrap_or_default(),
            "name" => node.name = cursor.name()?.map(cut_name).unwrap_or_default(),
            "type" => node.node_type = cursor.text(WORD_CHARS)?.unwrap_or_default(),
            _ => cursor.skip()?,
        }
        Ok(())
    })?;
    Ok(node)
}

impl Graph {
    fn connect(&mut self) {
        let Some(connections) = &self.connections else {
            return;
        };
        let places: HashMap<_, _> = self.nodes.iter().enumerate().map(|(at, node)| (node.name.clone(), at)).collect();
        for link in links(connections) {
            let labelled = |name: &str| match link.kind {
                "main" => name.to_owned(),
                kind => format!("{name} ({kind})"),
            };
            if let Some(source) = places.get(link.source) {
                add(&mut self.nodes[*source].outputs, labelled(&link.target));
            }
            if let Some(target) = places.get(&link.target) {
                add(&mut self.nodes[*target].inputs, labelled(link.source));
            }
        }
    }
}

/// Adds a name that is not there yet.
fn add(names: &mut Vec<String>, name: String) {
    if !names.contains(&name) {
        names.push(name);
    }
}

struct Link<'a> {
    source: &'a str,
    kind: &'a str,
    target: String,
}

fn links(connections: &Excerpt) -> impl Iterator<Item = Link<'_>> {
    connections.members().flat_map(|(source, kinds)| {
        kinds.members().flat_map(move |(kind, outputs)| {
            let targets = outputs.elements().flat_map(Excerpt::elements);
            targets.filter_map(|target| target.member("node")?.text()).map(move |target| Link {
                source,
                kind,
                target: cut_name(target),
            })
        })
    })
}
