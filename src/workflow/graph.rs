//! How the nodes of a workflow are connected.
//!
//! n8n keeps `connections[source][type][output][] = {node, type, index}`, where `type` is the connection type,
//! `output` the index of the source's output and `index` that of the target's input; a list can hold `null`.
//!
//! ```
//! use n8n_lens::{json::Projection, workflow::graph::GraphProjection};
//!
//! let body = r#"{"id": "w", "name": "Orders", "nodes": [
//!     {"name": "Large?", "type": "n8n-nodes-base.if", "typeVersion": 2},
//!     {"name": "Ask", "type": "n8n-nodes-base.slack"}, {"name": "Ship", "type": "n8n-nodes-base.set"}],
//!     "connections": {"Large?": {"main": [
//!         [{"node": "Ask", "type": "main", "index": 0}], [{"node": "Ship", "type": "main", "index": 0}]]}}}"#;
//! let graph = GraphProjection.read_from(body.as_bytes())?.unwrap();
//! assert_eq!(graph.nodes[0].outputs, ["Ask (output 0: true)", "Ship (output 1: false)"]);
//! # Ok::<(), n8n_lens::json::ReadError>(())
//! ```

use std::collections::{HashMap, HashSet};

use crate::json::{Cursor, Excerpt, Keep, Members, Projection, ReadError, cut_name, members};
use crate::node_outputs::{self, OutputLabels};

/// Bytes held of n8n's own object: more than any answer shows.
const RAW_BYTES: usize = 1024 * 1024;

/// Bytes held of one `{node, type, index}`.
const TARGET_BYTES: usize = 8 * 1024;

/// The fewest bytes that a held target counts as: it has a name, a type and an index.
const MIN_TARGET_BYTES: usize = 40;

/// Bytes held of the parameters that decide a node's outputs: several hundred rules of a Switch.
const PARAMETERS_BYTES: usize = 64 * 1024;

/// Ids and types are never longer.
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
    /// n8n's own object, as much of it as is held.
    pub connections: Option<Excerpt>,
}

/// A node and its neighbours, one for each connection, by name. Parentheses after the name add details:
/// a connection type other than `main`, the output if the source uses several or n8n
/// labels it, the input if the target uses several: `Merge (output 1: false, input 0)`.
#[derive(Debug, Default)]
pub struct GraphNode {
    /// Its name.
    pub name: String,
    /// Its id.
    pub id: String,
    /// Its type.
    pub node_type: String,
    /// The nodes that its data come from.
    pub inputs: Vec<String>,
    /// The nodes that its data go to.
    pub outputs: Vec<String>,
    labels: OutputLabels,
}

/// One connection, before it is added to the graph.
struct Edge {
    source: String,
    kind: String,
    output: usize,
    target: String,
    input: u64,
}

/// Reads the [`Graph`] of a workflow; `None` if the body is not a workflow.
#[derive(Clone, Copy, Debug)]
pub struct GraphProjection;

impl Projection for GraphProjection {
    type View = Result<Option<Graph>, ReadError>;
    const KEEP: Keep = WorkflowMembers::KEEP;

    fn read(&self, mut cursor: Cursor<'_>) -> Self::View {
        let WorkflowMembers { mut graph, edges } = WorkflowMembers::read_or_default(&mut cursor)?;
        cursor.finish()?;
        graph.connect(edges);
        Ok((!graph.id.is_empty()).then_some(graph))
    }
}

/// The members that are read of a workflow.
#[derive(Default)]
struct WorkflowMembers {
    graph: Graph,
    edges: Vec<Edge>,
}

members!(WorkflowMembers, |workflow, cursor| match name {
    ("id", Keep::Whole) => workflow.graph.id = cursor.text(WORD_CHARS)?.unwrap_or_default(),
    ("name", Keep::Whole) => workflow.graph.name = cursor.name()?.unwrap_or_default(),
    ("nodes", Keep::EachElement(&NodeMembers::KEEP)) => workflow.read_nodes(cursor)?,
    ("connections", Keep::Whole) =>
        workflow.graph.connections = Some(Reader::new(&mut workflow.edges).sources(cursor)?),
});

