//! When the nodes of an execution ran: its summary with bars on a common time axis, and the workflow's graph.

mod bars;

use std::ops::Range;

use indexmap::IndexMap;

pub use self::bars::Bar;
use self::bars::Bars;
use super::Error;
use super::executed::Executed;
use super::flow::{self, RunFlow};
use super::graph::{DrawnWorkflow, Graph};
use super::header::Header;
use super::runs::{self, Execution, Item, ItemPlace, Parts, RunHead, RunObserver, Side};
use super::summary::{NodeSummary, Summary, SummaryProjection};
use crate::json::{Cursor, Keep, Members, Projection, Pruner, ReadError};

/// The maximum number of bars of all nodes together.
const BARS: usize = 64 * 1024;

/// The maximum number of nodes on the axis. n8n's editor can hardly show a workflow of this many.
const NODES: usize = 1000;

/// Reads a [`Timeline`].
///
/// Memory is bounded by 1,000 nodes (failed ones first, then in the order of the document) and as many failed ones
/// again, by 65,536 bars of all nodes together, and by 8 MiB for what each node took; the graph by as many nodes and
/// their connections.
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
/// assert_eq!(timeline.nodes["Wait"].iter().map(|bar| bar.items).collect::<Vec<_>>(), [2, 1]);
/// # Ok::<_, n8n_lens::execution::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TimelineProjection {
    /// The maximum number of bars of one node.
    pub bars: usize,
    /// Only runs within these milliseconds since 1970.
    pub range: Option<Range<f64>>,
}

/// When the nodes of an execution ran.
#[derive(Debug)]
pub struct Timeline {
    /// The summary that get_execution shows, too, with at most 1,000 nodes.
    pub summary: Summary,
    /// When the first run began and the last one ended, milliseconds since 1970, whatever range was requested. Runs
    /// that a retry has copied are not on the axis.
    pub range: Option<(f64, f64)>,
    /// The runs of each node of the summary within the range, by its name, without those that a retry has copied.
    pub nodes: IndexMap<String, Vec<Bar>>,
    /// The workflow that was executed.
    pub graph: Graph,
}

impl Projection for TimelineProjection {
    type View = Result<Timeline, Error>;
    const KEEP: Keep = Keep::Members(&runs::keep::<Axis<'_>>(DrawnWorkflow::KEEP));

    fn window(&self) -> Range<u64> {
        SummaryProjection.window()
    }

    fn pruner(&self) -> Pruner {
        flow::marked_items(Pruner::new(Self::KEEP, self.window()))
    }

    fn read(&self, cursor: Cursor<'_>) -> Self::View {
        let read = runs::read(cursor, |header| Axis::new(self, header), DrawnWorkflow::read_or_default)?;
        let Execution { header, data, runs: Axis { executed, bars, .. }, workflow } = read;
        let DrawnWorkflow { workflow, graph } = workflow;
        let summary = Summary::new(Execution { header, data, runs: executed, workflow });
        let range = bars.range;
        let nodes = bars.into_nodes(&summary);
        Ok(Timeline { summary, range, nodes, graph })
    }
}

/// The runs on the axis, and what a summary says about them.
struct Axis<'p> {
    executed: Executed,
    bars: AllBars<'p>,
    /// The node that is being read.
    name: String,
}

impl RunObserver for Axis<'_> {
    const PARTS: Parts = Executed::PARTS;

    fn begin_node(&mut self, name: &str) {
        name.clone_into(&mut self.name);
        self.bars.begin_node(name);
        self.executed.begin_node(name);
    }

    fn begin_lists(&mut self, run: u64, side: Side) {
        self.executed.begin_lists(run, side);
    }

    fn begin_connection(&mut self, connection: &str) {
        self.executed.begin_connection(connection);
    }

    fn item(&mut self, place: ItemPlace, item: Item<'_, '_>) -> Result<(), ReadError> {
        self.executed.item(place, item)
    }

    fn end_list(&mut self, end: ItemPlace) {
        self.executed.end_list(end);
    }

    fn wants_sources(&self) -> bool {
        self.executed.wants_sources()
    }

    fn end_run(&mut self, run: RunHead) -> Result<(), ReadError> {
        self.bars.add_run(&self.name, &run, self.executed.run(), self.executed.is_copied(&run));
        self.executed.end_run(run)
    }

    fn end_node(&mut self, name: String) {
        self.executed.end_node(name);
        if !self.executed.keeps(&self.name) {
            self.bars.remove(&self.name);
        }
    }
}

impl<'p> Axis<'p> {
    fn new(projection: &'p TimelineProjection, header: &Header) -> Self {
        Self { executed: Executed::new(header, NODES), bars: AllBars::new(projection), name: String::new() }
    }
}

/// The bars of all nodes.
struct AllBars<'p> {
    projection: &'p TimelineProjection,
    /// The maximum number of bars of one node: fewer if there are many nodes.
    most: usize,
    nodes: IndexMap<String, Bars>,
    range: Option<(f64, f64)>,
    /// How many bars there are.
    count: usize,
}

impl<'p> AllBars<'p> {
    fn new(projection: &'p TimelineProjection) -> Self {
        let (nodes, most) = (IndexMap::new(), projection.bars);
        Self { projection, most, nodes, range: None, count: 0 }
    }

    fn begin_node(&mut self, node: &str) {
        if let Some(before) = self.nodes.insert(node.to_owned(), Bars::default()) {
            self.count -= before.len();
        }
    }

    fn add_run(&mut self, node: &str, run: &RunHead, flow: &RunFlow, copied: bool) {
        let start = run.start.ms().filter(|start| start.is_finite() && !copied);
        let Some(from) = start else { return };
        let to = from + run.ms() as f64;
        self.range = Some(self.range.map_or((from, to), |(first, last)| (first.min(from), last.max(to))));
        let is_inside = |range: &Range<f64>| from < range.end && to >= range.start;
        if self.projection.range.as_ref().is_none_or(is_inside) {
            let failed = run.failed.into();
            self.add(node, Bar { from, to, run: run.index, runs: 1, failed, items: flow.items(), ms: run.ms() });
        }
    }

    fn add(&mut self, node: &str, bar: Bar) {
        let most = self.most;
        let Some(node) = self.nodes.get_mut(node) else { return };
        let before = node.len();
        node.add(bar, most);
        self.count = self.count + node.len() - before;
        while self.count > BARS && self.most > 2 {
            self.most /= 2;
            self.nodes.values_mut().for_each(|node| node.shrink(self.most));
            self.count = self.nodes.values().map(|node| node.len()).sum();
        }
    }

    fn remove(&mut self, node: &str) {
        if let Some(left_out) = self.nodes.swap_remove(node) {
            self.count -= left_out.len();
        }
    }

    /// The nodes of the summary.
    fn into_nodes(mut self, summary: &Summary) -> IndexMap<String, Vec<Bar>> {
        let nodes = summary
            .nodes
            .iter()
            .filter_map(|NodeSummary { name, .. }| Some((name.clone(), self.nodes.swap_remove(name)?.into_bars())));
        nodes.collect()
    }
}
