//! What nodes did otherwise in another execution.

use std::collections::HashSet;

use serde::Serialize;

use super::recorded::MESSAGE_CHARS;
use crate::execution::compare::ValueDifference;
use crate::execution::recording::{RecordedNode, RecordedOutput, RecordedRun, Recording};
use crate::tools::executions::FirstValue;

/// A node that returned something else, or ended in another way.
pub(super) struct Difference {
    /// What the recorded execution called it.
    pub name: String,
    /// How it ended, recorded and now, if it ended in another way.
    status: Option<[&'static str; 2]>,
    /// What differs although all values are the same: `files` or `pairedItem`.
    only: Option<&'static str>,
    /// The first value that is not as recorded: now, and recorded.
    pub value: Option<ValueDifference>,
}

/// A recorded execution, and one that did the same again, or not.
#[derive(Clone, Copy)]
pub(super) struct Pair<'a> {
    pub then: &'a Recording,
    pub now: &'a Recording,
    /// What the latter calls a node of the former.
    pub name_now: &'a dyn Fn(&'a str) -> Option<&'a str>,
    /// The nodes that are answered from the recording in the latter, as the former called them.
    pub played: &'a HashSet<String>,
}

/// A difference, in an answer.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DiffersRow<'a> {
    node_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<[&'static str; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<FirstValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    only: Option<&'static str>,
}

impl<'a> From<&'a Difference> for DiffersRow<'a> {
    fn from(Difference { name, status, only, value }: &'a Difference) -> Self {
        let value = value.as_ref().map(|value| FirstValue::of(value, MESSAGE_CHARS));
        Self { node_name: name, status: *status, value, only: *only }
    }
}

/// The first value of the node that has this name now.
pub(super) fn value_of(name_now: Option<&str>, values: &[ValueDifference]) -> Option<ValueDifference> {
    values.iter().find(|value| Some(value.place.node.as_str()) == name_now).cloned()
}

impl<'a> Pair<'a> {
    /// The nodes that did something else, among those of these names.
    pub(super) fn differences(&self, is_compared: impl Fn(&str) -> bool) -> Vec<Difference> {
        let nodes = self.then.nodes.iter().filter(|(name, _)| is_compared(name));
        nodes.filter_map(|(name, node)| self.difference(name, node)).collect()
    }

    fn difference(&self, name: &'a str, then: &RecordedNode) -> Option<Difference> {
        let now = (self.name_now)(name).and_then(|name| self.now.nodes.get(name));
        let is_same = now.is_some_and(|now| did_the_same(then, now, self.played.contains(name)));
        let status = Some([status(Some(then)), status(now)]).filter(|[then, now]| then != now);
        let only = now.and_then(|now| only(then, now));
        (!is_same).then(|| Difference { name: name.to_owned(), status, only, value: None })
    }
}

/// Whether a node ran again, returned the same, and ended in the same way. One that answers from the recording is not asked what its
/// items came from, since with several outputs it is a Switch in the copy, nor whether it went on after an error, since it only returns
/// the items that stand for it.
fn did_the_same(then: &RecordedNode, now: &RecordedNode, is_played: bool) -> bool {
    let ended =
        |run: &RecordedRun| run.failed && (!is_played || run.outputs.iter().all(|output| output.hashes.is_empty()));
    let failed = |node: &RecordedNode| node.runs.iter().any(ended);
    let is_same = |of: fn(&RecordedOutput) -> u64| outputs(then, of) == outputs(now, of);
    outputs(then, values) == outputs(now, values)
        && is_same(|output| output.files)
        && (is_played || is_same(|output| output.pairing))
        && failed(then) == failed(now)
}

/// What differs although all values are the same.
fn only(then: &RecordedNode, now: &RecordedNode) -> Option<&'static str> {
    let is_other = |of: fn(&RecordedOutput) -> u64| outputs(then, of) != outputs(now, of);
    match () {
        () if outputs(then, values) != outputs(now, values) => None,
        () if is_other(|output| output.files) => Some("files"),
        () if is_other(|output| output.pairing) => Some("pairedItem"),
        () => None,
    }
}

fn status(node: Option<&RecordedNode>) -> &'static str {
    match node.and_then(|node| node.runs.last()) {
        None => "notRun",
        Some(run) if run.failed => "error",
        Some(_) => "success",
    }
}

fn values(output: &RecordedOutput) -> Vec<u64> {
    output.hashes.clone()
}

/// Something of each output with items, of each run.
fn outputs<T: PartialEq>(node: &RecordedNode, of: impl Fn(&RecordedOutput) -> T) -> Vec<Vec<(usize, T)>> {
    let with_items = |run: &RecordedRun| {
        let outputs = run.outputs.iter().enumerate().filter(|(_, output)| !output.hashes.is_empty());
        outputs.map(|(at, output)| (at, of(output))).collect()
    };
    node.runs.iter().map(with_items).collect()
}
