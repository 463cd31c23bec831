//! A new node.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::settings::{check_node_settings, check_version};
use super::string::decoded;
use super::{Changed, Editor, NodeTypes};
use crate::json::{CUT_NAME_CHARS, number, quoted_name};
use crate::workflow::Error;
use crate::workflow::catalogue::NodeType;
use crate::workflow::connections::{Connection, PortRef};

/// The distance that n8n's editor leaves between two nodes.
const STEP: f64 = 240.0;

/// Nodes nearer than this overlap.
const SIZE: f64 = 96.0;

const NEW_ID: &str = "A new node gets a new id; the id that was passed is not used.";

/// A node to add.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewNode {
    /// The full type, such as `n8n-nodes-base.httpRequest`.
    #[serde(rename = "type")]
    pub node_type: String,
    /// Its version; by default the newest in the catalogue.
    #[serde(default, rename = "typeVersion")]
    pub version: Option<f64>,
    /// Its name; by default one from the type.
    #[serde(default)]
    pub name: Option<String>,
    /// Where it is drawn; by default to the right of the node that it follows, else of the right-most one.
    #[serde(default)]
    pub position: Option<(f64, f64)>,
    /// Its parameters.
    #[serde(default)]
    pub parameters: Map<String, Value>,
    /// Its other members, in the form of [`SetNodeSettings`](super::Operation::SetNodeSettings).
    #[serde(flatten)]
    pub settings: Map<String, Value>,
}

