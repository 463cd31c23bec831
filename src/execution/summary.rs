//! The summary of an execution: which nodes ran, how they ended, how many items they output.

use std::io::Read;
use std::ops::Range;

pub use super::executed::LeftOut;
use super::executed::{Executed, NodeRuns, RunObserver};
use super::failure::Failure;
use super::flow::{self, Children, ErrorItems, Parent};
use super::header::Header;
use super::values::ITEM_LISTS;
use super::workflow::{self, Workflow};
use super::{Error, body, stored_json};
use crate::json::{Cursor, Keep, Projection, Pruner, ReadError};

const FAILURE: Keep = Keep::Members(&[
    ("name", Keep::Whole),
    ("message", Keep::Whole),
    ("type", Keep::Whole),
    ("description", Keep::Whole),
    ("httpCode", Keep::Whole),
    ("node", Keep::Members(&[("name", Keep::Whole)])),
]);

/// Of a run: how it ended, how many items it output, and which of them may stand for an error.
pub(super) const RUN: [(&str, Keep); 8] = [
    ("executionIndex", Keep::Whole),
    ("startTime", Keep::Whole),
    ("executionTime", Keep::Whole),
    ("executionStatus", Keep::Whole),
    ("error", Keep::Members(&[])),
    ("redactedError", Keep::Members(&[])),
    ("metadata", Keep::Members(&[("subExecution", flow::CHILD), ("subExecutionsCount", Keep::Whole)])),
    ("data", ITEM_LISTS),
];

const DATA: Keep = Keep::Members(&data(Keep::Members(&RESULT)));
const RESULT: [(&str, Keep); 4] = result_data(Keep::EachMember(&Keep::EachElement(&Keep::Members(&RUN))));

