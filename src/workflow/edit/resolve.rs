//! From words to a connection: two nodes by id or name, and an output and an input such as `main:1`, `true`,
//! a Switch's output or `ai_tool`.

use serde_json::Value;

use super::string::decoded;
use super::{Editor, NodeTypes};
use crate::json::{CUT_NAME_CHARS, quoted_name};
use crate::node_outputs::OutputLabels;
use crate::workflow::Error;
use crate::workflow::catalogue::{NodePort, NodePorts, NodeState, NodeType};
use crate::workflow::connections::{Connection, PortRef};
use crate::workflow::document::{Members, text};

/// A connection that the document can hold.
#[derive(Debug)]
pub struct Resolved {
    /// The connection, with its nodes by name.
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
    fn new(editor: &Editor<'_>, at: usize, types: NodeTypes<'_>) -> Self {
        let node = editor.members(at);
        let (inputs, outputs) = ports(&node, text(&node, "type").as_deref().and_then(types));
        let name = editor.name(at);
        Self { id: text(&node, "id").unwrap_or_else(|| name.clone()), name, inputs, outputs }
    }
}

/// Finds the requested connection: between these two nodes, from an output to an input in words. A connection of an AI
/// type goes from the sub-node to its consumer, in whichever order the two are given.
///
/// # Errors
/// [`Error::Edit`], with the existing outputs or inputs, if the node has no such output or input, or if the two are of
/// different connection types.
pub fn resolve(
    editor: &Editor<'_>,
    [source, target]: [usize; 2],
    words: [&str; 2],
    types: NodeTypes<'_>,
) -> Result<Resolved, Error> {
    let (mut source, mut target) = (End::new(editor, source, types), End::new(editor, target, types));
    let mut output = output(words, &source, &target)?;
    if is_ai(&output.kind) && !source.outputs.has(&output.kind, 0) && target.outputs.has(&output.kind, 0) {
        std::mem::swap(&mut source, &mut target);
        output.index = 0;
    }
    let input = input(words[1], &output, &target)?;
    check_ends(&source, &output, &target, &input)?;
    let connection = Connection { source: source.name, output, target: target.name, input };
    Ok(Resolved { connection, source_id: source.id, target_id: target.id })
}

/// An output of a node, as the caller describes it; without a node, only in the form `main:1`.
pub(super) fn output_of(
    editor: &Editor<'_>,
    at: Option<usize>,
    word: &str,
    types: NodeTypes<'_>,
) -> Result<PortRef, Error> {
    match at.map(|at| End::new(editor, at, types)) {
        Some(End { name, outputs, .. }) => port("output", word, &name, &outputs),
        None => plain(word).ok_or_else(|| without_node("output", word)),
    }
}

/// An input of a node, in the same way.
pub(super) fn input_of(
    editor: &Editor<'_>,
    at: Option<usize>,
    word: &str,
    types: NodeTypes<'_>,
) -> Result<PortRef, Error> {
    match at.map(|at| End::new(editor, at, types)) {
        Some(End { name, inputs, .. }) => port("input", word, &name, &inputs),
        None => plain(word).ok_or_else(|| without_node("input", word)),
    }
}

fn without_node(what: &str, word: &str) -> Error {
    let word = quoted_name(word, CUT_NAME_CHARS);
    Error::Edit(format!("which {what} {word} is depends on the node, which is not known here; pass main:0, main:1, …"))
}

/// Checks that both nodes have the ends of a connection.
pub(super) fn check_connection(
    editor: &Editor<'_>,
    connection: &Connection,
    types: NodeTypes<'_>,
) -> Result<(), Error> {
    let end = |name: &str| Ok::<_, Error>(End::new(editor, editor.find(name)?, types));
    check_ends(&end(&connection.source)?, &connection.output, &end(&connection.target)?, &connection.input)
}

fn check_ends(source: &End, output: &PortRef, target: &End, input: &PortRef) -> Result<(), Error> {
    check("output", output, &source.name, &source.outputs)?;
    check("input", input, &target.name, &target.inputs)?;
    if output.kind != input.kind {
        let (from, to) = (&output.kind, &input.kind);
        return Err(Error::Edit(format!("an output of type {from} cannot feed an input of type {to}")));
    }
    Ok(())
}

/// The inputs and outputs of a node: those of its type in the catalogue, or else the outputs that the node's own
/// parameters show, otherwise unknown ones.
pub fn ports(node: &Members, known: Option<&NodeType>) -> (NodePorts, NodePorts) {
    let value = |member: &str| decoded::<Value>(node.get(member)?.get());
    let parameters = value("parameters").and_then(|parameters| parameters.as_object().cloned()).unwrap_or_default();
    let on_error = text(node, "onError");
    let version = value("typeVersion").and_then(|version| version.as_f64()).unwrap_or(1.0);
    let state = NodeState { version, parameters: &parameters, on_error: on_error.as_deref() };
    match known {
        Some(known) => (known.inputs(&state), known.outputs(&state)),
        None => (NodePorts::Unknown, labelled_outputs(&text(node, "type").unwrap_or_default(), &state)),
    }
}

/// The outputs of a type that is not in the catalogue, if n8n-lens knows their labels in n8n.
pub(in crate::workflow) fn labelled_outputs(node_type: &str, state: &NodeState<'_>) -> NodePorts {
    let labels = OutputLabels::new(node_type, state);
    let ports = |names: &[String]| NodePorts::Known(names.iter().map(|name| NodePort::main(name)).collect());
    labels.names().map_or(NodePorts::Unknown, ports)
}

fn output([word, input]: [&str; 2], source: &End, target: &End) -> Result<PortRef, Error> {
    // By default the connection type is that of the input, or the only one of a sub-node at either end.
    if word == "main" {
        let of_input = plain(input).map(|port| port.kind);
        let reversed = only_kind(&target.outputs).filter(|kind| source.inputs.has(kind, 0));
        let kinds = [of_input, only_kind(&source.outputs), reversed];
        if let Some(kind) = kinds.into_iter().flatten().find(|kind| is_ai(kind)) {
            return Ok(PortRef { kind, index: 0 });
        }
    }
    port("output", word, &source.name, &source.outputs)
}

fn port(what: &str, word: &str, name: &str, ports: &NodePorts) -> Result<PortRef, Error> {
    plain(word)
        .or_else(|| ports.index_of(word).map(|(kind, index)| PortRef { kind, index }))
        .ok_or_else(|| no_port(what, word, name, ports))
}

fn input(word: &str, output: &PortRef, target: &End) -> Result<PortRef, Error> {
    match plain(word) {
        Some(port) if port.kind == "main" && is_ai(&output.kind) => Ok(PortRef { kind: output.kind.clone(), ..port }),
        _ => port("input", word, &target.name, &target.inputs),
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
        NodePorts::Unknown => {
            let name = quoted_name(name, CUT_NAME_CHARS);
            return Error::Edit(format!(
                "which {what} of {name} is '{word}' is not known without the node catalogue; pass main:0, main:1, …"
            ));
        }
        ports => format!("it has {}", ports.describe()),
    };
    Error::Edit(format!("{} has no {what} '{word}'; {hint}", quoted_name(name, CUT_NAME_CHARS)))
}
