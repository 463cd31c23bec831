//! The executed nodes, while their runs are read and added up.

use indexmap::IndexMap;

use super::flow::{Flow, RunFlow};
use super::header::Header;
use super::inflow::Inflow;
use super::order::Order;
use super::runs::{Item, ItemPlace, Parts, RunHead, RunObserver, Side, Tally};
use crate::json::ReadError;

/// Executed nodes that were only counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// How many there are.
    pub nodes: u64,
    /// Items in their `main` outputs, of the runs that were not copied.
    pub items: u64,
}

impl LeftOut {
    fn add(&mut self, node: &NodeRuns) {
        self.nodes += 1;
        self.items = self.items.saturating_add(node.flow.processed);
    }
}

/// The executed nodes, in document order: as many as are wanted and, while they are read, as many failed ones again,
/// because those come first.
#[derive(Default)]
pub(super) struct Executed {
    /// When a retry began, milliseconds since 1970: runs before that were copied.
    own_start: Option<i64>,
    /// How many nodes are wanted.
    most: usize,
    kept: IndexMap<String, NodeRuns>,
    failed: usize,
    left_out: LeftOut,
    /// How many runs of the omitted nodes begin a counter.
    counters: u64,
    inflow: Inflow,
    /// The node and the run that are being read.
    name: String,
    node: NodeRuns,
    run: RunFlow,
}

impl RunObserver for Executed {
    const PARTS: Parts = Parts::REDACTED
        .and(Parts::PARENT)
        .and(Parts::END)
        .and(Parts::START)
        .and(Parts::TIME)
        .and(Parts::STATUS)
        .and(Parts::CHILDREN)
        .and(Parts::SOURCES)
        .and(Parts::OUTPUTS);

    fn begin_node(&mut self, name: &str) {
        name.clone_into(&mut self.name);
        self.inflow.begin(name);
        self.node = NodeRuns::default();
    }

    fn begin_lists(&mut self, _: u64, _: Side) {
        self.run = RunFlow::default();
    }

    fn begin_connection(&mut self, connection: &str) {
        self.run.begin_connection(connection);
    }

    fn item(&mut self, place: ItemPlace, item: Item<'_, '_>) -> Result<(), ReadError> {
        self.run.item(place, item)
    }

    fn end_list(&mut self, end: ItemPlace) {
        self.run.end_list(end);
    }

    fn wants_sources(&self) -> bool {
        !self.inflow.is_full()
    }

    fn end_run(&mut self, mut run: RunHead) -> Result<(), ReadError> {
        let (copied, flow) = (self.is_copied(&run), std::mem::take(&mut self.run));
        self.inflow.add(&self.name, flow.outputs(), &run.sources);
        self.node.copied += u64::from(copied);
        self.node.recovered += u64::from(run.start.is_recovered());
        self.node.flow.add(flow, std::mem::take(&mut run.children), copied);
        self.node.tally.add(run);
        Ok(())
    }

    fn end_node(&mut self, name: String) {
        let node = std::mem::take(&mut self.node);
        if !self.has_room(&name, &node) {
            self.counters += node.tally.starts.counters;
            return self.left_out.add(&node);
        }
        self.failed += usize::from(node.tally.has_failed());
        if self.kept.insert(name, node).is_some_and(|before| before.tally.has_failed()) {
            self.failed -= 1;
        }
    }
}

impl Executed {
    /// The runs of an execution with this header, of at most `most` nodes.
    pub(super) fn new(header: &Header, most: usize) -> Self {
        Self { own_start: header.own_start_ms(), most, ..Self::default() }
    }

    /// Whether a retry copied this run from the execution that it retries.
    pub(super) fn is_copied(&self, run: &RunHead) -> bool {
        run.is_copied(self.own_start)
    }

    /// The items of the run that is being read.
    pub(super) fn run(&self) -> &RunFlow {
        &self.run
    }

    /// Whether this node is kept.
    pub(super) fn keeps(&self, name: &str) -> bool {
        self.kept.contains_key(name)
    }

    fn has_room(&self, name: &str, node: &NodeRuns) -> bool {
        let held = if node.tally.has_failed() { self.failed } else { self.kept.len() };
        held < self.most || self.keeps(name)
    }

    pub(super) fn is_failed(&self, name: &str) -> bool {
        self.kept.get(name).is_some_and(|node| node.tally.has_failed())
    }

    /// Failed nodes first, both groups in the order of execution, each with its place in that order; and what is left out.
    pub(super) fn sorted(mut self) -> (Vec<(String, NodeRuns, usize)>, LeftOut) {
        if let Some(taken) = std::mem::take(&mut self.inflow).finish() {
            self.kept.iter_mut().for_each(|(name, node)| node.taken = taken.get(name).copied());
        }
        let counters = self.kept.values().map(|node| node.tally.starts.counters).sum::<u64>();
        let order = Order::new(counters + self.counters);
        let mut nodes: Vec<_> = self.kept.into_iter().collect();
        // The sorts are stable: document order is the last criterion.
        nodes.sort_by(|(_, one), (_, other)| order.compare(one.tally.starts.first, other.tally.starts.first));
        let nodes = nodes.into_iter().enumerate();
        let mut nodes: Vec<_> = nodes.map(|(position, (name, runs))| (name, runs, position)).collect();
        nodes.sort_by_key(|(_, node, _)| !node.tally.has_failed());
        nodes.iter().skip(self.most).for_each(|(_, node, _)| self.left_out.add(node));
        nodes.truncate(self.most);
        (nodes, self.left_out)
    }
}

/// The runs of one node, added up.
#[derive(Default)]
pub(super) struct NodeRuns {
    pub tally: Tally,
    pub copied: u64,
    pub recovered: u64,
    /// The items that its runs took; `None` if there are too many runs to count them.
    pub taken: Option<u64>,
    pub flow: Flow,
}
