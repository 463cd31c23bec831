//! When the nodes of an execution ran: its summary with bars on a common time axis, and the workflow's graph.

mod bars;
mod inflow;

use std::io::Read;
use std::ops::Range;

use indexmap::IndexMap;

pub use self::bars::Bar;
use self::bars::Bars;
use self::inflow::Inflow;
use super::executed::{Run, RunObserver};
use super::flow;
use super::graph::{self, Graph};
use super::summary::{self, Data, NodeSummary, Summary, SummaryProjection};
use super::workflow::Workflow;
use super::{Error, body};
use crate::json::{Cursor, Keep, Projection, Pruner};

/// Of a run: what a summary keeps, and where its items came from.
const RUN: [(&str, Keep); 9] = {
    let mut run = [("source", SOURCES); 9];
    let mut at = 0;
    while at < summary::RUN.len() {
        run[at] = summary::RUN[at];
        at += 1;
    }
    run
};

const SOURCES: Keep = Keep::EachElement(&Keep::Members(&[
    ("previousNode", Keep::Whole),
    ("previousNodeOutput", Keep::Whole),
    ("previousNodeRun", Keep::Whole),
]));

const RESULT: [(&str, Keep); 4] = summary::result_data(Keep::EachMember(&Keep::EachElement(&Keep::Members(&RUN))));
const DATA: Keep = Keep::Members(&summary::data(Keep::Members(&RESULT)));

/// The most bars of all nodes together.
const BARS: usize = 64 * 1024;

/// The most nodes on the axis. n8n's editor can hardly show a workflow of this many.
const NODES: usize = 1000;

/// Reads a [`Timeline`].
///
/// Memory is bounded by 1,000 nodes (failed ones first, then in the order of the document) and as many that failed besides,
/// by 65,536 bars of all nodes together, and by 8 MiB for what each node took; the graph by as many nodes and their
/// connections.
///
/// ```
/// use n8n_lens::execution::timeline::TimelineProjection;
/// use n8n_lens::json::Projection;
///
/// let body = br#"{"id":"7","data":{"resultData":{"runData":{"Wait":[
///     {"startTime":1795226662000,"executionTime":30,"data":{"main":[[{},{}]]}},
///     {"startTime":1795226662100,"executionTime":10,"data":{"main":[[{}]]}}
/// ]}}}}"#;
/// let timeline = TimelineProjection { bars: 500, range: None }.read_from(&body[..])?;
/// assert_eq!(timeline.range, Some((1_795_226_662_000.0, 1_795_226_662_110.0)));
/// assert_eq!(timeline.nodes["Wait"].bars.iter().map(|bar| bar.items).collect::<Vec<_>>(), [2, 1]);
/// # Ok::<_, n8n_lens::execution::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TimelineProjection {
    /// The most bars of one node.
    pub bars: usize,
    /// Only runs within these milliseconds since 1970.
    pub range: Option<Range<f64>>,
}

/// When the nodes of an execution ran.
#[derive(Debug)]
pub struct Timeline {
    /// The summary that get_execution shows, too, with at most 1,000 nodes.
    pub summary: Summary,
    /// When the first run began and the last one ended, milliseconds since 1970, whatever range was asked for. Runs that a
    /// retry has copied are not on the axis.
    pub range: Option<(f64, f64)>,
    /// The runs of each node of the summary, by its name.
    pub nodes: IndexMap<String, NodeTimeline>,
    /// The workflow that was executed.
    pub graph: Graph,
}

/// When a node ran.
#[derive(Debug, Default)]
pub struct NodeTimeline {
    /// Its runs within the range, without those that a retry has copied.
    pub bars: Vec<Bar>,
    /// How many of all its runs failed.
    pub failed_runs: u64,
    /// The items that all its runs took; `None` if there are too many runs to tell.
    pub input_items: Option<u64>,
}

impl Projection for TimelineProjection {
    type View = Result<Timeline, Error>;
    const KEEP: Keep = Keep::Members(&body::keep(DATA, graph::KEEP));

    fn window(&self) -> Range<u64> {
        SummaryProjection.window()
    }

