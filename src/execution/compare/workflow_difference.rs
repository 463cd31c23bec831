//! The differences between two executed workflows.

use std::collections::HashSet;

use indexmap::{IndexMap, IndexSet};

use super::workflow::{NodeKey, SettingValue, SettingValues, Settings, WorkflowDigest};
use crate::json::cut_json_both;

/// A member whose change alone does not affect what a node does: n8n's editor and its API raise it.
const VERSION: &str = "typeVersion";

const PARAMETERS: &str = "parameters";

/// A member whose values are never shown.
const CREDENTIALS: &str = "credentials";

/// Characters shown of a value.
const VALUE_CHARS: usize = 120;

/// How many settings of a node are shown with their values.
const TOLD_VALUES: usize = 12;

/// Values that n8n's node types declare as defaults most often.
const EMPTY: [&str; 5] = ["\"\"", "{}", "[]", "false", "null"];

/// The differences between two workflows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkflowDifference {
    /// The nodes whose settings differ.
    pub changed: Vec<ChangedNode>,
    /// The nodes that only this one has.
    pub added: Vec<String>,
    /// The nodes that only the other one has.
    pub removed: Vec<String>,
    /// Whether their connections differ.
    pub connections: bool,
    /// Differences that do not affect what a node does: ids, positions, notes, and the versions of nodes without
    /// another difference.
    pub cosmetic: u64,
    /// Parameters that only one of them has, taken for defaults that n8n filled in.
    pub defaults: u64,
}

/// A node whose settings differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedNode {
    /// Its name.
    pub name: String,
    /// The settings, without those below another one.
    pub paths: Vec<ChangedPath>,
}

/// A setting that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedPath {
    /// Its path.
    pub path: String,
    /// The first value that differs, as JSON: in the other workflow, then in this one; `null` where it is missing. `None`
    /// if it was not held, of credentials, and after the first 12 settings of a node.
    pub values: Option<(String, String)>,
}

impl WorkflowDifference {
    /// `None` if there is no difference.
    pub(super) fn new(this: &WorkflowDigest, other: &WorkflowDigest) -> Option<Self> {
        let only_in = |one: &WorkflowDigest, other: &WorkflowDigest| {
            let keys = one.nodes.keys().filter(|key| !other.nodes.contains_key(*key));
            keys.map(|(name, _)| name.clone()).collect()
        };
        // A node or connections that were not read do not count as a difference.
        let is_whole = this.too_large == 0 && other.too_large == 0;
        let mut difference = Self {
            added: if other.too_large == 0 { only_in(this, other) } else { Vec::new() },
            removed: if this.too_large == 0 { only_in(other, this) } else { Vec::new() },
            connections: is_whole && this.connections != other.connections,
            ..Self::default()
        };
        let filled = Filled::of(this, other);
        for (key, this, other) in shared(this, other) {
            difference.compare(key, Pair { this, other }, filled);
        }
        (difference != Self::default()).then_some(difference)
    }

    fn compare(&mut self, (name, _): &NodeKey, pair: Pair<'_>, filled: Option<Filled>) {
        self.cosmetic += pair.cosmetic();
        let mut paths = pair.different();
        if let Some(filled) = filled {
            let before = paths.len();
            pair.remove_defaults(&mut paths, filled);
            self.defaults += (before - paths.len()) as u64;
        }
        if paths == [VERSION] {
            self.cosmetic += 1;
            paths.clear();
        }
        if !paths.is_empty() {
            let paths = paths.into_iter().enumerate().map(|(at, path)| {
                let is_told = at < TOLD_VALUES && path.split('.').next() != Some(CREDENTIALS);
                let values = if is_told { pair.values(path) } else { None };
                ChangedPath { path: path.to_owned(), values }
            });
            self.changed.push(ChangedNode { name: name.clone(), paths: paths.collect() });
        }
    }
}

/// The nodes that both workflows have.
fn shared<'d>(
    this: &'d WorkflowDigest,
    other: &'d WorkflowDigest,
) -> impl Iterator<Item = (&'d NodeKey, &'d Settings, &'d Settings)> {
    this.nodes.iter().filter_map(|(key, settings)| Some((key, settings, other.nodes.get(key)?)))
}

