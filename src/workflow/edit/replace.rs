//! Changing the type of a node.

use serde_json::{Map, Value, json};

use super::add::has_webhook;
use super::level::Level;
use super::resolve::ports;
use super::settings::check_version;
use super::string::decoded;
use super::{Editor, NodeTypes};
use crate::json::number;
use crate::workflow::Error;
use crate::workflow::catalogue::NodeType;
use crate::workflow::connections::Connection;

/// The new type of a node.
#[derive(Debug)]
pub struct Replacement {
    /// The full type; it may be the one that the node already has.
    pub node_type: String,
    /// Its version; by default the node's own if it keeps its type, else the newest.
    pub version: Option<f64>,
    /// Its parameters; by default the node's own if it keeps its type, else none.
    pub parameters: Option<Map<String, Value>>,
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

impl Editor<'_> {
    /// Changes a node's type, or applies its own type again. The node keeps its id, name and position, and the connections that fit
    /// the type; if it keeps its type, also the version, the parameters, the credentials and the webhook's id.
    ///
    /// # Errors
    /// [`Error::NoNode`] if there is no such node; [`Error::Edit`] if the type has no such version; [`Error::NotWorkflow`] if
    /// the connections are not what they should be.
    pub fn replace(&mut self, target: &str, new: &Replacement, types: NodeTypes<'_>) -> Result<Replaced, Error> {
        let at = self.find_by_id(target)?;
        let known = types(&new.node_type);
        self.edit_node(at, |node| new.write(node, known))?;
        let (inputs, outputs) = ports(&self.members(at), known);
        let name = self.name(at);
        let fits = |connection: &Connection| {
            let Connection { source, output, target, input } = connection;
            (*source != name || outputs.has(&output.kind, output.index))
                && (*target != name || inputs.has(&input.kind, input.index))
        };
        let connections = self.connections()?;
        let removed = connections.retain(fits).iter().map(Connection::to_string).collect();
        let kept = connections.iter().filter(|connection| connection.source == name || connection.target == name);
        let maintained = kept.map(|connection| connection.to_string()).collect();
        Ok(Replaced { id: self.heads[at].id.clone().unwrap_or_default(), maintained, removed })
    }
}

impl Replacement {
    fn write(&self, node: &mut Level<'_>, known: Option<&NodeType>) -> Result<(), Error> {
        let keeps_type = node.get("type").and_then(decoded::<String>).as_ref() == Some(&self.node_type);
        if self.parameters.is_some() || !keeps_type || node.find("parameters").is_none() {
            node.set_member("parameters", &json!(self.parameters.clone().unwrap_or_default()));
        }
        if self.version.is_some() || !keeps_type || node.find("typeVersion").is_none() {
            node.set_member("typeVersion", &self.version(known)?);
        }
        if !keeps_type {
            node.set_member("type", &json!(self.node_type));
            // Credentials belong to a type, and a webhook's id to its URL.
            for member in ["credentials", "webhookId"] {
                node.remove_member(member);
            }
        }
        if has_webhook(&self.node_type, known) && node.find("webhookId").is_none() {
            node.set_member("webhookId", &json!(uuid::Uuid::new_v4().to_string()));
        }
        Ok(())
    }

    /// The requested version if n8n has it, otherwise the newest.
    fn version(&self, known: Option<&NodeType>) -> Result<Value, Error> {
        match self.version {
            None => Ok(known.map_or_else(|| json!(1), |known| json!(known.version))),
            Some(version) => check_version(known, version).map(|()| json!(number(version))),
        }
    }
}
