//! A workflow that is read as a whole, for checking: with U+FFFD in place of each half of a surrogate pair, so that
//! nothing has to be left out.
//!
//! ```
//! use n8n_lens::workflow::Document;
//! use n8n_lens::workflow::parsed::Parsed;
//!
//! let document = Document::parse(br#"{"nodes": [{"name": "Caf\ud83d", "parameters": {"a": "={{ 1 }}"}}], "connections": {}}"#)?;
//! let Parsed { nodes, .. } = Parsed::of(&document)?;
//! assert_eq!((nodes[0].name.as_str(), nodes[0].texts[0].pointer.as_str()), ("Caf\u{fffd}", "/a"));
//! # Ok::<(), n8n_lens::workflow::Error>(())
//! ```

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::connections::{Connection, Connections};
use super::document::{BorrowedMembers, Members, same_members};
use super::expression::{ParameterText, texts_of};
use super::{Document, Error};
use crate::json::well_formed;

/// Text on the canvas.
pub const NOTE: &str = "n8n-nodes-base.stickyNote";

/// The nodes and connections of a workflow.
#[derive(Debug)]
pub struct Parsed {
    /// In the order of the workflow.
    pub nodes: Vec<ParsedNode>,
    /// Anything but a connection is skipped.
    pub connections: Vec<Connection>,
}

/// A node. A member that is missing or of another type is read as n8n reads it: empty, 1, `false`.
#[derive(Debug)]
pub struct ParsedNode {
    /// Its id.
    pub id: Option<String>,
    /// Its name.
    pub name: String,
    /// Its full type.
    pub node_type: String,
    /// The version of its type.
    pub version: f64,
    /// Whether n8n skips it.
    pub is_disabled: bool,
    /// What happens if it fails.
    pub on_error: Option<String>,
    /// The id of its webhook.
    pub webhook_id: Option<String>,
    /// Its parameters.
    pub parameters: Map<String, Value>,
    /// Whether they could be read. A number beyond those of IEEE 754 or more than 127 levels cannot.
    pub is_read: bool,
    /// The texts among them, with their places.
    pub texts: Vec<ParameterText>,
    members: Members,
}

impl Parsed {
    /// Reads a workflow.
    ///
    /// # Errors
    /// [`Error::NotWorkflow`] if the nodes are not a list of objects, or the connections are not an object.
    pub fn of(document: &Document) -> Result<Self, Error> {
        let nodes = document.nodes()?.into_iter().map(ParsedNode::of).collect();
        Ok(Self { nodes, connections: connections(document)? })
    }
}

/// The connections of a workflow. Anything but a connection is skipped.
pub(super) fn connections(document: &Document) -> Result<Vec<Connection>, Error> {
    let connections: Connections = match document.members().get("connections") {
        Some(connections) => serde_json::from_str(&well_formed(connections.get().as_bytes()))
            .map_err(|_| Error::NotWorkflow("connections must be an object".to_owned()))?,
        None => Connections::default(),
    };
    Ok(connections.iter().collect())
}

impl ParsedNode {
    /// Whether it was read from these members.
    pub(super) fn has_members(&self, members: &BorrowedMembers<'_>) -> bool {
        same_members(&self.members, members)
    }

    /// Reads a node.
    pub(super) fn of(members: Members) -> Self {
        let text = |member: &str| read::<String>(&members, member);
        let node_type = text("type").unwrap_or_default();
        let version = read(&members, "typeVersion").unwrap_or(1.0);
        let parameters: Option<Value> = read(&members, "parameters");
        let is_read = parameters.is_some() || !members.contains_key("parameters");
        let texts = parameters.as_ref().map(|parameters| texts_of(&node_type, version, parameters));
        Self {
            id: text("id"),
            name: text("name").unwrap_or_default(),
            version,
            is_disabled: read(&members, "disabled").unwrap_or(false),
            on_error: text("onError"),
            webhook_id: text("webhookId"),
            parameters: if let Some(Value::Object(parameters)) = parameters { parameters } else { Map::new() },
            is_read,
            texts: texts.unwrap_or_default(),
            node_type,
            members,
        }
    }

    /// Whether it reads only the first of its items (`executeOnce`).
    pub fn executes_once(&self) -> bool {
        self.member("executeOnce") == Some(Value::Bool(true))
    }

    /// Whether it has this full type.
    pub fn is(&self, node_type: &str) -> bool {
        self.node_type == node_type
    }

    /// The string parameter with this name.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.get(name)?.as_str()
    }

    /// The value at a JSON Pointer below the parameters.
    pub fn at(&self, pointer: &str) -> Option<&Value> {
        let way = pointer.strip_prefix('/')?;
        let (first, rest) = way.split_at(way.find('/').unwrap_or(way.len()));
        self.parameters.get(&first.replace("~1", "/").replace("~0", "~"))?.pointer(rest)
    }

    /// The raw text of a member.
    pub fn raw(&self, name: &str) -> Option<&RawValue> {
        self.members.get(name).map(AsRef::as_ref)
    }

    /// A member of any type.
    pub fn member(&self, name: &str) -> Option<Value> {
        read(&self.members, name)
    }
}

/// A member of a node; `None` if it is missing or of another type.
fn read<T: DeserializeOwned>(members: &Members, member: &str) -> Option<T> {
    serde_json::from_str(&well_formed(members.get(member)?.get().as_bytes())).ok()
}
