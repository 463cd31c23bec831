//! Edits of a document: each a pure function that leaves everything else as it is.

use serde_json::value::to_raw_value;
use serde_json::{Map, Value, json};

use super::Error;
use super::catalogue::{NodePorts, NodeState, NodeType};
use super::connections::{Connection, Connections};
use super::document::{Document, Members};

/// Right of the right-most node, n8n's grid leaves as much.
const STEP: f64 = 240.0;

/// A node that is to be added.
#[derive(Debug)]
pub struct NewNode<'a> {
    /// The full type, such as `n8n-nodes-base.httpRequest`.
    pub node_type: &'a str,
    /// What the catalogue knows of it.
    pub known: Option<&'a NodeType>,
    /// A name of its own; else one from the type.
    pub name: Option<&'a str>,
    /// Where it stands; else right of the right-most node.
    pub position: Option<(f64, f64)>,
    /// Its parameters.
    pub parameters: Map<String, Value>,
}

/// What became of the connections of a node that was replaced: `Source[main:0] -> Target[main:0]`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Replaced {
    /// The id of the node.
    pub id: String,
    /// Those that are there still.
    pub maintained: Vec<String>,
    /// Those that the new type has no place for.
    pub removed: Vec<String>,
}

/// Adds a node; gives its id.
///
/// # Errors
/// [`Error::Edit`], for a name that is taken.
pub fn add_node(document: &mut Document, new: &NewNode<'_>) -> Result<String, Error> {
    let mut nodes = document.nodes()?;
    let name = match new.name {
        Some(name) if nodes.iter().any(|node| text(node, "name").as_deref() == Some(name)) => {
            return Err(Error::Edit(format!("there is a node '{name}' already; give another name, or leave it out")));
        }
        Some(name) => name.to_owned(),
        None => {
            unique_name(&nodes, new.known.map_or_else(|| short_type(new.node_type), |known| known.display_name.clone()))
        }
    };
    let (x, y) = new.position.unwrap_or_else(|| free_place(&nodes));
    let id = uuid::Uuid::new_v4().to_string();
    let mut node = json!({
        "parameters": new.parameters,
        "id": id,
        "name": name,
        "type": new.node_type,
        "typeVersion": new.known.map_or_else(|| json!(1), |known| json!(known.version)),
        "position": [number(x), number(y)],
    });
    // n8n finds the production address of a webhook by this.
    if has_webhook(new.node_type, new.known) {
        node["webhookId"] = uuid::Uuid::new_v4().to_string().into();
    }
    nodes.push(members(&node)?);
    document.set("nodes", &nodes)?;
    Ok(id)
}

/// Gives a node another type. It keeps its id, name and position, and the connections that the new type has
/// a place for.
///
/// # Errors
/// [`Error::Edit`], for a node that is not there.
pub fn replace_node(
    document: &mut Document,
    target: &str,
    node_type: &str,
    known: Option<&NodeType>,
    parameters: &Map<String, Value>,
) -> Result<Replaced, Error> {
    let mut nodes = document.nodes()?;
    let at = find(&nodes, target)?;
    let name = text(&nodes[at], "name").unwrap_or_default();
    let node = &mut nodes[at];
    let version = known.map_or_else(|| json!(1), |known| json!(known.version));
    for (member, value) in [("parameters", json!(parameters)), ("type", json!(node_type)), ("typeVersion", version)] {
        node.insert(member.to_owned(), raw(&value)?);
    }
    // Credentials belong to a type, and a webhook's id to its address.
    node.shift_remove("credentials");
    node.shift_remove("webhookId");
    if has_webhook(node_type, known) {
        node.insert("webhookId".to_owned(), raw(&json!(uuid::Uuid::new_v4().to_string()))?);
    }
    let id = text(node, "id").unwrap_or_default();
    let (inputs, outputs) = ports(node, known);
    document.set("nodes", &nodes)?;
    let fits = |link: &Connection| {
        (link.source != name || outputs.has(&link.output.kind, link.output.index))
            && (link.target != name || inputs.has(&link.input.kind, link.input.index))
    };
    let mut connections: Connections = document.connections()?;
    let removed = connections.retain(fits);
    if !removed.is_empty() {
        document.set("connections", &connections)?;
    }
    let maintained = connections.iter().filter(|link| link.source == name || link.target == name);
    Ok(Replaced {
        id,
        maintained: maintained.map(|link| link.to_string()).collect(),
        removed: removed.iter().map(Connection::to_string).collect(),
    })
}

