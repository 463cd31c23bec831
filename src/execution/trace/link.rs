//! How an item names the items that it came from: names of nodes, outputs, and ranges of items.

use indexmap::IndexSet;

use crate::execution::source::InputSource;

/// The maximum number of bytes of a lineage and of names together. While it grows, as much again can be held.
pub(super) const BYTES: usize = 7 * 1024 * 1024;

/// The memory of a name in addition to its text, bytes: an estimate.
const NAME_BYTES: usize = 100;

/// The names of nodes, each with a number.
#[derive(Debug, Default)]
pub(super) struct Names {
    names: IndexSet<String>,
    pub(super) bytes: usize,
}

impl Names {
    /// The number of a name.
    pub(super) fn number(&mut self, name: &str) -> usize {
        if let Some(number) = self.names.get_index_of(name) {
            return number;
        }
        self.bytes += NAME_BYTES + name.len();
        self.names.insert_full(name.to_owned()).0
    }

    /// An output; once the names are too long, nothing that is read is held any more.
    pub(super) fn output(&mut self, source: &InputSource) -> Output {
        let node = if self.bytes > BYTES { usize::MAX } else { self.number(&source.node) };
        Output { node, run: source.run, output: source.output }
    }

    pub(super) fn name(&self, number: usize) -> &str {
        self.names.get_index(number).map_or("", String::as_str)
    }
}

/// A `main` output of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Output {
    /// The number of the node's name.
    pub(super) node: usize,
    pub(super) run: u64,
    /// Among the outputs of the type `main`.
    pub(super) output: u64,
}

/// How an item names the list that it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Link {
    /// The source of an input of its run.
    Input(u64),
    /// This output, whatever the inputs came from (`sourceOverwrite`).
    Output(Output),
}

/// Items of one list, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) link: Link,
    pub(super) start: u64,
    pub(super) len: u64,
}
