//! From words to a connection: two nodes by id or name, and an output and an input such as `main:1`, `true`,
//! a Switch's output or `ai_tool`.

use super::Error;
use super::catalogue::{NodePorts, NodeType};
use super::connections::{Connection, PortRef};
use super::document::{Document, Members};
use super::edit::{find, ports, text};
use crate::json::{CUT_NAME_CHARS, quoted_name};

/// A connection as the caller describes it.
#[derive(Debug)]
pub struct ConnectionRequest<'a> {
    /// The node that the data come from, by id or name.
    pub source: &'a str,
    /// The node that they go to, by id or name.
    pub target: &'a str,
    /// The output that they leave by.
    pub output: &'a str,
    /// The input that they enter by.
    pub input: &'a str,
}

/// A connection that the document has a place for.
#[derive(Debug)]
pub struct Resolved {
    /// The connection, whose nodes are named as n8n names them.
    pub connection: Connection,
    /// The id of its source; the name if the node has no id.
    pub source_id: String,
    /// The id of its target; the name if the node has no id.
    pub target_id: String,
}

/// No node has this many inputs or outputs. n8n writes every output up to the last used one, so a large index
/// would blow up the document.
const MAX_PORTS: usize = 1000;

/// One of the two nodes, with what can be connected to it.
struct End {
    id: String,
    name: String,
    inputs: NodePorts,
    outputs: NodePorts,
}

impl End {
    fn new(node: &Members, node_type: Option<&NodeType>) -> Self {
        let (inputs, outputs) = ports(node, node_type);
        let name = text(node, "name").unwrap_or_default();
        Self { id: text(node, "id").unwrap_or_else(|| name.clone()), name, inputs, outputs }
    }
}

/// Finds the connection that is meant. A connection of an AI type goes from the sub-node to its consumer, in
/// whichever order the two are given. `node_type` looks a type up in the catalogue.
///
/// # Errors
/// [`Error::NoNode`] if there is no such node; [`Error::Edit`], with the outputs or inputs that there are, if
/// the node has no such output or input, or if the two are of different connection types;
/// [`Error::NotWorkflow`] if the document has no list of nodes.
pub fn resolve<'a>(
    document: &Document,
    request: &ConnectionRequest<'_>,
    node_type: impl Fn(&str) -> Option<&'a NodeType>,
) -> Result<Resolved, Error> {
    let nodes = document.nodes()?;
    let end = |wanted: &str| {
        let node = &nodes[find(&nodes, wanted)?];
        Ok::<_, Error>(End::new(node, text(node, "type").as_deref().and_then(&node_type)))
    };
    let (mut source, mut target) = (end(request.source)?, end(request.target)?);
    let mut output = output(request, &source, &target)?;
    if is_ai(&output.kind) && !source.outputs.has(&output.kind, 0) && target.outputs.has(&output.kind, 0) {
        std::mem::swap(&mut source, &mut target);
        output.index = 0;
    }
    let input = input(request.input, &output, &target)?;
    check("output", &output, &source.name, &source.outputs)?;
    check("input", &input, &target.name, &target.inputs)?;
    if output.kind != input.kind {
        let (from, to) = (&output.kind, &input.kind);
        return Err(Error::Edit(format!("an output of type {from} cannot feed an input of type {to}")));
    }
    let connection = Connection { source: source.name, output, target: target.name, input };
    Ok(Resolved { connection, source_id: source.id, target_id: target.id })
}

fn output(request: &ConnectionRequest<'_>, source: &End, target: &End) -> Result<PortRef, Error> {
    let word = request.output;
    // By default the connection type is that of the input, or the only one of a sub-node at either end.
    if word == "main" {
        let of_input = plain(request.input).map(|port| port.kind);
        let reversed = only_kind(&target.outputs).filter(|kind| source.inputs.has(kind, 0));
        let kinds = [of_input, only_kind(&source.outputs), reversed];
        if let Some(kind) = kinds.into_iter().flatten().find(|kind| is_ai(kind)) {
            return Ok(PortRef { kind, index: 0 });
        }
    }
    plain(word)
        .or_else(|| source.outputs.index_of(word).map(|(kind, index)| PortRef { kind, index }))
        .ok_or_else(|| no_port("output", word, &source.name, &source.outputs))
}

fn input(word: &str, output: &PortRef, target: &End) -> Result<PortRef, Error> {
    match plain(word) {
        Some(port) if port.kind == "main" && is_ai(&output.kind) => Ok(PortRef { kind: output.kind.clone(), ..port }),
        Some(port) => Ok(port),
        None => match target.inputs.index_of(word) {
            Some((kind, index)) => Ok(PortRef { kind, index }),
            None => Err(no_port("input", word, &target.name, &target.inputs)),
        },
    }
}

/// `main`, `main:1`, `1`, `ai_tool`, `ai_tool:0`.
fn plain(word: &str) -> Option<PortRef> {
    if let Ok(index) = word.parse() {
        return Some(PortRef { kind: "main".to_owned(), index });
    }
    let (kind, index) = word.split_once(':').map_or((word, Some(0)), |(kind, index)| (kind, index.parse().ok()));
    (kind == "main" || is_ai(kind)).then_some(())?;
    Some(PortRef { kind: kind.to_owned(), index: index? })
}

/// The connection type of all ports, if they share one.
fn only_kind(ports: &NodePorts) -> Option<String> {
    let kinds: Vec<_> = match ports {
        NodePorts::Known(ports) => ports.iter().map(|port| &port.kind).collect(),
        NodePorts::Kinds(kinds) => kinds.iter().collect(),
        NodePorts::Unknown => Vec::new(),
    };
    let first = kinds.first()?;
    kinds.iter().all(|kind| kind == first).then(|| (*first).clone())
}

fn is_ai(kind: &str) -> bool {
    kind.starts_with("ai_")
}

fn check(what: &str, port: &PortRef, name: &str, ports: &NodePorts) -> Result<(), Error> {
    if port.index < MAX_PORTS && ports.has(&port.kind, port.index) {
        return Ok(());
    }
    Err(no_port(what, &format!("{}:{}", port.kind, port.index), name, ports))
}

fn no_port(what: &str, word: &str, name: &str, ports: &NodePorts) -> Error {
    let hint = match ports {
        NodePorts::Unknown => format!("its {what}s are not known without the node catalogue: pass main:0, main:1, …"),
        ports => format!("it has {}", ports.describe()),
    };
    Error::Edit(format!("{} has no {what} '{word}'; {hint}", quoted_name(name, CUT_NAME_CHARS)))
}