/// Takes a node out, and its connections.
///
/// # Errors
/// [`Error::Edit`], for a node that is not there.
pub fn remove_node(document: &mut Document, target: &str) -> Result<(), Error> {
    let mut nodes = document.nodes()?;
    let at = find(&nodes, target)?;
    let name = text(&nodes.remove(at), "name").unwrap_or_default();
    document.set("nodes", &nodes)?;
    let mut connections: Connections = document.connections()?;
    if !connections.retain(|link| link.source != name && link.target != name).is_empty() {
        document.set("connections", &connections)?;
    }
    Ok(())
}

/// Gives a node another name, also in the connections.
///
/// # Errors
/// [`Error::Edit`], for a node that is not there or a name that is taken.
pub fn rename_node(document: &mut Document, target: &str, name: &str) -> Result<(), Error> {
    let mut nodes = document.nodes()?;
    let at = find(&nodes, target)?;
    if nodes.iter().any(|node| text(node, "name").as_deref() == Some(name)) {
        return Err(Error::Edit(format!("there is a node '{name}' already; give another name")));
    }
    let old = text(&nodes[at], "name").unwrap_or_default();
    nodes[at].insert("name".to_owned(), raw(&json!(name))?);
    document.set("nodes", &nodes)?;
    let mut connections: Connections = document.connections()?;
    connections.rename(&old, name);
    document.set("connections", &connections)
}

/// The inputs and outputs of a node, as far as the catalogue knows its type.
pub fn ports(node: &Members, known: Option<&NodeType>) -> (NodePorts, NodePorts) {
    let Some(known) = known else {
        return (NodePorts::Unknown, NodePorts::Unknown);
    };
    let value = |member: &str| serde_json::from_str::<Value>(node.get(member)?.get()).ok();
    let parameters = value("parameters").and_then(|parameters| parameters.as_object().cloned()).unwrap_or_default();
    let on_error = text(node, "onError");
    let version = value("typeVersion").and_then(|version| version.as_f64()).unwrap_or(1.0);
    let state = NodeState { version, parameters: &parameters, on_error: on_error.as_deref() };
    (known.inputs(&state), known.outputs(&state))
}

/// Connects two nodes; gives whether they were not connected so before.
///
/// # Errors
/// [`Error::Edit`], for a node or a place that is not there, and for a node with itself.
pub fn connect(document: &mut Document, link: &Connection) -> Result<bool, Error> {
    if link.source == link.target {
        return Err(Error::Edit(format!("'{}' cannot be connected with itself; name two nodes", link.source)));
    }
    let mut connections: Connections = document.connections()?;
    let added = connections.add(link);
    if added {
        document.set("connections", &connections)?;
    }
    Ok(added)
}

/// The place of the node of this id, else of this name.
///
/// # Errors
/// [`Error::NoNode`].
pub fn find(nodes: &[Members], wanted: &str) -> Result<usize, Error> {
    let by = |member: &str| nodes.iter().position(|node| text(node, member).as_deref() == Some(wanted));
    by("id").or_else(|| by("name")).ok_or_else(|| Error::NoNode {
        wanted: wanted.to_owned(),
        names: nodes.iter().filter_map(|node| text(node, "name")).collect(),
    })
}

/// A string of a node.
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

/// `n8n-nodes-base.httpRequest` without its package, for people: `Http Request`.
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

fn free_place(nodes: &[Members]) -> (f64, f64) {
    let position = |node: &Members| serde_json::from_str::<(f64, f64)>(node.get("position")?.get()).ok();
    let right_most = nodes.iter().filter_map(position).max_by(|(one, _), (other, _)| one.total_cmp(other));
    right_most.map_or((0.0, 0.0), |(x, y)| (x + STEP, y))
}

/// A whole number is written as one.
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
