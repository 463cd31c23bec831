//! The connections of a document: `connections[source][kind][output][] = {node, type, index}`. A list of
//! outputs can hold `null`, and a target unknown keys: both are kept.
//!
//! ```
//! use n8n_lens::workflow::connections::{Connection, Connections, PortRef};
//!
//! let port = |index| PortRef { kind: "main".to_owned(), index };
//! let branch =
//!     Connection { source: "Large?".to_owned(), output: port(1), target: "Ship".to_owned(), input: port(0) };
//! let mut connections = Connections::default();
//! assert!(connections.add(&branch));
//! assert!(!connections.add(&branch), "the same connection is added once");
//! assert_eq!(branch.to_string(), "Large?[main:1] -> Ship[main:0]");
//! ```

use serde_json::{Map, Value, json};

/// Which output or input of a node: its connection type and its index among those of that type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortRef {
    /// The connection type: `main`, `ai_tool`, …
    pub kind: String,
    /// From 0.
    pub index: usize,
}

/// One connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// The node that the data come from, by name.
    pub source: String,
    /// The output that they leave by.
    pub output: PortRef,
    /// The node that they go to, by name.
    pub target: String,
    /// The input that they enter by.
    pub input: PortRef,
}

/// All connections of a document.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
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
    /// Adds a connection; returns `false` if it existed already.
    pub fn add(&mut self, connection: &Connection) -> bool {
        if self.has(connection) {
            return false;
        }
        let entry = self.0.entry(connection.source.clone()).or_insert(Value::Null);
        let mut kinds = into_object(entry.take());
        let mut outputs = into_array(kinds.get_mut(&connection.output.kind).map(Value::take));
        if outputs.len() <= connection.output.index {
            outputs.resize(connection.output.index + 1, json!([]));
        }
        let mut targets = into_array(outputs.get_mut(connection.output.index).map(Value::take));
        targets
            .push(json!({"node": connection.target, "type": connection.input.kind, "index": connection.input.index}));
        outputs[connection.output.index] = targets.into();
        // An existing key keeps its place.
        kinds.insert(connection.output.kind.clone(), outputs.into());
        *entry = kinds.into();
        true
    }

    /// Whether this connection exists. Only the targets of its output are compared: there may be many connections.
    fn has(&self, Connection { source, output, target, input }: &Connection) -> bool {
        let targets = self.0.get(source).and_then(|kinds| kinds.get(&output.kind)?.get(output.index)?.as_array());
        targets.into_iter().flatten().any(|other| {
            other["node"].as_str() == Some(target) && end(output, other) == (input.kind.as_str(), input.index)
        })
    }

    /// Removes the connections for which `keep` returns `false`, and trailing empty outputs that this leaves; returns the
    /// removed ones.
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

    /// The connections of each source, as n8n writes them.
    pub(super) fn sources(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, outputs)| (name.as_str(), outputs))
    }

    /// The connections of a source.
    pub(super) fn of(&self, source: &str) -> Option<&Value> {
        self.0.get(source)
    }

    /// Whether connections start at a node of this name.
    pub fn has_source(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Renames a node, as a source and as a target.
    pub fn rename(&mut self, from: &str, to: &str) {
        let renamed = |name: String| if name == from { to.to_owned() } else { name };
        self.0 = std::mem::take(&mut self.0).into_iter().map(|(name, kinds)| (renamed(name), kinds)).collect();
        for target in self.0.values_mut().flat_map(targets_mut) {
            if target.get("node").and_then(Value::as_str) == Some(from) {
                target["node"] = to.into();
            }
        }
    }

    /// All connections; anything else is skipped.
    pub fn iter(&self) -> impl Iterator<Item = Connection> {
        self.0.iter().flat_map(|(source, kinds)| {
            kinds.as_object().into_iter().flatten().flat_map(move |(kind, outputs)| {
                let outputs = outputs.as_array().into_iter().flatten().enumerate();
                outputs.flat_map(move |(index, targets)| {
                    let output = PortRef { kind: kind.clone(), index };
                    targets
                        .as_array()
                        .into_iter()
                        .flatten()
                        .filter_map(move |target| connection(source, &output, target))
                })
            })
        })
    }
}

/// Removes connections from the outputs of one type, and trailing outputs that become empty; returns
/// whether all connections were kept.
fn retain_connections(
    source: &str,
    kind: &str,
    outputs: &mut Vec<Value>,
    keep: &impl Fn(&Connection) -> bool,
    removed: &mut Vec<Connection>,
) -> bool {
    let before = removed.len();
    let mut emptied = Vec::new();
    for (index, targets) in outputs.iter_mut().enumerate() {
        let output = PortRef { kind: kind.to_owned(), index };
        let Some(targets) = targets.as_array_mut() else { continue };
        let kept = removed.len();
        targets.retain(|target| match connection(source, &output, target) {
            Some(found) if !keep(&found) => {
                removed.push(found);
                false
            }
            _ => true,
        });
        if removed.len() > kept && targets.is_empty() {
            emptied.push(index);
        }
    }
    // Other empty lists, and `null`, may have a meaning.
    while emptied.last().is_some_and(|index| index + 1 == outputs.len()) {
        emptied.pop();
        outputs.pop();
    }
    removed.len() == before
}

fn connection(source: &str, output: &PortRef, target: &Value) -> Option<Connection> {
    let (kind, index) = end(output, target);
    Some(Connection {
        source: source.to_owned(),
        output: output.clone(),
        target: target["node"].as_str()?.to_owned(),
        input: PortRef { kind: kind.to_owned(), index },
    })
}

/// The type and the index of the input that a connection from an output leads to.
fn end<'t>(output: &'t PortRef, target: &'t Value) -> (&'t str, usize) {
    let index = target["index"].as_u64().and_then(|index| usize::try_from(index).ok()).unwrap_or(0);
    (target["type"].as_str().unwrap_or(&output.kind), index)
}

fn targets_mut(kinds: &mut Value) -> impl Iterator<Item = &mut Value> {
    let outputs = kinds.as_object_mut().into_iter().flat_map(Map::values_mut).filter_map(Value::as_array_mut);
    outputs.flatten().filter_map(Value::as_array_mut).flatten()
}

/// The object, or an empty one in place of anything else (`null`), which held no connection.
fn into_object(value: Value) -> Map<String, Value> {
    if let Value::Object(object) = value { object } else { Map::new() }
}

/// The array, or an empty one in place of anything else.
fn into_array(value: Option<Value>) -> Vec<Value> {
    if let Some(Value::Array(array)) = value { array } else { Vec::new() }
}
