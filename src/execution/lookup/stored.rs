//! Which parts of stored items are read: those in which something is looked up.

use super::KNOWN_ITEMS;
use super::path_tree::{ITEM, PathTree};
use super::plan::{NodePlan, Plan};

/// A node in whose items something is looked up.
#[derive(Clone, Copy, Debug)]
pub(in crate::execution) struct LookedNode<'p>(&'p NodePlan);

/// An item, or a value that a path leads over.
#[derive(Clone, Copy, Debug)]
pub(in crate::execution) struct LookedValue<'p> {
    paths: &'p PathTree,
    at: usize,
}

impl<'p> LookedNode<'p> {
    /// The node with this name, if something is looked up in its items.
    pub(in crate::execution) fn of(plan: &'p Plan, name: &str) -> Option<Self> {
        plan.node(name).map(Self)
    }

    /// Whether items of this run are read.
    pub(in crate::execution) fn has_run(self, run: u64) -> bool {
        self.0.has_run(run)
    }

    /// What is read of an item; `None` for all of it: the first ones are searched for all of their paths.
    pub(in crate::execution) fn item(self, index: u64) -> Option<LookedValue<'p>> {
        (index >= KNOWN_ITEMS).then_some(LookedValue { paths: &self.0.paths, at: ITEM })
    }
}

impl LookedValue<'_> {
    /// The member with this name, if a path leads over it.
    pub(in crate::execution) fn member(self, name: &str) -> Option<Self> {
        self.paths.member(self.at, name.as_bytes()).map(|at| Self { at, ..self })
    }

    /// The element with this index, if a path leads over it.
    pub(in crate::execution) fn element(self, index: u64) -> Option<Self> {
        self.paths.element(self.at, index).map(|at| Self { at, ..self })
    }
}
