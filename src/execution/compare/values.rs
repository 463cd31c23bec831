//! The values of two executions: where the items of each node begin to differ.
//!
//! Each execution is read twice: its [`Recording`] has a hash of every item, and the first differing item of each node
//! is then read from both ([`ItemsProjection`](crate::execution::trace::ItemsProjection)).

use crate::execution::recording::{RecordedNode, Recording};
use crate::execution::trace::{Change, ItemsView, Place, changes};
use crate::json::Excerpt;

/// The maximum number of nodes whose values are read: each holds an item of both executions, of 64 KiB at most.
const NODES: usize = 40;

/// The first value of a node that differs. In each pair the first belongs to the execution that was asked about.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueDifference {
    /// The item, in both executions.
    pub place: Place,
    /// The path in the item.
    pub path: String,
    /// Both values; `None` in an execution that lacks it.
    pub values: (Option<Excerpt>, Option<Excerpt>),
}

/// Where the first differing item of each node is, in the order of this execution: here and in the other one, in which
/// `other_name` returns the name of the node. Nodes without such an item in both are left out.
pub fn first_places<'n>(
    this: &'n Recording,
    other: &Recording,
    other_name: impl Fn(&'n str) -> Option<&'n str>,
) -> Vec<[Place; 2]> {
    let places = this.nodes.iter().filter_map(|(name, node)| {
        let other_name = other_name(name)?;
        let (run, output, item) = first_item(node, other.nodes.get(other_name)?)?;
        Some([name, other_name].map(|node| Place { node: node.to_owned(), run, output, item }))
    });
    places.take(NODES).collect()
}

/// The run, the output and the item of the first difference.
fn first_item(this: &RecordedNode, other: &RecordedNode) -> Option<(u64, u64, u64)> {
    for (run, (one, another)) in this.runs.iter().zip(&other.runs).enumerate() {
        for (output, (one, another)) in one.outputs.iter().zip(&another.outputs).enumerate() {
            let mut items = one.hashes.iter().zip(&another.hashes);
            if let Some(item) = items.position(|(one, another)| one != another) {
                return Some((run as u64, output as u64, item as u64));
            }
        }
    }
    None
}

/// The first differing value of each of these items; none if the difference is masked, or lies beyond what was read.
pub fn first_values(places: &[[Place; 2]], this: &ItemsView, other: &ItemsView) -> Vec<ValueDifference> {
    let difference = |[here, there]: &[Place; 2]| {
        let (old, new) = (other.get(there)?, this.get(here)?);
        let (path, values) = match changes(old, new).0.into_iter().next()? {
            Change::Added(path, new) => (path, (Some(new.clone()), None)),
            Change::Changed(path, old, new) => (path, (Some(new.clone()), Some(old.clone()))),
            Change::Removed(path) => (path.clone(), (None, value_at(old, &path))),
        };
        Some(ValueDifference { place: here.clone(), path, values })
    };
    places.iter().filter_map(difference).collect()
}

/// The value of a member of an item's `json`, if its path leads to a member.
fn value_at(item: &Excerpt, path: &str) -> Option<Excerpt> {
    let mut value = item.member("json")?;
    for name in path.split('.') {
        value = value.member(name)?;
    }
    Some(value.clone())
}
