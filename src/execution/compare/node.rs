//! What is held of a node for comparison with the same node of another execution.

use indexmap::IndexMap;

use super::kinds::{First, KindsOfPath};
use crate::execution::fields::Kind;
use crate::execution::fields::table::Table;
use crate::execution::runs::Tally;

/// The maximum number of outputs whose items are counted one by one.
const OUTPUTS: usize = 32;

/// The memory of a field in addition to its texts, bytes: an estimate.
const FIELD_OVERHEAD_BYTES: usize = 80;

/// The memory of the first value of a kind in addition to its text, bytes.
const FIRST_OVERHEAD_BYTES: usize = 64;

/// A node of an execution.
#[derive(Debug, Default)]
pub(super) struct NodeDigest {
    pub tally: Tally,
    /// How many of its runs a retry copied.
    pub copied_runs: u64,
    /// Items in the `main` outputs of all runs.
    pub items: u64,
    /// Items of each of the first outputs.
    pub outputs: Vec<u64>,
    /// Items of all outputs whose fields were read.
    pub read: u64,
    /// The first value of each kind, by path, in document order.
    pub fields: IndexMap<String, Kinds>,
    /// Whether there are more fields.
    pub is_partial: bool,
    /// Whether n8n recovered one of its runs after a crash: its items are placeholders.
    pub has_placeholders: bool,
}

/// The first value of each kind that occurs, in the order of [`KINDS`](crate::execution::fields::KINDS).
pub(super) type Kinds = Vec<(Kind, First)>;

impl NodeDigest {
    /// Counts the items of a `main` output of a run.
    pub(super) fn count(&mut self, output: u64, items: u64) {
        self.items += items;
        let Some(output) = usize::try_from(output).ok().filter(|output| *output < OUTPUTS && items > 0) else { return };
        if self.outputs.len() <= output {
            self.outputs.resize(output + 1, 0);
        }
        self.outputs[output] += items;
    }

    /// Holds the fields of all runs, if they fit into the room.
    pub(super) fn end(&mut self, table: &Table<KindsOfPath>, room: &mut usize) {
        self.read = table.items.len;
        self.is_partial |= table.is_full;
        self.hold_fields(table, room);
    }

    fn hold_fields(&mut self, table: &Table<KindsOfPath>, room: &mut usize) {
        for (path, kinds, _) in table.fields() {
            let values: usize = kinds.firsts.iter().map(|(_, first)| FIRST_OVERHEAD_BYTES + first.value.len()).sum();
            let bytes = FIELD_OVERHEAD_BYTES + path.len() + values;
            if *room < bytes {
                self.is_partial = true;
                return;
            }
            *room -= bytes;
            // A name with a dot may be another spelling of a path.
            let known = self.fields.entry(path.to_owned()).or_default();
            let new = kinds.firsts.iter().filter(|(kind, _)| known.iter().all(|(known, _)| known != kind)).cloned();
            known.extend(new.collect::<Kinds>());
            known.sort_by_key(|(kind, _)| *kind as usize);
            known.shrink_to_fit();
        }
        self.fields.shrink_to_fit();
    }
}
