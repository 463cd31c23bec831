//! The counts of an answer.

use super::KINDS;
use super::path_tree::KindAtPath;
use crate::execution::order::{Order, Start};

/// Where an item of a run is: the output, and its number there.
type InRun = (u64, u64);

/// What the items of one run have at a path.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RunTally {
    items: u64,
    kinds: [u64; KINDS.len()],
    first_missing: Option<InRun>,
    first_of_kind: [Option<InRun>; KINDS.len()],
}

impl RunTally {
    /// Adds the next items, which all have the same answer.
    pub(super) fn add(&mut self, answer: KindAtPath, items: u64, first: InRun) {
        self.items += items;
        let seen = match answer.kind() {
            Some(kind) => {
                self.kinds[kind] += items;
                &mut self.first_of_kind[kind]
            }
            None => &mut self.first_missing,
        };
        *seen = Some(seen.map_or(first, |before| before.min(first)));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items == 0
    }
}

/// Where an item is, and when its run started.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) start: Start,
    /// The number of its node among the members of `runData`.
    pub(super) node: u64,
    pub(super) run: u64,
    pub(super) output: u64,
    pub(super) item: u64,
}

/// What the items of all runs have at a path.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Total {
    pub(super) items: u64,
    pub(super) kinds: [u64; KINDS.len()],
    pub(super) first_missing: Option<Seen>,
    pub(super) first_of_kind: [Option<Seen>; KINDS.len()],
}

impl Total {
    /// Adds a run, which comes after those before it in the body.
    pub(super) fn add(&mut self, tally: &RunTally, order: Order, run: Seen) {
        self.items += tally.items;
        for (total, count) in self.kinds.iter_mut().zip(tally.kinds) {
            *total += count;
        }
        let note = |seen: &mut Option<Seen>, first: Option<InRun>| {
            let Some((output, item)) = first else { return };
            if seen.is_none_or(|before| order.compare(run.start, before.start).is_lt()) {
                *seen = Some(Seen { output, item, ..run });
            }
        };
        note(&mut self.first_missing, tally.first_missing);
        for (seen, first) in self.first_of_kind.iter_mut().zip(tally.first_of_kind) {
            note(seen, first);
        }
    }

    /// How many items have the path.
    pub(super) fn have(&self) -> u64 {
        self.kinds.iter().sum()
    }
}