impl WorkflowMembers {
    fn read_nodes(&mut self, cursor: &mut Cursor<'_>) -> Result<(), ReadError> {
        cursor.array(|cursor, _| {
            self.graph.nodes.extend(NodeMembers::read_object(cursor)?.map(GraphNode::from));
            Ok(())
        })?;
        Ok(())
    }
}

/// The members that are read of a node.
#[derive(Default)]
struct NodeMembers {
    id: String,
    name: String,
    node_type: String,
    version: Option<f64>,
    on_error: Option<String>,
    parameters: Option<Excerpt>,
}

members!(NodeMembers, |node, cursor| match name {
    ("id", Keep::Whole) => node.id = cursor.text(WORD_CHARS)?.unwrap_or_default(),
    ("name", Keep::Whole) => node.name = cursor.name()?.map(cut_name).unwrap_or_default(),
    ("type", Keep::Whole) => node.node_type = cursor.text(WORD_CHARS)?.unwrap_or_default(),
    ("typeVersion", Keep::Whole) => node.version = cursor.number()?,
    ("onError", Keep::Whole) => node.on_error = cursor.text(WORD_CHARS)?,
    ("parameters", node_outputs::PARAMETERS) => node.parameters = Some(cursor.excerpt(PARAMETERS_BYTES)?),
});

impl From<NodeMembers> for GraphNode {
    fn from(node: NodeMembers) -> Self {
        let NodeMembers { id, name, node_type, version, on_error, parameters } = node;
        let labels = OutputLabels::of_excerpt(&node_type, version, on_error.as_deref(), parameters.as_ref());
        Self { id, name, node_type, labels, ..Self::default() }
    }
}

/// Reads connections: every edge for the graph, and n8n's own object while there is room.
struct Reader<'a> {
    edges: &'a mut Vec<Edge>,
    room: usize,
}

impl<'a> Reader<'a> {
    fn new(edges: &'a mut Vec<Edge>) -> Self {
        Self { edges, room: RAW_BYTES }
    }

    fn sources(&mut self, cursor: &mut Cursor<'_>) -> Result<Excerpt, ReadError> {
        self.members(cursor, |reader, cursor, source| {
            let source = cut_name(source.to_owned());
            reader.members(cursor, |reader, cursor, kind| {
                let kind = cut_name(kind.to_owned());
                reader.elements(cursor, |reader, cursor, output| {
                    reader.elements(cursor, |reader, cursor, _| reader.target(cursor, (&source, &kind, output)))
                })
            })
        })
    }

    fn target(
        &mut self,
        cursor: &mut Cursor<'_>,
        (source, kind, output): (&str, &str, usize),
    ) -> Result<Excerpt, ReadError> {
        let target = cursor.excerpt(TARGET_BYTES)?;
        if let Some(name) = target.member("node").and_then(Excerpt::text) {
            let input = match target.member("index") {
                Some(Excerpt::Scalar(index)) => index.parse().unwrap_or(0),
                _ => 0,
            };
            let (source, kind) = (source.to_owned(), kind.to_owned());
            self.edges.push(Edge { source, kind, output, target: cut_name(name), input });
        }
        Ok(target)
    }

