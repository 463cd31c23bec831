//! Edits of a document. Each is a pure function that leaves everything else unchanged.
//!
//! ```
//! use n8n_lens::workflow::{Document, edit};
//! use n8n_lens::workflow::edit::NewNode;
//!
//! let mut document = Document::parse(br#"{"name": "Orders", "nodes": [], "connections": {}}"#)?;
//! let node = NewNode {
//!     node_type: "n8n-nodes-base.httpRequest",
//!     known: None,
//!     name: None,
//!     position: None,
//!     parameters: serde_json::Map::new(),
//! };
//! edit::add_node(&mut document, &node)?;
//! edit::add_node(&mut document, &node)?;
//! let nodes = document.nodes()?;
//! assert_eq!(edit::text(&nodes[1], "name").as_deref(), Some("Http Request1"));
//! # Ok::<(), n8n_lens::workflow::Error>(())
//! ```

use serde_json::value::to_raw_value;
use serde_json::{Map, Value, json};

use super::Error;
use super::catalogue::{NodePort, NodePorts, NodeState, NodeType};
use super::connections::{Connection, Connections};
use super::document::{Document, Members};
use crate::json::{CUT_NAME_CHARS, quoted_name};
use crate::node_outputs::OutputLabels;

/// The distance that n8n's editor leaves between two nodes.
const STEP: f64 = 240.0;

/// A node to add.
#[derive(Debug)]
pub struct NewNode<'a> {
    /// The full type, such as `n8n-nodes-base.httpRequest`.
    pub node_type: &'a str,
    /// What the catalogue knows of it.
    pub known: Option<&'a NodeType>,
    /// Its name; by default one from the type.
    pub name: Option<&'a str>,
    /// Where it is drawn; by default right of the right-most node.
    pub position: Option<(f64, f64)>,
    /// Its parameters.
    pub parameters: Map<String, Value>,
}

/// What a node becomes.
#[derive(Debug)]
pub struct Replacement<'a> {
    /// The full type; it may be the one that the node has.
    pub node_type: &'a str,
    /// What the catalogue knows of it.
    pub known: Option<&'a NodeType>,
    /// Its version; by default the node's own if it keeps its type, else the newest.
    pub version: Option<f64>,
    /// Its parameters.
    pub parameters: Map<String, Value>,
}

/// A replaced node and its connections, written as `Source[main:0] -> Target[main:0]`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Replaced {
    /// The id of the node.
    pub id: String,
    /// The kept ones.
    pub maintained: Vec<String>,
    /// The ones that do not fit the new type.
    pub removed: Vec<String>,
}

/// Adds a node; returns its id, a new UUID.
///
/// # Errors
/// [`Error::Edit`] if another node has the name; [`Error::NotWorkflow`] if the document has no list of nodes.
pub fn add_node(document: &mut Document, new: &NewNode<'_>) -> Result<String, Error> {
    let mut nodes = document.nodes()?;
    let name = match new.name {
        Some(name) if nodes.iter().any(|node| text(node, "name").as_deref() == Some(name)) => {
            return Err(Error::Edit(format!(
                "there is already a node {}; pass another name, or leave it out",
                quoted_name(name, CUT_NAME_CHARS)
            )));
        }
        Some(name) => name.to_owned(),
        None => {
            unique_name(&nodes, new.known.map_or_else(|| short_type(new.node_type), |known| known.display_name.clone()))
        }
    };
    let (x, y) = new.position.unwrap_or_else(|| free_position(&nodes));
    let id = uuid::Uuid::new_v4().to_string();
    let mut node = json!({
        "parameters": new.parameters,
        "id": id,
        "name": name,
        "type": new.node_type,
        "typeVersion": new.known.map_or_else(|| json!(1), |known| json!(known.version)),
        "position": [number(x), number(y)],
    });
    // n8n finds the production URL of a webhook by this id.
    if has_webhook(new.node_type, new.known) {
        node["webhookId"] = uuid::Uuid::new_v4().to_string().into();
    }
    nodes.push(members(&node)?);
    document.set("nodes", &nodes)?;
    Ok(id)
}

