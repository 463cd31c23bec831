//! `view_overview`: all data of the page's first picture in one pass: header, nodes, time axis, graph.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::bars::{BARS, Bars, ShownBar};
use super::findings::{SENT_AGAIN, Sentence, empty_runs, is_filter, of_flow};
use super::{PAGE, locale};
use crate::execution::graph::{Graph, GraphNode, Link};
use crate::execution::summary::{NodeSummary, Summary};
use crate::execution::timeline::{Bar, Timeline, TimelineProjection};
use crate::execution::{Children, ErrorItems};
use crate::json::{CUT_NAME_CHARS, Projection, cut_name, shorten_name};
use crate::n8n::Progress;
use crate::toolkit::answer::{is_zero, success};
use crate::toolkit::{Effect, Flag, Id, Locale, Text, arguments};
use crate::tools::executions::summary_answer::{NOTED_CHARS, ShownFailure, notes, shown_failure};
use crate::tools::executions::{ID, IGNORE_SIZE_LIMIT, execution};
use crate::tools::{Context, Error, Handler, Tool, ToolCall};

/// The call.
pub static TOOL: Tool = Tool {
    name: "view_overview",
    title: "The whole execution as a picture",
    description: "An execution's head, nodes, time axis and graph.",
    parameters: ViewOverview::PARAMETERS,
    effect: Effect::Read,
    handler: Handler::of::<ViewOverview>().shared(),
};

arguments! {
    struct ViewOverview {
        id: Id = ID,
        bars: Bars = BARS,
        language: Option<Text> = "Of the findings: en or ja.",
        ignore_data_size_limit: Option<Flag> = IGNORE_SIZE_LIMIT,
    }
}

/// Characters shown of the texts of an error.
const ERROR_CHARS: usize = 4000;

