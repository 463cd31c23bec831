//! What is held of an executed workflow so that it can be compared with another one: a fingerprint of each setting of
//! each node.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Read;

use indexmap::{IndexMap, IndexSet};

use crate::execution::values::Path;
use crate::json::{Cursor, Element, Keep, ReadError, Visitor, Written, cut_name, walk};

/// What is kept of `workflowData`.
pub(super) const WORKFLOW: Keep = Keep::Members(&[("nodes", Keep::Window), ("connections", Keep::Capture)]);

/// Members of a node that do not change what it does.
const COSMETIC: [&str; 5] = ["id", "name", "position", "notes", "notesInFlow"];

/// Sticky notes are stored as nodes, but never executed.
const STICKY_NOTE: &str = "n8n-nodes-base.stickyNote";

/// Memory for one node, and for the connections.
const PART_BYTES: usize = 1024 * 1024;

/// The most memory for the paths of a workflow, bytes.
const PATHS_BYTES: usize = 1024 * 1024;

/// The memory of a path besides its text, bytes: an estimate.
const PATH_OVERHEAD_BYTES: usize = 64;

/// Stands for all paths of a node for which there was no room.
const OTHER_PATHS: &str = "…";

/// A fingerprint of each setting of a node, by path.
type Settings = IndexMap<String, u64>;

/// A workflow as it is compared.
#[derive(Debug, Default)]
pub(super) struct WorkflowDigest {
    /// The nodes without sticky notes, in document order.
    pub nodes: IndexMap<String, Settings>,
    /// A fingerprint of all connections.
    pub connections: u64,
    /// Parts of more than 1 MiB, which were not read.
    pub too_large: u64,
    bytes: usize,
}

impl WorkflowDigest {
    /// Reads `workflowData`; `None` if there is none.
    pub(super) fn read<R: Read>(cursor: &mut Cursor<R>) -> Result<Option<Self>, ReadError> {
        let mut digest = Self::default();
        let is_object = cursor.object(|cursor, member| {
            match member {
                "nodes" => {
                    digest.nodes.clear();
                    cursor.array(|cursor, _| digest.read_node(cursor))?;
                }
                "connections" => digest.read_connections(cursor)?,
                _ => cursor.skip()?,
            }
            Ok(())
        })?;
        Ok(is_object.then_some(digest))
    }

    fn read_node<R: Read>(&mut self, cursor: &mut Cursor<R>) -> Result<(), ReadError> {
        let Some(json) = self.part(cursor)? else { return Ok(()) };
        let mut node = NodeSettings { bytes: self.bytes, ..NodeSettings::default() };
        fingerprints(&json, |path, fingerprint, text| node.add(path, fingerprint, text))?;
        if let Some(name) = node.name.filter(|_| node.node_type.as_deref() != Some(STICKY_NOTE)) {
            self.bytes = node.bytes;
            node.settings.shrink_to_fit();
            self.nodes.insert(name, node.settings);
        }
        Ok(())
    }

    fn read_connections<R: Read>(&mut self, cursor: &mut Cursor<R>) -> Result<(), ReadError> {
        let Some(json) = self.part(cursor)? else { return Ok(()) };
        self.connections = 0;
        fingerprints(&json, |path, fingerprint, _| {
            // An output that leads nowhere may also be left out.
            if fingerprint.is_value {
                self.connections = self.connections.wrapping_add(hash(&(path, fingerprint.hash)));
            }
        })
    }

    /// The JSON text of a node or of the connections; `None` if it is too large.
    fn part<R: Read>(&mut self, cursor: &mut Cursor<R>) -> Result<Option<Vec<u8>>, ReadError> {
        let json = match cursor.element()? {
            Element::Captured(json) => Some(json.to_vec()),
            Element::Omitted(_) => None,
            Element::Unread => cursor.json(PART_BYTES)?,
        };
        self.too_large += u64::from(json.is_none());
        Ok(json)
    }
}

/// The settings of one node.
#[derive(Default)]
struct NodeSettings {
    name: Option<String>,
    node_type: Option<String>,
    settings: Settings,
    /// The memory of all paths so far.
    bytes: usize,
}

impl NodeSettings {
    fn add(&mut self, path: &str, fingerprint: Fingerprint, text: Option<&str>) {
        match path {
            "name" => self.name = text.map(|text| cut_name(text.to_owned())),
            "type" => self.node_type = text.map(|text| cut_name(text.to_owned())),
            _ => {}
        }
        let member = path.split(['.', '[']).next().unwrap_or_default();
        if COSMETIC.contains(&member) {
            return;
        }
        let path = match self.settings.contains_key(path) || self.bytes < PATHS_BYTES {
            true => path.to_owned(),
            false => OTHER_PATHS.to_owned(),
        };
        // Members may come in any order: what is added up does not depend on it.
        let hash = hash(&(&path, fingerprint.hash));
        let known = self.settings.entry(path).or_insert_with_key(|path| {
            self.bytes += path.len() + PATH_OVERHEAD_BYTES;
            0
        });
        *known = known.wrapping_add(hash);
    }
}

