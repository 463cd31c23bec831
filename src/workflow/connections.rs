//! The connections of a document: `connections[source][kind][output][] = {node, type, index}`. A list of
//! outputs may hold `null`, and a link keys that we do not know: both stay.

use serde_json::{Map, Value, json};

/// The place of a connection at a node: its kind (`main`, `ai_tool`, …) and which of them, from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortRef {
    /// The type of the connection.
    pub kind: String,
    /// Which of this kind.
    pub index: usize,
}

/// One connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// The node that the data come from, by name.
    pub source: String,
    /// Where they leave it.
    pub output: PortRef,
    /// The node that they go to, by name.
    pub target: String,
    /// Where they enter it.
    pub input: PortRef,
}

/// All connections of a document.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Connections(Map<String, Value>);

impl std::fmt::Display for Connection {
    /// `Source[main:0] -> Target[main:0]`
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { source, output, target, input } = self;
        write!(f, "{source}[{}:{}] -> {target}[{}:{}]", output.kind, output.index, input.kind, input.index)
    }
}

impl Connections {
    /// Adds a connection; gives whether it was not there yet.
    pub fn add(&mut self, link: &Connection) -> bool {
        if self.iter().any(|known| known == *link) {
            return false;
        }
        let place = self.0.entry(link.source.clone()).or_insert(Value::Null);
        let mut kinds = into_object(place.take());
        let mut outputs = into_array(kinds.get_mut(&link.output.kind).map(Value::take));
        if outputs.len() <= link.output.index {
            outputs.resize(link.output.index + 1, json!([]));
        }
        let mut links = into_array(outputs.get_mut(link.output.index).map(Value::take));
        links.push(json!({"node": link.target, "type": link.input.kind, "index": link.input.index}));
        outputs[link.output.index] = links.into();
        // In the place where they were.
        kinds.insert(link.output.kind.clone(), outputs.into());
        *place = kinds.into();
        true
    }

    /// Takes out the connections that are not to be kept, and what is empty without them; gives those
    /// that were taken out.
    pub fn retain(&mut self, keep: impl Fn(&Connection) -> bool) -> Vec<Connection> {
        let mut removed = Vec::new();
        self.0.retain(|source, kinds| {
            let Some(kinds) = kinds.as_object_mut() else { return true };
            let before = removed.len();
            kinds.retain(|kind, outputs| {
                let Some(outputs) = outputs.as_array_mut() else { return true };
                retain_connections(source, kind, outputs, &keep, &mut removed) || !outputs.is_empty()
            });
            removed.len() == before || !kinds.is_empty()
        });
        removed
    }

    /// Gives a node another name wherever it is named.
    pub fn rename(&mut self, from: &str, to: &str) {
        let renamed = |name: String| if name == from { to.to_owned() } else { name };
        self.0 = std::mem::take(&mut self.0).into_iter().map(|(name, kinds)| (renamed(name), kinds)).collect();
        for target in self.0.values_mut().flat_map(targets_mut) {
            if target.get("node").and_then(Value::as_str) == Some(from) {
                target["node"] = to.into();
            }
        }
    }

    /// All connections that can be read.
    pub fn iter(&self) -> impl Iterator<Item = Connection> {
        self.0.iter().flat_map(|(source, kinds)| {
            kinds.as_object().into_iter().flatten().flat_map(move |(kind, outputs)| {
                let outputs = outputs.as_array().into_iter().flatten().enumerate();
                outputs.flat_map(move |(index, links)| {
                    let output = PortRef { kind: kind.clone(), index };
                    links.as_array().into_iter().flatten().filter_map(move |target| connection(source, &output, target))
                })
            })
        })
    }
}

/// Takes links out of the outputs of one kind; gives whether all of them stayed. Outputs at the end that
/// are empty now say nothing, and go, too.
fn retain_connections(
    source: &str,
    kind: &str,
    outputs: &mut Vec<Value>,
    keep: &impl Fn(&Connection) -> bool,
    removed: &mut Vec<Connection>,
) -> bool {
    let before = removed.len();
    let mut last_removed = None;
    for (index, links) in outputs.iter_mut().enumerate() {
        let output = PortRef { kind: kind.to_owned(), index };
        let Some(links) = links.as_array_mut() else { continue };
        links.retain(|target| match connection(source, &output, target) {
            Some(link) if !keep(&link) => {
                removed.push(link);
                last_removed = Some(index);
                false
            }
            _ => true,
        });
    }
    if last_removed.is_some_and(|index| index + 1 == outputs.len()) {
        while outputs.last().is_some_and(|links| links.as_array().is_none_or(Vec::is_empty)) {
            outputs.pop();
        }
    }
    removed.len() == before
}

fn connection(source: &str, output: &PortRef, target: &Value) -> Option<Connection> {
    let kind = target["type"].as_str().unwrap_or(&output.kind).to_owned();
    let index = target["index"].as_u64().and_then(|index| usize::try_from(index).ok()).unwrap_or(0);
    Some(Connection {
        source: source.to_owned(),
        output: output.clone(),
        target: target["node"].as_str()?.to_owned(),
        input: PortRef { kind, index },
    })
}

fn targets_mut(kinds: &mut Value) -> impl Iterator<Item = &mut Value> {
    let outputs = kinds.as_object_mut().into_iter().flat_map(Map::values_mut).filter_map(Value::as_array_mut);
    outputs.flatten().filter_map(Value::as_array_mut).flatten()
}

/// The object that stood here; what was none (`null`) held no connection, and gives way to one.
fn into_object(value: Value) -> Map<String, Value> {
    if let Value::Object(object) = value { object } else { Map::new() }
}

/// The array that stood here, in the same way.
fn into_array(value: Option<Value>) -> Vec<Value> {
    if let Some(Value::Array(array)) = value { array } else { Vec::new() }
}
