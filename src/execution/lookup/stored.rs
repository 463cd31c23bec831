//! Which parts of stored run data are read: those in which something is looked up.

use super::KNOWN_ITEMS;
use super::path_tree::{ITEM, PathTree};
use super::plan::{NodePlan, Plan};
use crate::execution::edits::Level;
use crate::json::flatted::Step;

/// Where a container of stored run data is, in a node whose items are examined.
#[derive(Clone, Copy, Debug)]
pub(in crate::execution) struct Looked<'p> {
    paths: &'p PathTree,
    level: LookedLevel<'p>,
}

#[derive(Clone, Copy, Debug)]
enum LookedLevel<'p> {
    Runs(&'p NodePlan),
    Run,
    /// `{connection: [[item, …], …]}`
    ItemLists,
    Outputs,
    Items,
    /// An item, or a value that a path leads over.
    Value(usize),
}

impl<'p> Looked<'p> {
    /// The runs of a node.
    pub(in crate::execution) fn node(plan: &'p Plan, name: &str) -> Step<Level<'p>> {
        match plan.node(name) {
            Some(node) => Self { paths: &node.paths, level: LookedLevel::Runs(node) }.enter(),
            None => Step::Put("[]"),
        }
    }

    /// What to do with a member.
    pub(in crate::execution) fn member(self, name: &str) -> Step<Level<'p>> {
        match self.level {
            LookedLevel::Run if matches!(name, "data" | "inputOverride") => self.at(LookedLevel::ItemLists),
            LookedLevel::ItemLists => self.at(LookedLevel::Outputs),
            LookedLevel::Value(at) => self.value(self.paths.member(at, name.as_bytes())),
            _ => Step::Keep,
        }
    }

    /// What to do with an element.
    pub(in crate::execution) fn element(self, index: u64) -> Step<Level<'p>> {
        match self.level {
            LookedLevel::Runs(node) if node.has_run(index) => self.at(LookedLevel::Run),
            LookedLevel::Runs(_) => Step::Put("0"),
            LookedLevel::Outputs => self.at(LookedLevel::Items),
            // The first ones are searched for all of their paths.
            LookedLevel::Items if index >= KNOWN_ITEMS => self.at(LookedLevel::Value(ITEM)),
            LookedLevel::Value(at) => self.value(self.paths.element(at, index)),
            _ => Step::Keep,
        }
    }

    fn value(self, at: Option<usize>) -> Step<Level<'p>> {
        at.map_or(Step::Drop, |at| self.at(LookedLevel::Value(at)))
    }

    fn at(self, level: LookedLevel<'p>) -> Step<Level<'p>> {
        Self { level, ..self }.enter()
    }

    fn enter(self) -> Step<Level<'p>> {
        Step::Enter(Level::Looked(self))
    }
}
