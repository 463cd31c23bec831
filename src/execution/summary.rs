//! The summary of an execution: which nodes ran, how they ended, how many items they output.

use std::ops::Range;

use super::Error;
pub use super::executed::LeftOut;
use super::executed::{Executed, NodeRuns};
use super::failure::Failure;
use super::flow::{self, ErrorItems};
use super::header::Header;
use super::related::{Children, Parent};
use super::runs::{self, Execution};
use super::workflow::{EXECUTE_WORKFLOW, Workflow};
use crate::json::{Cursor, Keep, Members, Projection, Pruner};

/// Reads a [`Summary`]: the number of items of each output, but no items.
///
/// ```
/// use n8n_lens::execution::summary::SummaryProjection;
/// use n8n_lens::json::Projection;
///
/// let body = br#"{
///     "id": "7", "status": "error", "startedAt": "2026-01-02T03:04:05.000Z", "stoppedAt": "2026-01-02T03:04:06.500Z",
///     "data": {"resultData": {
///         "error": {"message": "no such table"}, "lastNodeExecuted": "Query",
///         "runData": {
///             "Start": [{"executionIndex": 0, "executionStatus": "success", "data": {"main": [[{}, {}, {}]]}}],
///             "Query": [{"executionIndex": 1, "executionStatus": "error", "error": {"message": "no such table"}}]
///         }
///     }},
///     "workflowData": {"name": "Orders", "nodes": [{"name": "Start"}, {"name": "Query"}, {"name": "Send"}]}
/// }"#;
/// let summary = SummaryProjection.read_from(&body[..])?;
/// assert_eq!(summary.workflow_name.as_deref(), Some("Orders"));
/// assert_eq!(summary.header.duration(), Some(1500));
/// assert_eq!(summary.total_nodes, 3);
/// assert_eq!(summary.error.and_then(|error| error.node_name).as_deref(), Some("Query"));
///
/// // The failed node comes first.
/// let nodes: Vec<_> = summary.nodes.iter().map(|node| (&*node.name, &*node.status, node.items)).collect();
/// assert_eq!(nodes, [("Query", "error", 0), ("Start", "success", 3)]);
/// # Ok::<_, n8n_lens::execution::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SummaryProjection;

impl Projection for SummaryProjection {
    type View = Result<Summary, Error>;
    const KEEP: Keep = Keep::Members(&runs::keep::<Executed>(Workflow::KEEP));

    fn window(&self) -> Range<u64> {
        0..u64::MAX
    }

    fn pruner(&self) -> Pruner {
        flow::marked_items(Pruner::new(Self::KEEP, self.window()))
    }

    fn read(&self, cursor: Cursor<'_>) -> Self::View {
        let execution = runs::read(cursor, |header| Executed::new(header, usize::MAX), Workflow::read_or_default)?;
        Ok(Summary::new(execution))
    }
}

/// The same projection, for an execution in which no item stands for an error or comes from a sub-workflow: items are
/// counted, not read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counting<P>(pub P);

impl<P: Projection> Projection for Counting<P> {
    type View = P::View;
    const KEEP: Keep = P::KEEP;

    fn read(&self, cursor: Cursor<'_>) -> Self::View {
        self.0.read(cursor)
    }
}

/// An execution in brief.
#[derive(Debug, Default)]
pub struct Summary {
    /// The execution's metadata.
    pub header: Header,
    /// The workflow's name at the time of the execution.
    pub workflow_name: Option<String>,
    /// Nodes of the workflow, without sticky notes; at least as many as were executed.
    pub total_nodes: u64,
    /// The execution that started this one, as a sub-workflow.
    pub parent: Option<Parent>,
    /// Why the execution failed, if it did.
    pub error: Option<Failure>,
    /// Whether n8n redacted the items.
    pub redacted: bool,
    /// The node that n8n executed, or was to execute next, when it stored the data; `None` at the end of an execution, and
    /// where n8n stored nothing since the start.
    pub current_node: Option<String>,
    /// The executed nodes: failed ones first, both groups in the order of execution.
    pub nodes: Vec<NodeSummary>,
    /// The executed nodes that are not among them: only a picture leaves any out.
    pub left_out: LeftOut,
}