/// Gives a node another type, or its own type anew. It keeps its id, name and position, and the connections that fit the
/// type; if it keeps its type, also the version, the credentials and the webhook's id.
///
/// # Errors
/// [`Error::NoNode`] if there is no such node; [`Error::Edit`] if the type has no such version; [`Error::NotWorkflow`] if the nodes or the connections are not what
/// they should be.
pub fn replace_node(document: &mut Document, target: &str, new: &Replacement<'_>) -> Result<Replaced, Error> {
    let mut nodes = document.nodes()?;
    let at = find(&nodes, target)?;
    let name = text(&nodes[at], "name").unwrap_or_default();
    let node = &mut nodes[at];
    let keeps_type = text(node, "type").as_deref() == Some(new.node_type);
    node.insert("parameters".to_owned(), raw(&json!(new.parameters))?);
    if new.version.is_some() || !keeps_type || !node.contains_key("typeVersion") {
        node.insert("typeVersion".to_owned(), raw(&new.version()?)?);
    }
    if !keeps_type {
        node.insert("type".to_owned(), raw(&json!(new.node_type))?);
        // Credentials belong to a type, and a webhook's id to its URL.
        node.shift_remove("credentials");
        node.shift_remove("webhookId");
    }
    if has_webhook(new.node_type, new.known) && !node.contains_key("webhookId") {
        node.insert("webhookId".to_owned(), raw(&json!(uuid::Uuid::new_v4().to_string()))?);
    }
    let id = text(node, "id").unwrap_or_default();
    let (inputs, outputs) = ports(node, new.known);
    document.set("nodes", &nodes)?;
    let fits = |connection: &Connection| {
        let Connection { source, output, target, input } = connection;
        (*source != name || outputs.has(&output.kind, output.index))
            && (*target != name || inputs.has(&input.kind, input.index))
    };
    let mut connections: Connections = document.connections()?;
    let removed = connections.retain(fits);
    if !removed.is_empty() {
        document.set("connections", &connections)?;
    }
    let maintained = connections.iter().filter(|connection| connection.source == name || connection.target == name);
    Ok(Replaced {
        id,
        maintained: maintained.map(|connection| connection.to_string()).collect(),
        removed: removed.iter().map(Connection::to_string).collect(),
    })
}

impl Replacement<'_> {
    /// The requested version if n8n has it, else the newest.
    fn version(&self) -> Result<Value, Error> {
        match (self.version, self.known) {
            (None, known) => Ok(known.map_or_else(|| json!(1), |known| json!(known.version))),
            (Some(version), Some(known)) if !known.versions.iter().any(|known| known.as_f64() == Some(version)) => {
                let versions: Vec<_> = known.versions.iter().map(ToString::to_string).collect();
                let (name, versions) = (&known.display_name, versions.join(", "));
                Err(Error::Edit(format!("{name} has no version {version}; it has {versions}")))
            }
            (Some(version), _) => Ok(number(version)),
        }
    }
}

/// Removes a node and its connections.
///
/// # Errors
/// [`Error::NoNode`] if there is no such node; [`Error::NotWorkflow`] if the nodes or the connections are not what
/// they should be.
pub fn remove_node(document: &mut Document, target: &str) -> Result<(), Error> {
    let mut nodes = document.nodes()?;
    let at = find(&nodes, target)?;
    let name = text(&nodes.remove(at), "name").unwrap_or_default();
    document.set("nodes", &nodes)?;
    let mut connections: Connections = document.connections()?;
    if !connections.retain(|connection| connection.source != name && connection.target != name).is_empty() {
        document.set("connections", &connections)?;
    }
    Ok(())
}

/// Renames a node, in the connections too.
///
/// # Errors
/// [`Error::NoNode`] if there is no such node; [`Error::Edit`] if another node has the name;
/// [`Error::NotWorkflow`] if the nodes or the connections are not what they should be.
pub fn rename_node(document: &mut Document, target: &str, name: &str) -> Result<(), Error> {
    let mut nodes = document.nodes()?;
    let at = find(&nodes, target)?;
    if nodes.iter().any(|node| text(node, "name").as_deref() == Some(name)) {
        return Err(Error::Edit(format!(
            "there is already a node {}; pass another name",
            quoted_name(name, CUT_NAME_CHARS)
        )));
    }
    let old = text(&nodes[at], "name").unwrap_or_default();
    nodes[at].insert("name".to_owned(), raw(&json!(name))?);
    document.set("nodes", &nodes)?;
    let mut connections: Connections = document.connections()?;
    connections.rename(&old, name);
    document.set("connections", &connections)
}