/// Which of two workflows has its default parameters filled in while the other has not.
///
/// n8n fills them in when it executes a workflow, and executions can be stored either way. Only n8n's node types know
/// the defaults, so the workflows are judged as a whole: at least half of the nodes with parameters have empty ones
/// that the same nodes of the other workflow lack, and never the other way round. An edit touches few nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Filled {
    This,
    Other,
}

impl Filled {
    fn of(this: &WorkflowDigest, other: &WorkflowDigest) -> Option<Self> {
        let (of_this, of_other) = (Additions::of(this, other), Additions::of(other, this));
        match (of_this.parameters, of_other.parameters) {
            (_, 0) if of_this.are_of_many_nodes() => Some(Self::This),
            (0, _) if of_other.are_of_many_nodes() => Some(Self::Other),
            _ => None,
        }
    }
}

/// The empty parameters that only one of two workflows has.
#[derive(Default)]
struct Additions {
    /// How many there are.
    parameters: u64,
    /// Nodes with such a parameter.
    nodes: u64,
    /// Nodes with any parameter.
    all_nodes: u64,
}

impl Additions {
    fn of(one: &WorkflowDigest, other: &WorkflowDigest) -> Self {
        let mut additions = Self::default();
        for (_, one, other) in shared(one, other) {
            let names = parameters(other);
            let mut own =
                one.values.iter().filter_map(|(path, values)| Some((parameter(path)?, path, values))).peekable();
            additions.all_nodes += u64::from(own.peek().is_some());
            let is_added = |(name, path, values): &(&str, &String, &SettingValues)| {
                !names.contains(name) && is_parameter(path) && values.are_empty()
            };
            let added = own.filter(is_added).count() as u64;
            additions.parameters += added;
            additions.nodes += u64::from(added > 0);
        }
        additions
    }

    fn are_of_many_nodes(&self) -> bool {
        self.parameters > 1 && 2 * self.nodes >= self.all_nodes
    }
}

/// The names of a node's parameters.
fn parameters(settings: &Settings) -> HashSet<&str> {
    settings.values.keys().filter_map(|path| parameter(path)).collect()
}

/// The name of the parameter that a path leads to or into.
fn parameter(path: &str) -> Option<&str> {
    path.strip_prefix(PARAMETERS)?.strip_prefix('.')?.split(['.', '[']).next()
}

/// Whether a path leads to a whole parameter.
fn is_parameter(path: &str) -> bool {
    parameter(path).is_some_and(|name| path.len() == PARAMETERS.len() + 1 + name.len())
}

impl SettingValues {
    fn are_empty(&self) -> bool {
        self.held.len() as u64 == self.count && self.held.iter().all(|value| EMPTY.contains(&value.json.as_str()))
    }
}

/// A node in both workflows.
#[derive(Clone, Copy)]
struct Pair<'d> {
    this: &'d Settings,
    other: &'d Settings,
}

impl<'d> Pair<'d> {
    /// How many cosmetic settings differ.
    fn cosmetic(self) -> u64 {
        let (this, other) = (&self.this.cosmetic, &self.other.cosmetic);
        let changed = this.iter().filter(|(path, hash)| other.get(*path) != Some(hash)).count();
        (changed + other.keys().filter(|path| !this.contains_key(*path)).count()) as u64
    }

