//! How the nodes of a workflow are connected.
//!
//! n8n keeps `connections[source][type][output][] = {node, type, index}`; a list may hold `null`.

use std::collections::{HashMap, HashSet};
use std::io::Read;

use crate::json::{Cursor, Excerpt, Keep, ReadError, cut_name};

/// What the graph needs of a workflow.
pub const KEEP: Keep = Keep::Members(&[
    ("id", Keep::Whole),
    ("name", Keep::Whole),
    ("nodes", Keep::EachElement(&Keep::Members(&[("id", Keep::Whole), ("name", Keep::Whole), ("type", Keep::Whole)]))),
    ("connections", Keep::Whole),
]);

/// What is held of n8n's own object: more than any answer shows.
const OWN_BYTES: usize = 1024 * 1024;

/// A link is `{node, type, index}`.
const LINK_BYTES: usize = 8 * 1024;

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
    /// n8n's own object, as far as it is held.
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

/// One connection, on its way into the graph.
struct Edge {
    source: String,
    kind: String,
    target: String,
}

/// Reads the graph of a workflow; `None` where the body is none.
///
/// # Errors
/// [`ReadError`].
pub fn read<R: Read>(mut cursor: Cursor<R>) -> Result<Option<Graph>, ReadError> {
    let mut graph = Graph::default();
    let mut links = Vec::new();
    cursor.object(|cursor, member| {
        match member {
            "id" => graph.id = cursor.text(WORD_CHARS)?.unwrap_or_default(),
            "name" => graph.name = cursor.name()?.unwrap_or_default(),
            "nodes" => {
                cursor.array(|cursor, _| {
                    graph.nodes.extend(read_node(cursor)?);
                    Ok(())
                })?;
            }
            "connections" => graph.connections = Some(Reader { links: &mut links, room: OWN_BYTES }.sources(cursor)?),
            _ => cursor.skip()?,
        }
        Ok(())
    })?;
    cursor.finish()?;
    graph.connect(links);
    Ok((!graph.id.is_empty()).then_some(graph))
}

fn read_node<R: Read>(cursor: &mut Cursor<R>) -> Result<Option<GraphNode>, ReadError> {
    let mut node = GraphNode::default();
    let is_node = cursor.object(|cursor, member| {
        match member {
            "id" => node.id = cursor.text(WORD_CHARS)?.unwrap_or_default(),
            "name" => node.name = cursor.name()?.map(cut_name).unwrap_or_default(),
            "type" => node.node_type = cursor.text(WORD_CHARS)?.unwrap_or_default(),
            _ => cursor.skip()?,
        }
        Ok(())
    })?;
    Ok(is_node.then_some(node))
}

/// Reads connections: every link for the graph, and n8n's own object as far as there is room.
struct Reader<'a> {
    links: &'a mut Vec<Edge>,
    room: usize,
}

impl Reader<'_> {
    fn sources<R: Read>(&mut self, cursor: &mut Cursor<R>) -> Result<Excerpt, ReadError> {
        self.members(cursor, |reader, cursor, source| {
            let source = cut_name(source.to_owned());
            reader.members(cursor, |reader, cursor, kind| {
                let kind = cut_name(kind.to_owned());
                reader.elements(cursor, |reader, cursor| {
                    reader.elements(cursor, |reader, cursor| reader.link(cursor, &source, &kind))
                })
            })
        })
    }

    fn link<R: Read>(&mut self, cursor: &mut Cursor<R>, source: &str, kind: &str) -> Result<Excerpt, ReadError> {
        let link = cursor.excerpt(LINK_BYTES)?;
        if let Some(target) = link.member("node").and_then(Excerpt::text) {
            self.links.push(Edge { source: source.to_owned(), kind: kind.to_owned(), target: cut_name(target) });
        }
        Ok(link)
    }

    fn members<R: Read>(
        &mut self,
        cursor: &mut Cursor<R>,
        mut read: impl FnMut(&mut Self, &mut Cursor<R>, &str) -> Result<Excerpt, ReadError>,
    ) -> Result<Excerpt, ReadError> {
        if !cursor.at_object()? {
            return cursor.excerpt(LINK_BYTES);
        }
        let (mut kept, mut total) = (Vec::new(), 0);
        cursor.object(|cursor, name| {
            total += 1;
            let value = read(self, cursor, name)?;
            if self.takes(name.len()) {
                kept.push((cut_name(name.to_owned()), value));
            }
            Ok(())
        })?;
        Ok(Excerpt::Object { kept, total })
    }

    fn elements<R: Read>(
        &mut self,
        cursor: &mut Cursor<R>,
        mut read: impl FnMut(&mut Self, &mut Cursor<R>) -> Result<Excerpt, ReadError>,
    ) -> Result<Excerpt, ReadError> {
        if !cursor.at_array()? {
            return cursor.excerpt(LINK_BYTES);
        }
        let (mut kept, mut total) = (Vec::new(), 0);
        cursor.array(|cursor, _| {
            total += 1;
            let value = read(self, cursor)?;
            if self.takes(LEAST_LINK_BYTES) {
                kept.push(value);
            }
            Ok(())
        })?;
        Ok(Excerpt::Array { kept, total })
    }

    /// Whether there is room for one more value.
    fn takes(&mut self, bytes: usize) -> bool {
        let fits = bytes <= self.room;
        self.room = self.room.saturating_sub(bytes);
        fits
    }
}

/// A link has a name, a type and an index.
const LEAST_LINK_BYTES: usize = 40;

impl Graph {
    fn connect(&mut self, links: Vec<Edge>) {
        let places: HashMap<_, _> = self.nodes.iter().enumerate().map(|(at, node)| (node.name.clone(), at)).collect();
        let mut seen = HashSet::new();
        for Edge { source, kind, target } in links {
            let labelled = |name: &str| if kind == "main" { name.to_owned() } else { format!("{name} ({kind})") };
            let (input, output) = (labelled(&source), labelled(&target));
            if let Some(at) = places.get(&source).filter(|at| seen.insert((**at, true, output.clone()))) {
                self.nodes[*at].outputs.push(output);
            }
            if let Some(at) = places.get(&target).filter(|at| seen.insert((**at, false, input.clone()))) {
                self.nodes[*at].inputs.push(input);
            }
        }
    }
}