    fn pruner(&self) -> Pruner {
        flow::marked_items(Pruner::new(Self::KEEP, self.window()))
    }

    fn read<R: Read>(&self, cursor: Cursor<R>) -> Self::View {
        let mut axis = Axis::new(self);
        let body = body::read(
            cursor,
            |cursor, header| {
                axis = Axis::new(self);
                Data::read(cursor, header, &mut axis)
            },
            Workflow::read,
        )?;
        let mut workflow = body.workflow;
        let graph = std::mem::take(&mut workflow.graph);
        let summary = body.data.unwrap_or_default().summarize(body.header, workflow);
        let range = axis.range;
        let nodes = axis.into_nodes(&summary);
        Ok(Timeline { summary, range, nodes, graph })
    }
}

/// The bars of all nodes.
struct Axis<'p> {
    projection: &'p TimelineProjection,
    /// The most bars of one node: fewer if there are many nodes.
    most: usize,
    nodes: IndexMap<String, OnAxis>,
    range: Option<(f64, f64)>,
    /// The bars of all nodes.
    bars: usize,
    inflow: Inflow,
}

/// A node on the axis.
#[derive(Default)]
struct OnAxis {
    bars: Bars,
    failed_runs: u64,
}

impl<'p> Axis<'p> {
    fn new(projection: &'p TimelineProjection) -> Self {
        let (nodes, most) = (IndexMap::new(), projection.bars);
        Self { projection, most, nodes, range: None, bars: 0, inflow: Inflow::default() }
    }

    fn add(&mut self, node: &str, bar: Bar) {
        let most = self.most;
        let Some(node) = self.nodes.get_mut(node) else { return };
        let before = node.bars.len();
        node.bars.add(bar, most);
        self.bars = self.bars + node.bars.len() - before;
        while self.bars > BARS && self.most > 2 {
            self.most /= 2;
            self.nodes.values_mut().for_each(|node| node.bars.shrink(self.most));
            self.bars = self.nodes.values().map(|node| node.bars.len()).sum();
        }
    }

    /// The nodes of the summary.
    fn into_nodes(mut self, summary: &Summary) -> IndexMap<String, NodeTimeline> {
        let taken = self.inflow.finish();
        let nodes = summary.nodes.iter().filter_map(|NodeSummary { name, .. }| {
            let node = self.nodes.swap_remove(name)?;
            let input_items = taken.as_ref().and_then(|taken| taken.get(name).copied());
            let bars = node.bars.into_bars();
            Some((name.clone(), NodeTimeline { bars, failed_runs: node.failed_runs, input_items }))
        });
        nodes.collect()
    }
}

impl RunObserver for Axis<'_> {
    fn begin(&mut self, node: &str) {
        // Of several nodes with the same name the last one counts.
        if let Some(before) = self.nodes.insert(node.to_owned(), OnAxis::default()) {
            self.bars -= before.bars.len();
        }
        self.inflow.begin(node);
    }

    fn run(&mut self, node: &str, run: &Run<'_>) {
        self.inflow.add(node, run.outputs, run.sources);
        if let Some(node) = self.nodes.get_mut(node) {
            node.failed_runs += u64::from(run.failed);
        }
        let start = run.start_ms.filter(|start| start.is_finite() && !run.copied);
        let Some(from) = start else { return };
        let to = from + run.ms as f64;
        self.range = Some(self.range.map_or((from, to), |(first, last)| (first.min(from), last.max(to))));
        let is_inside = |range: &Range<f64>| from < range.end && to >= range.start;
        if self.projection.range.as_ref().is_none_or(is_inside) {
            let failed = run.failed.into();
            self.add(node, Bar { from, to, run: run.index, runs: 1, failed, items: run.items, ms: run.ms });
        }
    }

    fn end(&mut self, node: &str, kept: bool) {
        if kept {
            return;
        }
        if let Some(left_out) = self.nodes.swap_remove(node) {
            self.bars -= left_out.bars.len();
        }
    }

    fn most_nodes(&self) -> usize {
        NODES
    }
}