    /// The paths whose values differ, without those below another one.
    fn different(self) -> Vec<&'d str> {
        let (this, other) = (&self.this.values, &self.other.values);
        let hash = |values: Option<&SettingValues>| values.map(|values| values.hash);
        let changed = this.keys().filter(|path| hash(other.get(*path)) != hash(this.get(*path)));
        let removed = other.keys().filter(|path| !this.contains_key(*path));
        let mut paths: IndexSet<&str> = changed.chain(removed).map(String::as_str).collect();
        // The additions to an empty container say more than that it is no longer empty.
        for (one, other) in [(this, other), (other, this)] {
            let empty: Vec<_> =
                paths.iter().filter_map(|path| Some((*path, empty_container(one.get(*path)?)?))).collect();
            let containers = if empty.is_empty() { HashSet::new() } else { containers(other) };
            let filled = empty.into_iter().filter(|container| containers.contains(container));
            let filled: HashSet<_> = filled.map(|(path, _)| path).collect();
            paths.retain(|path| !filled.contains(path));
        }
        let is_below_another = |path: &str| path.match_indices(['.', '[']).any(|(end, _)| paths.contains(&path[..end]));
        paths.iter().filter(|path| !is_below_another(path)).copied().collect()
    }

    /// Removes the parameters that only the filled-in workflow has, with a value that can be a default.
    fn remove_defaults(self, paths: &mut Vec<&str>, filled: Filled) {
        let (one, other) = match filled {
            Filled::This => (self.this, self.other),
            Filled::Other => (self.other, self.this),
        };
        let (names, containers) = (parameters(other), containers(&other.values));
        let is_of_element = |path: &str| {
            let end = path.rfind("[].").map(|at| at + "[]".len());
            end.is_some_and(|end| !path[end + 1..].contains(['.', '[']) && containers.contains(&(&path[..end], b'.')))
        };
        paths.retain(|path| match (one.values.get(*path), parameter(path)) {
            (Some(values), Some(name)) if !other.values.contains_key(*path) => {
                let can_be_default = || match names.contains(name) {
                    true => is_of_element(path),
                    false => is_parameter(path) || is_empty_locator(one, name),
                };
                !values.are_empty() && !can_be_default()
            }
            _ => true,
        });
    }

    /// The first values that differ, of the other workflow and of this one.
    fn values(self, path: &str) -> Option<(String, String)> {
        let (old, new) = (self.other.values.get(path), self.this.values.get(path));
        let at = |values: Option<&SettingValues>, at: usize| Some(values?.held.get(at)?.hash);
        let held = |values: Option<&SettingValues>| values.map_or(0, |values| values.held.len());
        let most = held(old).max(held(new));
        let first = (0..=most).find(|place| at(old, *place) != at(new, *place))?;
        let (old, new) = (self.value(path, self.other, first)?, self.value(path, self.this, first)?);
        Some(cut_json_both([&old, &new], VALUE_CHARS).into())
    }

    /// A value, `null` if there is none; `None` if it is not known.
    fn value(self, path: &str, settings: &Settings, at: usize) -> Option<String> {
        let Some(values) = settings.values.get(path) else {
            // Only what is below it was held.
            let has_below = |next: char| {
                let mut below = settings.values.keys().filter_map(|below| below.strip_prefix(path));
                below.any(|below| below.starts_with(next))
            };
            let mark = match (has_below('.'), has_below('[')) {
                (true, _) => "\"…{}\"",
                (false, true) => "\"…[]\"",
                (false, false) => "null",
            };
            return Some(mark.to_owned());
        };
        match values.held.get(at) {
            Some(SettingValue { json, .. }) => Some(json.clone()),
            None if values.held.len() as u64 == values.count => Some("null".to_owned()),
            None => None,
        }
    }
}

/// What follows the path of a container in the paths of its parts, if the only value is an empty container.
fn empty_container(values: &SettingValues) -> Option<u8> {
    let [SettingValue { json, .. }] = values.held.as_slice() else { return None };
    match json.as_str() {
        _ if values.count > 1 => None,
        "{}" => Some(b'.'),
        "[]" => Some(b'['),
        _ => None,
    }
}

/// The paths of all containers that are not empty, and what follows them in the paths of their parts.
fn containers(values: &IndexMap<String, SettingValues>) -> HashSet<(&str, u8)> {
    let ends = values.keys().flat_map(|path| path.match_indices(['.', '[']).map(move |(end, _)| (path, end)));
    ends.map(|(path, end)| (&path[..end], path.as_bytes()[end])).collect()
}

/// Whether a parameter is a resource locator that locates nothing.
fn is_empty_locator(settings: &Settings, name: &str) -> bool {
    let path = |member: &str| format!("{PARAMETERS}.{name}.{member}");
    settings.values.contains_key(&path("__rl"))
        && settings.values.get(&path("value")).is_some_and(SettingValues::are_empty)
}