/// The inputs and outputs of a node: those of its type in the catalogue, else the outputs that the node's own
/// parameters show, otherwise unknown ones.
pub fn ports(node: &Members, known: Option<&NodeType>) -> (NodePorts, NodePorts) {
    let value = |member: &str| serde_json::from_str::<Value>(node.get(member)?.get()).ok();
    let parameters = value("parameters").and_then(|parameters| parameters.as_object().cloned()).unwrap_or_default();
    let on_error = text(node, "onError");
    let version = value("typeVersion").and_then(|version| version.as_f64()).unwrap_or(1.0);
    let state = NodeState { version, parameters: &parameters, on_error: on_error.as_deref() };
    match known {
        Some(known) => (known.inputs(&state), known.outputs(&state)),
        None => (NodePorts::Unknown, labelled_outputs(&text(node, "type").unwrap_or_default(), &state)),
    }
}

/// The outputs of a type that the catalogue does not have, if n8n-lens knows what n8n calls them.
fn labelled_outputs(node_type: &str, state: &NodeState<'_>) -> NodePorts {
    let labels = OutputLabels::new(node_type, state);
    let ports = |names: &[String]| NodePorts::Known(names.iter().map(|name| NodePort::main(name)).collect());
    labels.names().map_or(NodePorts::Unknown, ports)
}

/// Adds a connection; returns `false` if it existed already.
///
/// # Errors
/// [`Error::Edit`] if it connects a node with itself; [`Error::NotWorkflow`] if the connections are not an object.
pub fn connect(document: &mut Document, connection: &Connection) -> Result<bool, Error> {
    if connection.source == connection.target {
        return Err(Error::Edit(format!(
            "{} cannot be connected to itself; name two nodes",
            quoted_name(&connection.source, CUT_NAME_CHARS)
        )));
    }
    let mut connections: Connections = document.connections()?;
    let added = connections.add(connection);
    if added {
        document.set("connections", &connections)?;
    }
    Ok(added)
}

/// The index of the node with this id, else of the one with this name.
///
/// # Errors
/// [`Error::NoNode`] if there is neither.
pub fn find(nodes: &[Members], wanted: &str) -> Result<usize, Error> {
    let by = |member: &str| nodes.iter().position(|node| text(node, member).as_deref() == Some(wanted));
    by("id").or_else(|| by("name")).ok_or_else(|| Error::NoNode {
        wanted: wanted.to_owned(),
        names: nodes.iter().filter_map(|node| text(node, "name")).collect(),
    })
}

/// A string member of a node.
pub fn text(node: &Members, member: &str) -> Option<String> {
    serde_json::from_str(node.get(member)?.get()).ok()
}

/// As n8n does it: `HTTP Request`, `HTTP Request1`, `HTTP Request2`.
fn unique_name(nodes: &[Members], name: String) -> String {
    let names: Vec<_> = nodes.iter().filter_map(|node| text(node, "name")).collect();
    if !names.contains(&name) {
        return name;
    }
    (1..).map(|number| format!("{name}{number}")).find(|name| !names.contains(name)).unwrap_or(name)
}

/// `n8n-nodes-base.httpRequest` as a name for people: `Http Request`.
fn short_type(node_type: &str) -> String {
    let name = node_type.rsplit('.').next().unwrap_or(node_type);
    let mut words = String::new();
    for (at, char) in name.chars().enumerate() {
        if at == 0 {
            words.extend(char.to_uppercase());
        } else {
            if char.is_uppercase() {
                words.push(' ');
            }
            words.push(char);
        }
    }
    words
}

fn free_position(nodes: &[Members]) -> (f64, f64) {
    let position = |node: &Members| serde_json::from_str::<(f64, f64)>(node.get("position")?.get()).ok();
    let right_most = nodes.iter().filter_map(position).max_by(|(one, _), (other, _)| one.total_cmp(other));
    right_most.map_or((0.0, 0.0), |(x, y)| (x + STEP, y))
}

/// A whole number is written without a fraction.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 1e15 { json!(value as i64) } else { json!(value) }
}

fn has_webhook(node_type: &str, known: Option<&NodeType>) -> bool {
    match known {
        Some(known) => known.webhook,
        None => ["webhook", "formTrigger", "chatTrigger", "mcpTrigger"].iter().any(|name| node_type.ends_with(name)),
    }
}

fn raw(value: &Value) -> Result<Box<serde_json::value::RawValue>, Error> {
    to_raw_value(value).map_err(|error| Error::Edit(error.to_string()))
}

fn members(node: &Value) -> Result<Members, Error> {
    serde_json::from_str(&node.to_string()).map_err(|error| Error::Edit(error.to_string()))
}
