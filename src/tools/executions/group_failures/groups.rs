//! Failures of one kind: the same node of the same workflow, with the same error except for values in its texts.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use indexmap::IndexMap;
use tokio_util::sync::CancellationToken;

use crate::execution::Failure;
use crate::execution::kind::{Kind, merged};
use crate::json::{Prefix, cut_name};
use crate::store::{self, Query, Row, Store};

/// The text shown for an execution without an error, and for an error without a message.
const NO_ERROR: &str = "no error was recorded";
const NO_MESSAGE: &str = "no message was recorded";

/// Characters kept of each text of a group, for display.
const HELD_CHARS: usize = 300;

/// Failures by the parts that never differ within a group; their kinds depend on all of them.
#[derive(Default)]
pub(super) struct Groups(IndexMap<Key, IndexMap<(Kind, Kind), Group>>);

/// A workflow, a node, the class of the error, and an HTTP status.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub workflow_id: String,
    pub node: Option<String>,
    pub name: Option<String>,
    pub http_code: Option<String>,
}

/// Failures of one kind.
pub(super) struct Group {
    pub key: Key,
    pub workflow_name: Option<String>,
    /// The texts of the newest one.
    pub message: Prefix,
    pub description: Option<Prefix>,
    pub count: u64,
    /// Hashes of the distinct texts.
    texts: HashSet<u64>,
    pub first: Failed,
    pub last: Failed,
    /// The newest good execution of the workflow before the first failure, if the store still has it.
    pub good_before: Option<Failed>,
    /// How many good ones there were after the last of them, if that is known.
    pub good_after: Option<u64>,
}

/// The workflow that a failure belongs to.
pub(super) struct Whose {
    pub workflow_id: String,
    pub workflow_name: Option<String>,
}

/// An execution in a group.
#[derive(Clone)]
pub(super) struct Failed {
    pub id: String,
    pub at: Option<String>,
    pub version: Option<String>,
    pub is_manual: bool,
}

impl Failed {
    pub(super) fn of(row: &Row) -> Self {
        Self {
            id: row.id().to_owned(),
            at: row.began_at().map(str::to_owned),
            version: row.workflow_version().map(str::to_owned),
            is_manual: row.mode() == Some("manual"),
        }
    }

    pub(super) fn number(&self) -> Option<i64> {
        self.id.parse().ok()
    }
}

impl Groups {
    /// Adds a failure, older than all before it.
    pub(super) fn add(&mut self, whose: Whose, failed: Failed, error: Option<&Failure>) {
        let key = Key {
            workflow_id: whose.workflow_id,
            node: error.and_then(|error| error.node_name.clone()),
            name: error.and_then(|error| error.name.as_ref()).map(|name| name.kept.clone()),
            http_code: error.and_then(|error| error.http_code.clone()),
        };
        let text = error.map_or(NO_ERROR, |error| message_of(error).map_or(NO_MESSAGE, |message| &message.kept));
        let description = error.and_then(|error| error.description.as_ref()).map(|text| text.kept.as_str());
        let kinds = (Kind::of(text), description.map(Kind::of).unwrap_or_default());
        let alike = self.0.entry(key.clone()).or_default();
        let group = alike.entry(kinds).or_insert_with(|| {
            let Failure { message, description, .. } = error.map(Failure::readable).unwrap_or_default();
            let message = message.filter(|_| error.and_then(message_of).is_some());
            Group {
                key,
                workflow_name: whose.workflow_name.map(cut_name),
                message: message.map_or_else(|| text.to_owned().into(), held),
                description: description.map(held),
                count: 0,
                texts: HashSet::new(),
                first: failed.clone(),
                last: failed.clone(),
                good_before: None,
                good_after: None,
            }
        });
        let mut hash = DefaultHasher::new();
        (text, description).hash(&mut hash);
        group.texts.insert(hash.finish());
        group.count += 1;
        group.first = failed;
    }

    /// The largest `most` groups, and how many groups there are.
    pub(super) fn finish(self, most: u64) -> (Vec<Group>, usize) {
        let mut groups: Vec<_> = self.0.into_values().flat_map(joined).collect();
        groups.sort_by_key(|group| Reverse((group.count, group.last.number())));
        let total = groups.len();
        groups.truncate(most as usize);
        (groups, total)
    }
}

/// The message of an error, unless it is empty.
fn message_of(error: &Failure) -> Option<&Prefix> {
    error.message.as_ref().filter(|message| !message.kept.trim().is_empty())
}

/// The beginning of a text, which knows how long the text is.
fn held(text: Prefix) -> Prefix {
    Prefix { kept: text.kept.chars().take(HELD_CHARS).collect(), chars: text.chars }
}

/// Joins failures that turn out to be of one kind once all others of their node are known.
fn joined(alike: IndexMap<(Kind, Kind), Group>) -> impl Iterator<Item = Group> {
    let (messages, descriptions): (Vec<_>, Vec<_>) = alike.keys().cloned().unzip();
    let kinds = merged(&messages).into_iter().zip(merged(&descriptions));
    let mut joined: IndexMap<(String, String), Group> = IndexMap::new();
    for (kind, group) in kinds.zip(alike.into_values()) {
        match joined.entry(kind) {
            indexmap::map::Entry::Occupied(mut known) => known.get_mut().join(group),
            indexmap::map::Entry::Vacant(new) => {
                new.insert(group);
            }
        }
    }
    joined.into_values()
}

impl Group {
    /// How many distinct texts there are.
    pub(super) fn variants(&self) -> usize {
        self.texts.len()
    }

    /// The versions of the workflow that ran before the group began and when it began, if both are known and differ.
    pub(super) fn edited(&self) -> Option<[&str; 2]> {
        let both = [self.good_before.as_ref()?.version.as_deref()?, self.first.version.as_deref()?];
        (both[0] != both[1]).then_some(both)
    }

    fn join(&mut self, other: Self) {
        if other.last.number() > self.last.number() {
            (self.message, self.description, self.last) = (other.message, other.description, other.last);
        }
        if other.first.number() < self.first.number() {
            self.first = other.first;
        }
        self.count += other.count;
        self.texts.extend(other.texts);
    }

    /// Reads the good executions before and after. Manual ones, whose data may be pinned, say nothing about others.
    pub(super) fn look_around(&mut self, store: &Store, cancel: &CancellationToken) -> Result<(), store::Error> {
        let good = |failed: &Failed| Query {
            workflow_id: Some(self.key.workflow_id.clone()),
            status: Some("success".to_owned()),
            without_manual: !failed.is_manual,
            ..Query::default()
        };
        let before = Query { below: self.first.number(), limit: 1, ..good(&self.first) };
        let after = Query { above: self.last.number(), ..good(&self.last) };
        self.good_before = store.list(&before, cancel)?.first().map(|listed| Failed::of(&listed.row));
        self.good_after = Some(store.count(&after, cancel)?);
        Ok(())
    }
}