impl Editor<'_> {
    /// Adds a node; with `after`, between that node's output and what it feeds.
    pub(super) fn add(
        &mut self,
        new: &NewNode,
        after: Option<(&str, Option<&str>)>,
        types: NodeTypes<'_>,
    ) -> Result<Vec<Changed>, Error> {
        let source = after.map(|(node, output)| self.source(node, output, types)).transpose()?;
        let known = types(&new.node_type);
        let name = self.new_name(new, known)?;
        self.note_adopted(&name);
        let (x, y) = new.position.unwrap_or_else(|| self.free_position(source.as_ref().map(|(at, _)| *at)));
        if let Some(version) = new.version {
            check_version(known, version)?;
        }
        let version =
            new.version.map(|version| json!(number(version))).or_else(|| known.map(|known| json!(known.version)));
        let id = uuid::Uuid::new_v4().to_string();
        let mut node = json!({
            "parameters": new.parameters,
            "id": id,
            "name": name,
            "type": new.node_type,
            "typeVersion": version.unwrap_or_else(|| json!(1)),
            "position": [number(x), number(y)],
        });
        // n8n finds the production URL of a webhook by this id.
        if has_webhook(&new.node_type, known) {
            node["webhookId"] = uuid::Uuid::new_v4().to_string().into();
        }
        // Callers pass on copies of other nodes.
        let is_copy = new.settings.get("id").is_some_and(|id| !id.is_null());
        if is_copy && !self.notes.iter().any(|note| note == NEW_ID) {
            self.notes.push(NEW_ID.to_owned());
        }
        let settings: Map<_, _> =
            new.settings.clone().into_iter().filter(|(name, value)| name != "id" && !value.is_null()).collect();
        check_node_settings(&settings)?;
        settings.into_iter().for_each(|(name, value)| node[name] = value);
        let chosen = new.version.is_none().then(|| format!("{}, version {}", new.node_type, node["typeVersion"]));
        self.push_node(&node);
        let (source, targets) = match source {
            Some((at, port)) => self.insert_after(&Output { node: self.name(at), port }, &name, types)?,
            None => (None, Vec::new()),
        };
        Ok(vec![Changed::Added { id, name, chosen, source, targets }])
    }

    /// The name of a new node, which no other node may have.
    fn new_name(&self, new: &NewNode, known: Option<&NodeType>) -> Result<String, Error> {
        match &new.name {
            Some(name) => {
                check_name(name)?;
                if self.names().any(|other| other == name) {
                    let name = quoted_name(name, CUT_NAME_CHARS);
                    return Err(Error::Edit(format!(
                        "there is already a node {name}; pass another name, or leave it out"
                    )));
                }
                Ok(name.clone())
            }
            None => {
                Ok(self
                    .unique_name(known.map_or_else(|| short_type(&new.node_type), |known| known.display_name.clone())))
            }
        }
    }

    /// As n8n does it: `HTTP Request`, `HTTP Request1`, `HTTP Request2`.
    fn unique_name(&self, name: String) -> String {
        let is_taken = |name: &str| self.names().any(|other| other == name);
        if !is_taken(&name) {
            return name;
        }
        (1..).map(|number| format!("{name}{number}")).find(|name| !is_taken(name)).unwrap_or(name)
    }

    /// Inserts a node between an output and the nodes that it feeds; returns the output and those nodes, formatted.
    fn insert_after(
        &mut self,
        source: &Output,
        name: &str,
        types: NodeTypes<'_>,
    ) -> Result<(Option<String>, Vec<String>), Error> {
        let is_fed = |connection: &Connection| connection.source == source.node && connection.output == source.port;
        let fed = self.connections()?.retain(|connection| !is_fed(connection));
        let main = || PortRef { kind: "main".to_owned(), index: 0 };
        let into = Connection {
            source: source.node.clone(),
            output: source.port.clone(),
            target: name.to_owned(),
            input: main(),
        };
        let onward = fed.iter().map(|fed| Connection { source: name.to_owned(), output: main(), ..fed.clone() });
        let added: Vec<_> = [into].into_iter().chain(onward).collect();
        for connection in &added {
            // A connection to a missing node is left unchanged.
            if self.names().any(|name| name == connection.target) {
                self.check_ports(connection, types)?;
            }
            self.connections()?.add(connection);
        }
        let shown = format!("{}[{}:{}]", source.node, source.port.kind, source.port.index);
        Ok((Some(shown), fed.into_iter().map(|fed| fed.target).collect()))
    }

    fn position(&self, at: usize) -> Option<(f64, f64)> {
        self.node(at).ok()?.get("position").and_then(decoded)
    }

    /// To the right of this node, and below others; by default to the right of all.
    fn free_position(&self, after: Option<usize>) -> (f64, f64) {
        let all: Vec<_> = (0..self.heads.len()).filter_map(|at| self.position(at)).collect();
        let Some((x, mut y)) = after.and_then(|at| self.position(at)).map(|(x, y)| (x + STEP, y)) else {
            let right_most = all.into_iter().max_by(|(one, _), (other, _)| one.total_cmp(other));
            return right_most.map_or((0.0, 0.0), |(x, y)| (x + STEP, y));
        };
        for _ in 0..all.len() {
            if !all.iter().any(|(other, below)| (other - x).abs() < SIZE && (below - y).abs() < SIZE) {
                break;
            }
            y += 2.0 * SIZE;
        }
        (x, y)
    }
}

/// An output of a node.
struct Output {
    node: String,
    port: PortRef,
}

/// n8n refuses to rename a node to these in any case, to protect inherited properties (`packages/workflow/src/workflow.ts`).
const RESTRICTED: [&str; 13] = [
    "hasOwnProperty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "toLocaleString",
    "toString",
    "valueOf",
    "constructor",
    "prototype",
    "__proto__",
    "__defineGetter__",
    "__defineSetter__",
    "__lookupGetter__",
    "__lookupSetter__",
];

/// Checks the name of a new or renamed node.
pub(super) fn check_name(name: &str) -> Result<(), Error> {
    if name.trim().is_empty() || RESTRICTED.iter().any(|restricted| restricted.eq_ignore_ascii_case(name)) {
        let name = quoted_name(name, CUT_NAME_CHARS);
        return Err(Error::Edit(format!("{name} is not a name that n8n accepts; pass another")));
    }
    Ok(())
}

pub(super) fn has_webhook(node_type: &str, known: Option<&NodeType>) -> bool {
    match known {
        Some(known) => known.webhook,
        None => ["webhook", "formTrigger", "chatTrigger", "mcpTrigger"].iter().any(|name| node_type.ends_with(name)),
    }
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