impl Summary {
    pub(super) fn new(execution: Execution<Executed, Workflow>) -> Self {
        let Execution { header, data, runs, mut workflow } = execution;
        let result = data.result;
        let redacted = data.redacted || result.redacted_error.is_some();
        let mut error = result.error.or(result.redacted_error);
        if let Some(error) = &mut error {
            let last = result.last_node.filter(|last| runs.is_failed(last));
            error.node_name = error.node_name.take().or(last);
        }
        let (nodes, left_out) = runs.sorted();
        Self {
            total_nodes: workflow.nodes.max(left_out.nodes.saturating_add(nodes.len() as u64)),
            workflow_name: workflow.name.take(),
            parent: data.parent,
            error,
            redacted,
            // Without progress, n8n has stored nothing but the node at which the execution started.
            current_node: data.current_node.filter(|_| !nodes.is_empty()),
            nodes: nodes.into_iter().map(|(name, runs, at)| NodeSummary::new(name, runs, at, &mut workflow)).collect(),
            left_out,
            header,
        }
    }

    /// Items in the `main` outputs of all runs that were not copied.
    pub fn processed(&self) -> u64 {
        self.nodes.iter().fold(self.left_out.items, |sum, node| sum.saturating_add(node.processed))
    }

    /// The node that ran last, by its first run.
    pub fn last_node(&self) -> Option<&NodeSummary> {
        self.nodes.iter().max_by_key(|node| node.position)
    }
}

/// One executed node.
#[derive(Debug)]
pub struct NodeSummary {
    /// The node's name, the key of `runData`.
    pub name: String,
    /// The node's type, such as `n8n-nodes-base.httpRequest`.
    pub node_type: Option<String>,
    /// `crashed` if a run crashed, `error` if one failed in another way, otherwise the last run's status.
    pub status: String,
    /// How many of its runs failed.
    pub failed_runs: u64,
    /// The first of them.
    pub first_failed: Option<u32>,
    /// The last of them: the one that ended the execution, if this node did.
    pub last_failed: Option<u32>,
    /// Items in all outputs of all runs; those of a sub-node of an AI agent are in outputs such as `ai_tool`.
    pub items: u64,
    /// Items in the `main` outputs of the runs that were not copied.
    pub processed: u64,
    /// The items that all its runs took; `None` if there are too many runs to count them.
    pub taken: Option<u64>,
    /// Whether it is a sub-node of an AI agent: its runs are calls, which have no `main` output.
    pub is_sub_node: bool,
    /// Items of each `main` output, if there are several.
    pub outputs: Vec<u64>,
    /// What n8n's editor calls its `main` outputs, if there are several and their names are known: empty if one has none.
    pub output_labels: Vec<String>,
    /// The outputs that hold items and lead nowhere, while another output leads on.
    pub unconnected: Vec<u64>,
    /// The items that stand for an error.
    pub error_items: Option<Box<ErrorItems>>,
    /// How many runs output no item, if there are several.
    pub empty_runs: u64,
    /// The executions of sub-workflows that it started.
    pub children: Children,
    /// How often it ran.
    pub runs: u64,
    /// How many of its runs a retry copied from the execution that it retries.
    pub copied_runs: u64,
    /// How many of its runs n8n recovered after a crash, with placeholders for items and times in seconds.
    pub recovered_runs: u64,
    /// How long all runs took together, ms.
    pub execution_time: u64,
    /// Its place in the order of execution, from 0, by its first run; nodes without a known start come last.
    pub position: usize,
}

impl NodeSummary {
    fn new(name: String, mut node: NodeRuns, position: usize, workflow: &mut Workflow) -> Self {
        let node_type = workflow.types.remove(&name);
        let calls_workflow = node_type.as_deref() == Some(EXECUTE_WORKFLOW);
        let runs = node.tally.starts.runs;
        let serves = workflow.sub_nodes.contains(&name);
        let is_sub_node = node.flow.has_no_main_output() && (serves || node.flow.returns);
        Self {
            outputs: node.flow.outputs(),
            output_labels: workflow.labels.remove(&name).unwrap_or_default(),
            unconnected: node.flow.unconnected(workflow.connected.get(&name)),
            empty_runs: if runs > 1 && !is_sub_node { node.flow.empty_runs } else { 0 },
            error_items: node.flow.errors(is_sub_node && serves, workflow.continuing.contains(&name)),
            // A sub-node names the agent as its source, whose items it did not take.
            taken: node.taken.filter(|_| !is_sub_node),
            is_sub_node,
            node_type,
            name,
            status: node.tally.status().to_owned(),
            failed_runs: node.tally.failed_runs,
            first_failed: node.tally.first_failed,
            last_failed: node.tally.last_failed,
            items: node.flow.items,
            processed: node.flow.processed,
            children: node.flow.children(calls_workflow),
            runs,
            copied_runs: node.copied,
            recovered_runs: node.recovered,
            execution_time: node.tally.execution_time,
            position,
        }
    }
}
