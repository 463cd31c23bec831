//! What is held of an executed workflow for comparison with another one: fingerprints of the settings of each node, and
//! the beginnings of their values.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;

use crate::execution::leaves::{CONTAINER, Leaf, SCALAR, STRING, each_leaf};
use crate::execution::workflow::STICKY_NOTE;
use crate::json::{Cursor, Detail, Element, Keep, Members, ReadError, cut_name, members, shorten};
use crate::secrets::{REDACTED, redact};

/// Members of a node that do not affect what it does.
const COSMETIC: [&str; 6] = ["id", "name", "position", "notes", "notesInFlow", "webhookId"];

/// Ids by which n8n's editor distinguishes the elements of a list.
const ELEMENT_IDS: [&str; 2] = ["assignments[].id", "conditions[].id"];

/// Characters held of a value: enough to find the difference in most code.
const HELD_CHARS: usize = 16 * 1024;

/// Memory for one node, and for the connections.
const PART_BYTES: usize = 1024 * 1024;

/// The maximum memory for the paths of a workflow, bytes.
const PATHS_BYTES: usize = 384 * 1024;

/// The maximum memory for their values, bytes.
const VALUES_BYTES: usize = 1024 * 1024;

/// The memory of a path or a value in addition to its text, bytes: an estimate.
const OVERHEAD_BYTES: usize = 112;

/// Stands for all paths of a node for which there was no room.
const OTHER_PATHS: &str = "…";

/// The settings of a node.
#[derive(Debug, Default)]
pub(super) struct Settings {
    /// Their values, by path.
    pub values: IndexMap<String, SettingValues>,
    /// Fingerprints of the settings that do not affect what the node does, by path.
    pub cosmetic: IndexMap<String, u64>,
}

/// The values with one path.
#[derive(Debug, Default)]
pub(super) struct SettingValues {
    /// A fingerprint of all of them.
    pub hash: u64,
    /// How many there are.
    pub count: u64,
    /// The first ones for which there is room.
    pub held: Vec<SettingValue>,
}

/// A value that is not a container, or an empty container.
#[derive(Debug)]
pub(super) struct SettingValue {
    /// A fingerprint of the value and its places in arrays.
    pub hash: u64,
    /// The value as JSON, shortened.
    pub json: String,
}

/// The name of a node, and how many nodes before it have the same name.
pub(super) type NodeKey = (String, usize);

/// A workflow in its form for comparison.
#[derive(Debug, Default)]
pub(super) struct WorkflowDigest {
    /// The nodes without sticky notes, in document order.
    pub nodes: IndexMap<NodeKey, Settings>,
    /// A fingerprint of all connections.
    pub connections: u64,
    /// Parts of more than 1 MiB, which were not read.
    pub too_large: u64,
    room: Room,
    /// Whether values of known secret keys are masked.
    redacts: bool,
}

members!(WorkflowDigest, |digest, cursor| match name {
    ("nodes", Keep::Window) => digest.read_nodes(cursor)?,
    ("connections", Keep::Capture) => digest.read_connections(cursor)?,
});

/// The memory that is left.
#[derive(Clone, Copy, Debug)]
struct Room {
    paths: usize,
    values: usize,
}

impl Default for Room {
    fn default() -> Self {
        Self { paths: PATHS_BYTES, values: VALUES_BYTES }
    }
}

/// Takes the bytes of a text from the room; `false` if it is used up.
fn take(room: &mut usize, text: &str) -> bool {
    let is_left = *room > 0;
    *room = room.saturating_sub(OVERHEAD_BYTES + text.len());
    is_left
}

impl WorkflowDigest {
    /// Reads `workflowData`; `None` if there is none. Values of known secret keys are masked, if `redacts`.
    pub(super) fn read(cursor: &mut Cursor<'_>, redacts: bool) -> Result<Option<Self>, ReadError> {
        let mut digest = Self { redacts, ..Self::default() };
        Ok(digest.read_members(cursor)?.then_some(digest))
    }

    fn read_nodes(&mut self, cursor: &mut Cursor<'_>) -> Result<(), ReadError> {
        self.nodes.clear();
        let mut known = HashMap::new();
        cursor.array(|cursor, _| self.read_node(cursor, &mut known)).map(drop)
    }

    fn read_node(&mut self, cursor: &mut Cursor<'_>, known: &mut HashMap<String, usize>) -> Result<(), ReadError> {
        let Some(json) = self.part(cursor)? else { return Ok(()) };
        let shows = self.redacts.then(|| unmasked(&json));
        let mut node = NodeReader { room: self.room, shows, ..NodeReader::default() };
        leaves(&json, |leaf| node.add(&leaf))?;
        if let Some(name) = node.name.filter(|_| node.node_type.as_deref() != Some(STICKY_NOTE)) {
            self.room = node.room;
            node.settings.values.shrink_to_fit();
            node.settings.cosmetic.shrink_to_fit();
            let before = known.entry(name.clone()).or_default();
            self.nodes.insert((name, *before), node.settings);
            *before += 1;
        }
        Ok(())
    }

