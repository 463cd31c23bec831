//! The differences between two digests.

use std::collections::HashMap;

use super::node::{Kinds, NodeDigest};
use super::{Digest, First, ValueDifference, WorkflowDifference, is_below};
use crate::execution::fields::{KINDS, Kind};

/// Shorter times are not compared, ms.
const MIN_MS: u64 = 100;

/// Times differ if one is this many times as long as the other.
const TIMES_AS_LONG: u64 = 3;

/// One of two executions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The one that was asked about.
    This,
    /// The one with which it is compared.
    Other,
}

/// The differences between two executions. In each pair the first value belongs to the execution that was asked about.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// How many nodes have no difference.
    pub same: u64,
    /// The others, in the order of execution.
    pub nodes: Vec<NodeDifference>,
    /// The changes to the workflow.
    pub workflow: Option<WorkflowDifference>,
}

/// The differences of a node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeDifference {
    /// Its name.
    pub name: String,
    /// The only execution in which it ran.
    pub only: Option<Side>,
    /// How it ended.
    pub status: Option<(String, String)>,
    /// Items in its `main` outputs.
    pub items: Option<(u64, u64)>,
    /// The items of each of the first 32 outputs, if there are several.
    pub outputs: Option<(Vec<u64>, Vec<u64>)>,
    /// How often it ran.
    pub runs: Option<(u64, u64)>,
    /// How many of them a retry copied from the execution that it retries.
    pub copied_runs: Option<(u64, u64)>,
    /// How long all runs took, ms.
    pub ms: Option<(u64, u64)>,
    /// Paths found only in the items of this execution, without those below another one.
    pub new_fields: Vec<String>,
    /// Paths found only in the items of the other execution.
    pub lost_fields: Vec<String>,
    /// Paths with values of different kinds.
    pub fields: Vec<FieldDifference>,
    /// The first value that differs, if values are compared.
    pub value: Option<ValueDifference>,
}

/// A path with values of different kinds.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldDifference {
    /// The path.
    pub path: String,
    /// The kinds of its values.
    pub kinds: (Vec<&'static str>, Vec<&'static str>),
    /// The first value of a kind that the other execution does not have.
    pub first: Option<First>,
}

impl Comparison {
    /// Compares an execution with another one. If one of them has no run data, no nodes are compared.
    pub fn new(this: &Digest, other: &Digest) -> Self {
        Self::with_values(this, other, Vec::new())
    }

    /// The same, with these values of nodes that differ, too.
    pub fn with_values(this: &Digest, other: &Digest, values: Vec<ValueDifference>) -> Self {
        let mut comparison = Self::default();
        let mut values: HashMap<_, _> = values.into_iter().map(|value| (value.place.node.clone(), value)).collect();
        if this.has_nodes() && other.has_nodes() {
            let shows_fields = !this.redacted && !other.redacted;
            for (name, one, another) in in_order(this, other) {
                let value = values.remove(name).filter(|_| shows_fields);
                let difference = NodeDifference { value, ..NodeDifference::new(name, one, another, shows_fields) };
                if difference == (NodeDifference { name: name.to_owned(), ..NodeDifference::default() }) {
                    comparison.same += 1;
                } else {
                    let copied = [one, another].map(|node| node.map_or(0, |node| node.copied_runs));
                    let copied_runs = (copied != [0, 0]).then_some(copied.into());
                    comparison.nodes.push(NodeDifference { copied_runs, ..difference });
                }
            }
        }
        let workflows = this.workflow.as_ref().zip(other.workflow.as_ref());
        comparison.workflow = workflows.and_then(|(this, other)| WorkflowDifference::new(this, other));
        comparison
    }
}

/// A node in both executions; `None` in one where it did not run.
type Pair<'d> = (&'d str, Option<&'d NodeDigest>, Option<&'d NodeDigest>);

