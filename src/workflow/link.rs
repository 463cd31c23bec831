//! Which connection is meant: two nodes, and words such as `main:1`, `true`, a Switch's output or `ai_tool`.

use super::Error;
use super::catalogue::{NodeType, Ports};
use super::connections::{Link, Port};
use super::document::{Document, Members};
use super::edit::{find, ports, text};

/// What was asked for.
#[derive(Debug)]
pub struct Wanted<'a> {
    /// A node, by id or name.
    pub source: &'a str,
    /// A node, by id or name.
    pub target: &'a str,
    /// Where the data leave.
    pub output: &'a str,
    /// Where they enter.
    pub input: &'a str,
}

/// No node has as many inputs or outputs: each that is skipped is written.
const MOST: usize = 1000;

/// A node of the document and its places.
struct End {
    name: String,
    inputs: Ports,
    outputs: Ports,
}

/// The connection that is meant. One of an AI type goes from the sub-node to its consumer, whichever way
/// it was asked for.
///
/// # Errors
/// [`Error::NoNode`]; [`Error::Edit`] for a place that is not there, which names those that are.
pub fn link<'a>(
    document: &Document,
    wanted: &Wanted<'_>,
    known: impl Fn(&str) -> Option<&'a NodeType>,
) -> Result<Link, Error> {
    let nodes = document.nodes()?;
    let end = |wanted: &str| {
        let node: &Members = &nodes[find(&nodes, wanted)?];
        let (inputs, outputs) = ports(node, text(node, "type").as_deref().and_then(&known));
        Ok::<_, Error>(End { name: text(node, "name").unwrap_or_default(), inputs, outputs })
    };
    let (mut source, mut target) = (end(wanted.source)?, end(wanted.target)?);
    let mut output = output(wanted, &source, &target)?;
    if is_ai(&output.kind) && !source.outputs.has(&output.kind, 0) && target.outputs.has(&output.kind, 0) {
        std::mem::swap(&mut source, &mut target);
        output.index = 0;
    }
    let input = input(wanted.input, &output, &target)?;
    check("output", &output, &source.name, &source.outputs)?;
    check("input", &input, &target.name, &target.inputs)?;
    if output.kind != input.kind {
        let (from, to) = (&output.kind, &input.kind);
        return Err(Error::Edit(format!("an output of the kind {from} does not fit an input of the kind {to}")));
    }
    Ok(Link { source: source.name, output, target: target.name, input })
}

fn output(wanted: &Wanted<'_>, source: &End, target: &End) -> Result<Port, Error> {
    let word = wanted.output;
    // What was not said: the kind of the input, or the only one that a sub-node at either end has.
    if word == "main" {
        let said = plain(wanted.input).map(|port| port.kind);
        let turned = only_kind(&target.outputs).filter(|kind| source.inputs.has(kind, 0));
        let kinds = [said, only_kind(&source.outputs), turned];
        if let Some(kind) = kinds.into_iter().flatten().find(|kind| is_ai(kind)) {
            return Ok(Port { kind, index: 0 });
        }
    }
    if let Some(port) = plain(word) {
        return Ok(port);
    }
    if let Some((kind, index)) = source.outputs.index_of(word) {
        return Ok(Port { kind, index });
    }
    match word {
        // Where the catalogue does not know the node: an IF.
        "true" | "false" if matches!(source.outputs, Ports::Unknown) => {
            Ok(Port { kind: "main".to_owned(), index: usize::from(word == "false") })
        }
        _ => Err(not_there("output", word, &source.name, &source.outputs)),
    }
}

fn input(word: &str, output: &Port, target: &End) -> Result<Port, Error> {
    match plain(word) {
        Some(port) if port.kind == "main" && is_ai(&output.kind) => Ok(Port { kind: output.kind.clone(), ..port }),
        Some(port) => Ok(port),
        None => match target.inputs.index_of(word) {
            Some((kind, index)) => Ok(Port { kind, index }),
            None => Err(not_there("input", word, &target.name, &target.inputs)),
        },
    }
}

/// `main`, `main:1`, `1`, `ai_tool`, `ai_tool:0`.
fn plain(word: &str) -> Option<Port> {
    if let Ok(index) = word.parse() {
        return Some(Port { kind: "main".to_owned(), index });
    }
    let (kind, index) = word.split_once(':').map_or((word, Some(0)), |(kind, index)| (kind, index.parse().ok()));
    (kind == "main" || is_ai(kind)).then_some(())?;
    Some(Port { kind: kind.to_owned(), index: index? })
}

/// The kind of all ports, where they have one.
fn only_kind(ports: &Ports) -> Option<String> {
    let kinds: Vec<_> = match ports {
        Ports::Known(ports) => ports.iter().map(|port| &port.kind).collect(),
        Ports::Kinds(kinds) => kinds.iter().collect(),
        Ports::Unknown => Vec::new(),
    };
    let first = kinds.first()?;
    kinds.iter().all(|kind| kind == first).then(|| (*first).clone())
}

fn is_ai(kind: &str) -> bool {
    kind.starts_with("ai_")
}

fn check(what: &str, port: &Port, name: &str, ports: &Ports) -> Result<(), Error> {
    if port.index < MOST && ports.has(&port.kind, port.index) {
        return Ok(());
    }
    Err(not_there(what, &format!("{}:{}", port.kind, port.index), name, ports))
}

fn not_there(what: &str, word: &str, name: &str, ports: &Ports) -> Error {
    Error::Edit(format!("'{name}' has no {what} '{word}'; it has {}", ports.describe()))
}