    fn read_connections(&mut self, cursor: &mut Cursor<'_>) -> Result<(), ReadError> {
        let Some(json) = self.part(cursor)? else { return Ok(()) };
        self.connections = 0;
        leaves(&json, |leaf| {
            // An output that leads nowhere may also be left out.
            if leaf.kind != CONTAINER {
                self.connections = self.connections.wrapping_add(leaf.hash);
            }
        })
    }

    /// The JSON text of a node or of the connections; `None` if it is too large.
    fn part(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<Vec<u8>>, ReadError> {
        let json = match cursor.element()? {
            Element::Captured(json) => Some(json.to_vec()),
            Element::Omitted(_) => None,
            Element::Unread => cursor.json(PART_BYTES)?,
        };
        self.too_large += u64::from(json.is_none());
        Ok(json)
    }
}

/// Reads the settings of one node.
#[derive(Default)]
struct NodeReader {
    name: Option<String>,
    node_type: Option<String>,
    settings: Settings,
    room: Room,
    /// The fingerprints of the values that may be shown; `None` if all may be.
    shows: Option<HashSet<u64>>,
}

impl NodeReader {
    fn add(&mut self, leaf: &Leaf<'_>) {
        match leaf.path {
            "name" => self.name = leaf.string().map(|text| cut_name(text.to_owned())),
            "type" => self.node_type = leaf.string().map(|text| cut_name(text.to_owned())),
            _ => {}
        }
        let is_known = self.settings.values.contains_key(leaf.path);
        let path = if is_known || self.room.paths > 0 { leaf.path } else { OTHER_PATHS };
        // Members may come in any order: the sums do not depend on it.
        if leaf.is_cosmetic() {
            let known = self.settings.cosmetic.entry(path.to_owned()).or_insert_with_key(|path| {
                take(&mut self.room.paths, path);
                0
            });
            *known = known.wrapping_add(leaf.hash);
            return;
        }
        let values = self.settings.values.entry(path.to_owned()).or_insert_with_key(|path| {
            take(&mut self.room.paths, path);
            SettingValues::default()
        });
        values.hash = values.hash.wrapping_add(leaf.hash);
        values.count += 1;
        let is_shown = self.shows.as_ref().is_none_or(|shows| shows.contains(&leaf.hash));
        let mut json = if is_shown { leaf.json() } else { serde_json::Value::from(REDACTED).to_string() };
        json.shrink_to_fit();
        if path != OTHER_PATHS && take(&mut self.room.values, &json) {
            // Most paths have one value.
            values.held.reserve_exact(usize::from(values.held.is_empty()));
            values.held.push(SettingValue { hash: leaf.hash, json });
        }
    }
}

/// The fingerprints of all values of a node that are not secret.
fn unmasked(json: &[u8]) -> HashSet<u64> {
    let (mut text, mut clipped, mut hashes) = (String::new(), 0, HashSet::new());
    // What cannot be copied is not shown.
    if let Ok(mut node) = Cursor::unpruned(json).excerpt(4 * PART_BYTES) {
        redact::item(&mut node);
        node.write(Detail::WHOLE, &mut text, &mut clipped);
        let read = leaves(text.as_bytes(), |leaf| {
            hashes.insert(leaf.hash);
        });
        if read.is_err() {
            hashes.clear();
        }
    }
    hashes
}

impl Leaf<'_> {
    fn string(&self) -> Option<&str> {
        (self.kind == STRING).then(|| std::str::from_utf8(self.bytes).unwrap_or_default())
    }

    /// Whether it does not affect what the node does.
    fn is_cosmetic(&self) -> bool {
        let member = self.path.split(['.', '[']).next().unwrap_or_default();
        let is_uuid = || self.string().is_some_and(|text| uuid::Uuid::try_parse(text).is_ok());
        COSMETIC.contains(&member)
            || ELEMENT_IDS.iter().any(|id| self.path.ends_with(id))
            || (self.path.ends_with("[].id") && is_uuid())
    }

    /// The value as JSON, shortened.
    fn json(&self) -> String {
        let text = String::from_utf8_lossy(self.bytes);
        match self.kind {
            SCALAR if text.len() <= HELD_CHARS => text.into_owned(),
            CONTAINER if text.len() <= 2 => text.into_owned(),
            // A container that is nested too deep.
            CONTAINER => serde_json::Value::from(if text.starts_with('{') { "…{}" } else { "…[]" }).to_string(),
            _ => serde_json::Value::from(shorten(&text, HELD_CHARS)).to_string(),
        }
    }
}

/// Passes to `each` every value of a workflow that is not a container, or an empty container.
fn leaves(json: &[u8], each: impl FnMut(Leaf<'_>)) -> Result<(), ReadError> {
    each_leaf(json, each).map_err(|kind| ReadError::Syntax(format!("{kind} in the workflow")))
}