    fn members(
        &mut self,
        cursor: &mut Cursor<'_>,
        mut read: impl FnMut(&mut Self, &mut Cursor<'_>, &str) -> Result<Excerpt, ReadError>,
    ) -> Result<Excerpt, ReadError> {
        if !cursor.at_object()? {
            return cursor.excerpt(TARGET_BYTES);
        }
        let (mut kept, mut total) = (Vec::new(), 0);
        cursor.object(|cursor, name| {
            total += 1;
            let value = read(self, cursor, name)?;
            if self.reserve(name.len()) {
                kept.push((cut_name(name.to_owned()), value));
            }
            Ok(())
        })?;
        Ok(Excerpt::Object { kept, total })
    }

    fn elements(
        &mut self,
        cursor: &mut Cursor<'_>,
        mut read: impl FnMut(&mut Self, &mut Cursor<'_>, usize) -> Result<Excerpt, ReadError>,
    ) -> Result<Excerpt, ReadError> {
        if !cursor.at_array()? {
            return cursor.excerpt(TARGET_BYTES);
        }
        let (mut kept, mut total) = (Vec::new(), 0);
        cursor.array(|cursor, _| {
            let value = read(self, cursor, total as usize)?;
            total += 1;
            if self.reserve(MIN_TARGET_BYTES) {
                kept.push(value);
            }
            Ok(())
        })?;
        Ok(Excerpt::Array { kept, total })
    }

    /// Reserves room for one more value; `false` if no room is left.
    fn reserve(&mut self, bytes: usize) -> bool {
        let fits = bytes <= self.room;
        self.room = self.room.saturating_sub(bytes);
        fits
    }
}

impl Graph {
    fn connect(&mut self, edges: Vec<Edge>) {
        let in_use = PortsInUse::of(&edges);
        let places: HashMap<_, _> = self.nodes.iter().enumerate().map(|(at, node)| (node.name.clone(), at)).collect();
        let mut seen = HashSet::new();
        let mut texts = Vec::new();
        for edge in &edges {
            let labels = places.get(&edge.source).map(|at| &self.nodes[*at].labels);
            let details = in_use.details(edge, labels);
            texts.push((with_details(&edge.source, &details), with_details(&edge.target, &details)));
        }
        for (edge, (input, output)) in edges.iter().zip(texts) {
            if let Some(at) = places.get(&edge.source).filter(|at| seen.insert((**at, true, output.clone()))) {
                self.nodes[*at].outputs.push(output);
            }
            if let Some(at) = places.get(&edge.target).filter(|at| seen.insert((**at, false, input.clone()))) {
                self.nodes[*at].inputs.push(input);
            }
        }
    }
}

fn with_details(name: &str, details: &[String]) -> String {
    if details.is_empty() { name.to_owned() } else { format!("{name} ({})", details.join(", ")) }
}

/// How many outputs and inputs each node uses, by connection type: the highest index plus one.
struct PortsInUse<'a> {
    outputs: HashMap<(&'a str, &'a str), usize>,
    inputs: HashMap<(&'a str, &'a str), u64>,
}

impl<'a> PortsInUse<'a> {
    fn of(edges: &'a [Edge]) -> Self {
        let mut in_use = Self { outputs: HashMap::new(), inputs: HashMap::new() };
        for edge in edges {
            let outputs = in_use.outputs.entry((&edge.source, &edge.kind)).or_default();
            *outputs = (*outputs).max(edge.output + 1);
            let inputs = in_use.inputs.entry((&edge.target, &edge.kind)).or_default();
            *inputs = (*inputs).max(edge.input.saturating_add(1));
        }
        in_use
    }

    /// The details of a connection that its two names do not say.
    fn details(&self, edge: &Edge, labels: Option<&OutputLabels>) -> Vec<String> {
        let outputs = self.outputs.get(&(edge.source.as_str(), edge.kind.as_str())).copied().unwrap_or(1);
        let inputs = self.inputs.get(&(edge.target.as_str(), edge.kind.as_str())).copied().unwrap_or(1);
        let is_main = edge.kind == "main";
        let mut details = Vec::new();
        if !is_main {
            details.push(edge.kind.clone());
        }
        match labels.filter(|_| is_main).and_then(|labels| labels.get(edge.output, outputs)) {
            Some(label) => details.push(format!("output {}: {label}", edge.output)),
            None if outputs > 1 => details.push(format!("output {}", edge.output)),
            None => {}
        }
        if inputs > 1 {
            details.push(format!("input {}", edge.input));
        }
        details
    }
}