/// The fingerprint of a value, with its place in arrays.
#[derive(Clone, Copy)]
struct Fingerprint {
    hash: u64,
    /// Whether it is not just an empty container.
    is_value: bool,
}

/// Tells `each` the path and the fingerprint of every value that is no container, or an empty one; of a string, also its
/// text.
fn fingerprints(json: &[u8], each: impl FnMut(&str, Fingerprint, Option<&str>)) -> Result<(), ReadError> {
    let mut walker = Walker { path: Path::default(), places: Vec::new(), each };
    walker.path.begin("");
    walk(json, &mut walker).map_err(|kind| ReadError::Syntax(format!("{kind} in the workflow")))
}

struct Walker<E> {
    path: Path,
    /// Of each open container: the place of the next element; `None` for an object.
    places: Vec<Option<u64>>,
    each: E,
}

impl<E: FnMut(&str, Fingerprint, Option<&str>)> Walker<E> {
    fn leaf(&mut self, kind: u8, bytes: &[u8], text: Option<&str>) {
        let hash = hash(&(&self.places, kind, bytes));
        (self.each)(self.path.as_str(), Fingerprint { hash, is_value: kind != CONTAINER }, text);
    }

    /// The next element of the array follows.
    fn advance(&mut self) {
        if let Some(Some(place)) = self.places.last_mut() {
            *place += 1;
        }
    }
}

const SCALAR: u8 = 0;
const STRING: u8 = 1;
const CONTAINER: u8 = 2;

impl<E: FnMut(&str, Fingerprint, Option<&str>)> Visitor for Walker<E> {
    fn open(&mut self, object: bool) {
        self.path.open(object);
        self.places.push((!object).then_some(0));
    }

    fn name(&mut self, name: Written<'_>) {
        self.path.name(name);
    }

    fn string(&mut self, text: Written<'_>) {
        let text = text.text();
        self.leaf(STRING, text.as_bytes(), Some(&text));
        self.advance();
    }

    fn scalar(&mut self, json: Written<'_>) {
        self.leaf(SCALAR, json.bytes, None);
        self.advance();
    }

    fn close(&mut self, parts: u64, json: &[u8]) {
        self.path.close();
        self.places.pop();
        // One that is nested too deep has no parts, either.
        if parts == 0 {
            let json: Vec<_> = json.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
            self.leaf(CONTAINER, &json, None);
        }
        self.advance();
    }
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// What differs between two workflows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkflowDifference {
    /// The nodes whose settings differ, each with the paths that do.
    pub changed: Vec<(String, Vec<String>)>,
    /// The nodes that only this one has.
    pub added: Vec<String>,
    /// The nodes that only the other one has.
    pub removed: Vec<String>,
    /// Whether nodes are connected in another way.
    pub connections: bool,
}

impl WorkflowDifference {
    /// `None` if there is no difference.
    pub(super) fn new(this: &WorkflowDigest, other: &WorkflowDigest) -> Option<Self> {
        let only_in = |one: &WorkflowDigest, other: &WorkflowDigest| {
            one.nodes.keys().filter(|name| !other.nodes.contains_key(*name)).cloned().collect()
        };
        // A node or connections that were not read are no difference.
        let is_whole = this.too_large == 0 && other.too_large == 0;
        let changed = this.nodes.iter().filter_map(|(name, settings)| {
            let paths = different(settings, other.nodes.get(name)?);
            (!paths.is_empty()).then(|| (name.clone(), paths))
        });
        let difference = Self {
            changed: changed.collect(),
            added: if other.too_large == 0 { only_in(this, other) } else { Vec::new() },
            removed: if this.too_large == 0 { only_in(other, this) } else { Vec::new() },
            connections: is_whole && this.connections != other.connections,
        };
        (difference != Self::default()).then_some(difference)
    }
}

/// The paths whose values differ, without those below another one.
fn different(this: &Settings, other: &Settings) -> Vec<String> {
    let changed = this.iter().filter(|(path, value)| other.get(*path) != Some(value)).map(|(path, _)| path);
    let removed = other.keys().filter(|path| !this.contains_key(*path));
    let paths: IndexSet<&str> = changed.chain(removed).map(String::as_str).collect();
    let is_below_another = |path: &str| path.match_indices(['.', '[']).any(|(end, _)| paths.contains(&path[..end]));
    paths.iter().filter(|path| !is_below_another(path)).map(|path| (*path).to_owned()).collect()
}