impl ToolCall for ViewOverview {
    async fn run(self, context: Arc<Context>, progress: Progress) -> Result<String, Error> {
        let execution = execution(self.id, self.ignore_data_size_limit);
        let projection = TimelineProjection { bars: self.bars as usize, range: None };
        let locale = locale(self.language.as_deref(), &context);
        let is_near = context.store.is_some() || context.executions().own_id(&execution.id).is_none();
        let projection = projection.map(move |timeline| Ok(success("", &Overview::new(timeline?, is_near, locale))));
        context.executions().read(&execution, &projection, &progress).await?.view
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Overview {
    execution: Head,
    /// When the first run began and the last one ended, milliseconds since 1970; 0 and 0 without runs.
    start: f64,
    end: f64,
    /// At most 1,000: first the failed ones, then those that ran first.
    nodes: Vec<ShownNode>,
    /// How many more nodes ran.
    #[serde(skip_serializing_if = "is_zero")]
    more_nodes: u64,
    graph: ShownGraph,
    /// Findings that may not be intended, one sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    findings: Vec<Sentence>,
    /// Whether more can be asked without making n8n send a large execution again.
    is_near: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Head {
    /// The execution's own id, whatever id it was requested by.
    id: Option<String>,
    workflow_id: Option<String>,
    workflow_name: Option<String>,
    status: Option<String>,
    mode: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_of: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_success_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wait_till: Option<String>,
    started_at: Option<String>,
    stopped_at: Option<String>,
    duration: Option<i64>,
    items: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_execution: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    #[serde(skip_serializing_if = "is_false")]
    too_large: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ShownFailure>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownNode {
    node_name: String,
    node_type: Option<String>,
    status: String,
    runs: u64,
    failed_runs: u64,
    /// The last of several: the one that ended the execution, if this node did.
    #[serde(skip_serializing_if = "Option::is_none")]
    failed_run: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_items: Option<u64>,
    outputs: Vec<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    output_labels: Vec<String>,
    ms: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unconnected: Vec<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_items: Option<ShownErrorItems>,
    #[serde(skip_serializing_if = "is_zero")]
    empty_runs: u64,
    #[serde(skip_serializing_if = "is_zero")]
    copied_runs: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sub_executions: Vec<String>,
    #[serde(skip_serializing_if = "is_zero")]
    more_sub_executions: u64,
    #[serde(skip_serializing_if = "is_false")]
    disabled: bool,
    bars: Vec<ShownBar>,
}

#[derive(Serialize)]
struct ShownErrorItems {
    count: u64,
    run: u64,
    output: u64,
    item: u64,
    message: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownGraph {
    nodes: Vec<ShownGraphNode>,
    #[serde(skip_serializing_if = "is_zero")]
    more_nodes: u64,
    connections: Vec<ShownLink>,
    #[serde(skip_serializing_if = "is_zero")]
    more_connections: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownGraphNode {
    node_name: String,
    node_type: Option<String>,
    position: (f64, f64),
    #[serde(skip_serializing_if = "is_false")]
    disabled: bool,
}

/// `[from, output, to, input, type]`.
struct ShownLink(Link);

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

impl Overview {
    fn new(timeline: Timeline, is_near: bool, locale: Locale) -> Self {
        let Timeline { mut summary, range, mut nodes, graph } = timeline;
        let (start, end) = range.unwrap_or_default();
        let execution = Head::new(&summary, locale);
        summary.nodes.sort_by_key(|node| node.position);
        let in_graph: HashMap<_, _> = graph.nodes.iter().map(|node| (&*node.name, node)).collect();
        let findings = of_flow(&summary, locale);
        let nodes = summary.nodes.into_iter().map(|node| {
            let bars = nodes.swap_remove(&node.name).unwrap_or_default();
            let in_graph = in_graph.get(&*node.name).copied();
            ShownNode::new(node, bars, in_graph, start, locale)
        });
        let nodes = nodes.collect();
        let is_near = is_near || execution.bytes.is_none_or(|bytes| bytes <= SENT_AGAIN);
        let (more_nodes, graph) = (summary.left_out.nodes, ShownGraph::new(graph));
        Self { execution, start, end, nodes, more_nodes, graph, findings, is_near }
    }
}

impl Head {
    fn new(summary: &Summary, locale: Locale) -> Self {
        let header = &summary.header;
        Self {
            id: header.id.clone(),
            workflow_id: header.workflow_id.clone(),
            workflow_name: summary.workflow_name.clone(),
            status: header.status.clone(),
            mode: header.mode.clone(),
            retry_of: header.retry_of.clone(),
            retry_success_id: header.retry_success_id.clone(),
            wait_till: header.wait_till.clone(),
            started_at: header.started_at.clone(),
            stopped_at: header.stopped_at.clone(),
            duration: header.duration(),
            items: summary.processed(),
            bytes: header.json_size_bytes.filter(|bytes| *bytes > 0),
            parent_execution: summary.parent.as_ref().and_then(|parent| parent.id.clone()),
            // Only the page reads this answer.
            notes: notes(summary, 0, NOTED_CHARS, locale).iter().map(|note| PAGE.tell(note).into_owned()).collect(),
            too_large: header.data_too_large,
            error: summary.error.as_ref().map(|error| shown_failure(error, ERROR_CHARS)),
        }
    }
}

impl ShownNode {
    fn new(node: NodeSummary, bars: Vec<Bar>, in_graph: Option<&GraphNode>, start: f64, locale: Locale) -> Self {
        let (empty_runs, is_filter) = (empty_runs(&node), is_filter(&node));
        let output_labels = output_labels(&node, locale);
        let Children { ids, total } = node.children;
        // A summary omits the outputs of a node that has only one.
        let outputs = if node.outputs.is_empty() && node.items > 0 { vec![node.items] } else { node.outputs };
        Self {
            node_name: cut_name(node.name),
            node_type: node.node_type,
            status: node.status,
            runs: node.runs,
            failed_runs: node.failed_runs,
            failed_run: node.last_failed.filter(|_| node.failed_runs > 1),
            input_items: node.taken,
            outputs,
            output_labels,
            ms: node.execution_time,
            unconnected: if is_filter { Vec::new() } else { node.unconnected },
            error_items: node.error_items.map(|items| ShownErrorItems::new(&items)),
            empty_runs,
            copied_runs: node.copied_runs,
            more_sub_executions: total.saturating_sub(ids.len() as u64),
            sub_executions: ids,
            disabled: in_graph.is_some_and(|node| node.disabled),
            bars: bars.into_iter().map(|bar| ShownBar { bar, start }).collect(),
        }
    }
}

/// The labels of its outputs. n8n's editor shows one output of a Filter, but n8n stores what it discards as a second one, unless
/// failed items are there.
fn output_labels(node: &NodeSummary, locale: Locale) -> Vec<String> {
    let is_named = node.output_labels.is_empty() && node.outputs.len() == 2 && node.error_items.is_none();
    if !is_named || !is_filter(node) {
        return node.output_labels.clone();
    }
    [("通過", "kept"), ("除外", "discarded")].map(|(ja, en)| locale.choose(ja, en).to_owned()).into()
}

impl ShownErrorItems {
    fn new(items: &ErrorItems) -> Self {
        let first = &items.first;
        let message = first.message.cut(ERROR_CHARS).0.into_owned();
        Self { count: items.count, run: first.run, output: first.output, item: first.item, message }
    }
}

impl ShownGraph {
    fn new(graph: Graph) -> Self {
        let names: HashSet<_> = graph.nodes.iter().map(|node| node.name.clone()).collect();
        let nodes = graph.nodes.into_iter().map(|node| ShownGraphNode {
            node_name: cut_name(node.name),
            node_type: node.node_type,
            position: node.position,
            disabled: node.disabled,
        });
        let links = graph.links.len() as u64 + graph.more_links;
        // A link to a node that is left out cannot be drawn.
        let is_drawn = |link: &Link| graph.more_nodes == 0 || (names.contains(&link.from) && names.contains(&link.to));
        let connections: Vec<_> = graph.links.into_iter().filter(is_drawn).map(ShownLink).collect();
        let (more_nodes, more_connections) = (graph.more_nodes, links - connections.len() as u64);
        Self { nodes: nodes.collect(), more_nodes, connections, more_connections }
    }
}

impl Serialize for ShownLink {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Link { from, output, to: target, input, kind } = &self.0;
        let name = |name: &str| shorten_name(name, CUT_NAME_CHARS);
        (name(from), output, name(target), input, kind).serialize(to)
    }
}