/// What is kept of `data`.
pub(super) const fn data(result_data: Keep) -> [(&'static str, Keep); 4] {
    [
        ("parentExecution", flow::PARENT),
        ("executionData", Keep::Members(&[("nodeExecutionStack", Keep::EachElement(&STACKED))])),
        ("redactionInfo", Keep::Members(&[("isRedacted", Keep::Whole)])),
        ("resultData", result_data),
    ]
}

/// What is kept of a node that n8n was to execute next.
const STACKED: Keep = Keep::Members(&[("node", Keep::Members(&[("name", Keep::Whole)]))]);

/// What is kept of `data.resultData`.
pub(super) const fn result_data(runs: Keep) -> [(&'static str, Keep); 4] {
    [("error", FAILURE), ("redactedError", FAILURE), ("lastNodeExecuted", Keep::Whole), ("runData", runs)]
}

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
    const KEEP: Keep = Keep::Members(&body::keep(DATA, workflow::SUMMARY));

    fn window(&self) -> Range<u64> {
        0..u64::MAX
    }

    fn pruner(&self) -> Pruner {
        flow::marked_items(Pruner::new(Self::KEEP, self.window()))
    }

    fn read<R: Read>(&self, cursor: Cursor<R>) -> Self::View {
        let body = body::read(cursor, |cursor, header| Data::read(cursor, header, &mut ()), Workflow::read)?;
        Ok(body.data.unwrap_or_default().summarize(body.header, body.workflow))
    }
}

/// The same projection, for an execution in which no item stands for an error or comes from a sub-workflow: items are
/// counted, and not read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counting<P>(pub P);

impl<P: Projection> Projection for Counting<P> {
    type View = P::View;
    const KEEP: Keep = P::KEEP;

    fn read<R: Read>(&self, cursor: Cursor<R>) -> Self::View {
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
    /// Whether a run failed.
    pub failed: bool,
    /// Items in all outputs of all runs; those of a sub-node of an AI agent are in outputs such as `ai_tool`.
    pub items: u64,
    /// Items in the `main` outputs of the runs that were not copied.
    pub processed: u64,
    /// Items of each `main` output, if there are several.
    pub outputs: Vec<u64>,
    /// The outputs that hold items and lead nowhere, while another output leads on.
    pub unconnected: Vec<u64>,
    /// The items that stand for an error.
    pub error_items: Option<Box<ErrorItems>>,
    /// How many of several runs output no item.
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
        let calls_workflow = node_type.as_deref() == Some(workflow::EXECUTE_WORKFLOW);
        let last = node.last_status.unwrap_or_else(|| "success".to_owned());
        let status = match (node.crashed, node.failed) {
            (true, _) => "crashed".to_owned(),
            (false, true) => "error".to_owned(),
            (false, false) => last,
        };
        Self {
            outputs: node.flow.outputs(),
            unconnected: node.flow.unconnected(workflow.connected.get(&name)),
            empty_runs: if node.runs > 1 { node.flow.empty_runs } else { 0 },
            error_items: node.flow.errors(workflow.continuing.contains(&name)),
            node_type,
            name,
            status,
            failed: node.failed,
            items: node.flow.items,
            processed: node.flow.processed,
            children: if calls_workflow { node.flow.called } else { node.flow.children },
            runs: node.runs,
            copied_runs: node.copied,
            recovered_runs: node.recovered,
            execution_time: node.execution_time,
            position,
        }
    }
}

/// The member `data`.
#[derive(Default)]
pub(super) struct Data {
    redacted: bool,
    current_node: Option<String>,
    parent: Option<Parent>,
    result: ResultData,
}

/// The member `data.resultData`.
#[derive(Default)]
struct ResultData {
    error: Option<Failure>,
    redacted_error: Option<Failure>,
    last_node: Option<String>,
    nodes: Executed,
}

impl Data {
    /// Reads it, after as much of the header as came before it.
    pub(super) fn read<R: Read>(
        cursor: &mut Cursor<R>,
        header: &Header,
        observer: &mut impl RunObserver,
    ) -> Result<Self, ReadError> {
        let own_start = header.own_start_ms();
        let mut data = Self::default();
        cursor.object(|cursor, member| {
            match member {
                "redactionInfo" => {
                    data.redacted = false;
                    cursor.object(|cursor, member| {
                        if member == "isRedacted" {
                            data.redacted = cursor.is_true()?;
                            return Ok(());
                        }
                        cursor.skip()
                    })?;
                }
                "parentExecution" => data.parent = Parent::read(cursor)?,
                "executionData" => data.current_node = read_current_node(cursor)?,
                "resultData" => data.result = ResultData::read(cursor, own_start, observer)?,
                _ => cursor.skip()?,
            }
            Ok(())
        })?;
        Ok(data)
    }

    pub(super) fn summarize(self, header: Header, mut workflow: Workflow) -> Summary {
        let result = self.result;
        let redacted = self.redacted || result.redacted_error.is_some();
        let mut error = result.error.or(result.redacted_error);
        if let Some(error) = &mut error {
            let last = result.last_node.filter(|last| result.nodes.is_failed(last));
            error.node_name = error.node_name.take().or(last);
        }
        let (nodes, left_out) = result.nodes.sorted();
        Summary {
            total_nodes: workflow.nodes.max(left_out.nodes.saturating_add(nodes.len() as u64)),
            workflow_name: workflow.name.take(),
            parent: self.parent,
            error,
            redacted,
            // Without progress, n8n has stored nothing but the node at which the execution started.
            current_node: self.current_node.filter(|_| !nodes.is_empty()),
            nodes: nodes.into_iter().map(|(name, runs, at)| NodeSummary::new(name, runs, at, &mut workflow)).collect(),
            left_out,
            header,
        }
    }
}

impl ResultData {
    fn read<R: Read>(
        cursor: &mut Cursor<R>,
        own_start: Option<i64>,
        observer: &mut impl RunObserver,
    ) -> Result<Self, ReadError> {
        let mut result = Self::default();
        cursor.object(|cursor, member| {
            match member {
                "error" => result.error = Failure::read(cursor)?,
                "redactedError" => result.redacted_error = Failure::read(cursor)?,
                "lastNodeExecuted" => result.last_node = cursor.name()?,
                "runData" => result.nodes = Executed::read(cursor, own_start, observer)?,
                _ => cursor.skip()?,
            }
            Ok(())
        })?;
        Ok(result)
    }
}

/// The first node of the `nodeExecutionStack` in `executionData`.
fn read_current_node<R: Read>(cursor: &mut Cursor<R>) -> Result<Option<String>, ReadError> {
    stored_json::member(cursor, "nodeExecutionStack", |cursor| {
        let mut first = None;
        cursor.array(|cursor, at| {
            let node = stored_json::member(cursor, "node", |cursor| stored_json::member(cursor, "name", Cursor::name))?;
            if at == 0 {
                first = node;
            }
            Ok(())
        })?;
        Ok(first)
    })
}
