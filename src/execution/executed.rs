//! The executed nodes, while their runs are read and added up.

use std::io::Read;

use indexmap::IndexMap;

use super::flow::{Children, Flow, RunFlow};
use super::order::{Order, Start};
use super::run::{self, InputSource};
use crate::json::{Cursor, ReadError, hold_name};

/// Executed nodes that were counted, and not kept.
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

/// Is told of each run while a summary is read.
pub(super) trait RunObserver {
    /// The runs of this node follow.
    fn begin(&mut self, node: &str);

    /// The next run.
    fn run(&mut self, node: &str, run: &Run<'_>);

    /// That was the last run of this node, which the summary keeps or leaves out.
    fn end(&mut self, node: &str, kept: bool);

    /// How many nodes the summary keeps at most.
    fn most_nodes(&self) -> usize;
}

/// A summary alone.
impl RunObserver for () {
    fn begin(&mut self, _: &str) {}

    fn run(&mut self, _: &str, _: &Run<'_>) {}

    fn end(&mut self, _: &str, _: bool) {}

    fn most_nodes(&self) -> usize {
        usize::MAX
    }
}

/// What an observer is told of a run.
pub(super) struct Run<'a> {
    /// Which of the node's runs, from 0.
    pub index: u64,
    /// When it began, milliseconds since 1970.
    pub start_ms: Option<f64>,
    /// How long it took, ms.
    pub ms: u64,
    /// Whether it failed.
    pub failed: bool,
    /// Whether a retry copied it from the execution that it retries.
    pub copied: bool,
    /// The items in all its outputs.
    pub items: u64,
    /// The items of each of the first `main` outputs.
    pub outputs: &'a [u64],
    /// What it got its items from, if the table keeps it.
    pub sources: &'a [Option<InputSource>],
}

/// The executed nodes, in the order of the document: as many as are wanted, and while they are read as many that failed
/// besides, since those come first.
#[derive(Default)]
pub(super) struct Executed {
    kept: IndexMap<String, NodeRuns>,
    failed: usize,
    most: usize,
    left_out: LeftOut,
    /// How many runs of the nodes that are left out are the first of a counter.
    first_runs: u64,
}

impl Executed {
    pub(super) fn read<R: Read>(
        cursor: &mut Cursor<R>,
        own_start: Option<i64>,
        observer: &mut impl RunObserver,
    ) -> Result<Self, ReadError> {
        let mut nodes = Self { most: observer.most_nodes(), ..Self::default() };
        cursor.object(|cursor, node| {
            let name = hold_name(node);
            let runs = NodeRuns::read(cursor, &name, own_start, observer)?;
            let kept = nodes.has_room(&name, &runs);
            observer.end(&name, kept);
            nodes.add(name, runs, kept);
            Ok(())
        })?;
        Ok(nodes)
    }

    fn has_room(&self, name: &str, runs: &NodeRuns) -> bool {
        let held = if runs.failed { self.failed } else { self.kept.len() };
        held < self.most || self.kept.contains_key(name)
    }

    /// Adds a node; of several with the same name the last one counts.
    fn add(&mut self, name: String, runs: NodeRuns, kept: bool) {
        if !kept {
            self.first_runs += runs.first_runs;
            return self.left_out.add(&runs);
        }
        self.failed += usize::from(runs.failed);
        if self.kept.insert(name, runs).is_some_and(|before| before.failed) {
            self.failed -= 1;
        }
    }

    pub(super) fn is_failed(&self, name: &str) -> bool {
        self.kept.get(name).is_some_and(|node| node.failed)
    }

    /// Failed nodes first, both groups in the order of execution, each with its place in that order; and what is left out.
    pub(super) fn sorted(mut self) -> (Vec<(String, NodeRuns, usize)>, LeftOut) {
        let order = Order::new(self.kept.values().map(|node| node.first_runs).sum::<u64>() + self.first_runs);
        let mut nodes: Vec<_> = self.kept.into_iter().collect();
        // The sorts are stable: document order is the last criterion.
        nodes.sort_by(|(_, one), (_, other)| order.compare(one.start, other.start));
        let nodes = nodes.into_iter().enumerate();
        let mut nodes: Vec<_> = nodes.map(|(position, (name, runs))| (name, runs, position)).collect();
        nodes.sort_by_key(|(_, node, _)| !node.failed);
        nodes.iter().skip(self.most).for_each(|(_, node, _)| self.left_out.add(node));
        nodes.truncate(self.most);
        (nodes, self.left_out)
    }
}

/// The runs of one node, added up.
#[derive(Default)]
pub(super) struct NodeRuns {
    pub runs: u64,
    pub copied: u64,
    pub recovered: u64,
    pub flow: Flow,
    pub failed: bool,
    pub crashed: bool,
    pub last_status: Option<String>,
    /// The start of the first run.
    pub start: Start,
    /// How many runs are the first of a counter.
    pub first_runs: u64,
    pub execution_time: u64,
}

impl NodeRuns {
    fn read<R: Read>(
        cursor: &mut Cursor<R>,
        name: &str,
        own_start: Option<i64>,
        observer: &mut impl RunObserver,
    ) -> Result<Self, ReadError> {
        let mut node = Self::default();
        observer.begin(name);
        cursor.array(|cursor, _| node.read_run(cursor, own_start, |run| observer.run(name, run)))?;
        Ok(node)
    }

    fn read_run<R: Read>(
        &mut self,
        cursor: &mut Cursor<R>,
        own_start: Option<i64>,
        observe: impl FnOnce(&Run<'_>),
    ) -> Result<(), ReadError> {
        let (mut flow, mut sources) = (RunFlow::default(), Vec::new());
        let (mut start, mut status, mut ms) = (Start::default(), None, 0);
        let (mut error, mut redacted_error) = (false, false);
        cursor.object(|cursor, member| {
            match member {
                "executionIndex" => start.index = cursor.number()?,
                "startTime" => start.time = cursor.number()?,
                "executionTime" => {
                    let time = cursor.number::<f64>()?.unwrap_or(0.0).max(0.0) as u64;
                    self.execution_time = self.execution_time.saturating_add(time);
                    ms = time;
                }
                "executionStatus" => status = run::read_status(cursor)?,
                "error" => error = cursor.skip_present()?,
                "redactedError" => redacted_error = cursor.skip_present()?,
                "metadata" => flow.children = Children::read(cursor)?,
                "source" => sources = run::read_sources(cursor)?,
                "data" => flow.read_items(cursor, self.runs)?,
                _ => cursor.skip()?,
            }
            Ok(())
        })?;
        if self.runs == 0 {
            self.start = start;
        }
        let copied = own_start.zip(start.latest_ms()).is_some_and(|(own, start)| start < own as f64);
        let failed = error || redacted_error || run::is_failure(status.as_deref());
        observe(&Run {
            index: self.runs,
            start_ms: start.ms(),
            ms,
            failed,
            copied,
            items: flow.items(),
            outputs: &flow.outputs,
            sources: &sources,
        });
        self.runs += 1;
        self.copied += u64::from(copied);
        self.recovered += u64::from(start.is_recovered());
        self.first_runs += u64::from(start.is_first());
        self.flow.add(flow, copied);
        self.crashed |= status.as_deref() == Some("crashed");
        self.failed |= failed;
        self.last_status = status;
        Ok(())
    }
}
