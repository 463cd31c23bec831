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
    let mut output = output(wanted.output, &source)?;
    if is_ai(&output.kind) && !source.outputs.has(&output.kind, 0) && target.outputs.has(&output.kind, 0) {
        std::mem::swap(&mut source, &mut target);
        output.index = 0;
    }
    let input = input(wanted.input, &output, &target)?;
    check("output", &output, &source.name, &source.outputs)?;
    check("input", &input, &target.name, &target.inputs)?;
    Ok(Link { source: source.name, output, target: target.name, input })
}

fn output(word: &str, source: &End) -> Result<Port, Error> {
    // A sub-node has no main output: what was not said is its only one.
    if let Some(kind) = only_kind(&source.outputs).filter(|kind| word == "main" && is_ai(kind)) {
        return Ok(Port { kind, index: 0 });
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
    if ports.has(&port.kind, port.index) {
        return Ok(());
    }
    Err(not_there(what, &format!("{}:{}", port.kind, port.index), name, ports))
}

fn not_there(what: &str, word: &str, name: &str, ports: &Ports) -> Error {
    Error::Edit(format!("'{name}' has no {what} '{word}'; it has {}", ports.describe()))
}