/// All nodes in the order of this execution; nodes that only the other one has follow the node that came before them
/// there.
fn in_order<'d>(this: &'d Digest, other: &'d Digest) -> Vec<Pair<'d>> {
    let mut after: HashMap<Option<&str>, Vec<Pair<'_>>> = HashMap::new();
    let mut last = None;
    for (name, node) in other.in_order() {
        if this.nodes.contains_key(name) {
            last = Some(name);
        } else {
            after.entry(last).or_default().push((name, None, Some(node)));
        }
    }
    let mut pairs = after.remove(&None).unwrap_or_default();
    for (name, node) in this.in_order() {
        pairs.push((name, Some(node), other.nodes.get(name)));
        pairs.extend(after.remove(&Some(name)).unwrap_or_default());
    }
    pairs
}

impl NodeDifference {
    fn new(name: &str, this: Option<&NodeDigest>, other: Option<&NodeDigest>, shows_fields: bool) -> Self {
        let mut difference = Self { name: name.to_owned(), ..Self::default() };
        let (Some(this), Some(other)) = (this, other) else {
            difference.only = Some(if this.is_some() { Side::This } else { Side::Other });
            return difference;
        };
        difference.status = unequal(this.tally.status().to_owned(), other.tally.status().to_owned());
        difference.items = unequal(this.items, other.items);
        difference.runs = unequal(this.tally.starts.runs, other.tally.starts.runs);
        difference.ms = Some((this.tally.execution_time, other.tally.execution_time)).filter(|(one, other)| {
            let (most, least) = (*one.max(other), *one.min(other));
            most > MIN_MS && most >= least.saturating_mul(TIMES_AS_LONG)
        });
        difference.outputs = outputs(&this.outputs, &other.outputs);
        // Without items, no fields are lost.
        if shows_fields && this.read > 0 && other.read > 0 {
            difference.compare_fields(this, other);
        }
        difference
    }

    fn compare_fields(&mut self, this: &NodeDigest, other: &NodeDigest) {
        if this.has_placeholders || other.has_placeholders {
            return;
        }
        // Values below these have no counterparts.
        let mut above: Vec<&str> = Vec::new();
        for (path, kinds) in &this.fields {
            let is_shown = above.iter().any(|above| is_below(path, above));
            match other.fields.get(path) {
                Some(others) => {
                    self.fields.extend(FieldDifference::new(path, kinds, others));
                    if has_containers(kinds) != has_containers(others) {
                        above.push(path);
                    }
                }
                None if other.is_partial || is_shown => {}
                None => {
                    above.push(path);
                    self.new_fields.push(path.clone());
                }
            }
        }
        for path in other.fields.keys().filter(|path| !this.is_partial && !this.fields.contains_key(*path)) {
            if !above.iter().any(|above| is_below(path, above)) {
                above.push(path);
                self.lost_fields.push(path.clone());
            }
        }
    }
}

fn unequal<T: PartialEq>(this: T, other: T) -> Option<(T, T)> {
    (this != other).then_some((this, other))
}

/// The items of each output, if there are several and they differ.
fn outputs(this: &[u64], other: &[u64]) -> Option<(Vec<u64>, Vec<u64>)> {
    let len = this.len().max(other.len());
    let padded = |outputs: &[u64]| {
        let mut outputs = outputs.to_vec();
        outputs.resize(len, 0);
        outputs
    };
    unequal(padded(this), padded(other)).filter(|_| len > 1)
}

fn has(kinds: &Kinds, kind: Kind) -> bool {
    kinds.iter().any(|(known, _)| *known == kind)
}

/// Whether values are arrays, and whether they are objects.
fn has_containers(kinds: &Kinds) -> [bool; 2] {
    [Kind::Array, Kind::Object].map(|kind| has(kinds, kind))
}

impl FieldDifference {
    /// `None` if the values are of the same kinds.
    fn new(path: &str, this: &Kinds, other: &Kinds) -> Option<Self> {
        let names = |kinds: &Kinds| -> Vec<_> { kinds.iter().map(|(kind, _)| KINDS[*kind as usize]).collect() };
        let kinds = unequal(names(this), names(other))?;
        let new = this.iter().filter(|(kind, _)| !has(other, *kind)).map(|(_, first)| first);
        let first = new.min_by_key(|first| (first.place.run, first.place.output, first.place.item)).cloned();
        Some(Self { path: path.to_owned(), kinds, first })
    }
}
