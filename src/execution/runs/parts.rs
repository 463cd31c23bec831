//! The parts of an execution that a projection can want.

use crate::json::Keep;

/// Which parts of an execution an observer wants: `Parts::START.and(Parts::OUTPUTS)`.
#[derive(Clone, Copy)]
pub(in crate::execution) struct Parts(u16);

impl Parts {
    /// Whether n8n redacted the items.
    pub(in crate::execution) const REDACTED: Self = Self(1);
    /// The execution that started this one.
    pub(in crate::execution) const PARENT: Self = Self(1 << 1);
    /// Why the execution failed, and where it ended or is.
    pub(in crate::execution) const END: Self = Self(1 << 2);
    /// When a run started.
    pub(in crate::execution) const START: Self = Self(1 << 3);
    /// How long a run took.
    pub(in crate::execution) const TIME: Self = Self(1 << 4);
    /// How a run ended: its status, and whether it has an error.
    pub(in crate::execution) const STATUS: Self = Self(1 << 5);
    /// The error of a run.
    pub(in crate::execution) const ERROR: Self = Self(1 << 6);
    /// Where the inputs of a run came from.
    pub(in crate::execution) const SOURCES: Self = Self(1 << 7);
    /// The executions of sub-workflows that a run started.
    pub(in crate::execution) const CHILDREN: Self = Self(1 << 8);
    /// Whether n8n stores the input of a run itself.
    pub(in crate::execution) const OWN_INPUT: Self = Self(1 << 9);
    /// The items of that input.
    pub(in crate::execution) const INPUTS: Self = Self(1 << 10);
    /// The items of the outputs of a run.
    pub(in crate::execution) const OUTPUTS: Self = Self(1 << 11);
    /// Only the `pairedItem` of these items: for a text in which skipping is cheaper than reading.
    pub(in crate::execution) const LINEAGE: Self = Self(1 << 12);
    /// Whether a run used credentials of the user who started the execution.
    pub(in crate::execution) const CREDENTIALS: Self = Self(1 << 13);
    /// The nodes whose output was pinned.
    pub(in crate::execution) const PINNED: Self = Self(1 << 14);

    /// These parts, and others.
    pub(in crate::execution) const fn and(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    pub(super) const fn has(self, part: Self) -> bool {
        self.0 & part.0 != 0
    }

    /// The rule for a part: skipped unless it is wanted.
    pub(super) const fn rule(self, part: Self, keep: Keep) -> Keep {
        if self.has(part) { keep } else { Keep::Skip }
    }
}

/// The members of a table, and how many there are; the others are empty.
pub(in crate::execution) type Rows<const N: usize> = ([(&'static str, Keep); N], usize);

/// The rows that keep something. The filter compares each member of a text with every row, so there should be few.
pub(super) const fn wanted<const N: usize>(rows: [(&'static str, Keep); N]) -> Rows<N> {
    let (mut wanted, mut at) = (([("", Keep::Skip); N], 0), 0);
    while at < N {
        if !matches!(rows[at].1, Keep::Skip) {
            wanted.0[wanted.1] = rows[at];
            wanted.1 += 1;
        }
        at += 1;
    }
    wanted
}
