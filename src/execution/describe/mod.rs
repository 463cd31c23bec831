//! The description: what each node of an execution did, with its first item and how the values of its items are distributed.

mod node;
mod observer;
mod workflow;

use std::ops::Range;

use indexmap::IndexMap;

pub use self::node::{DescribedNode, NodeSettings};
use self::observer::{End, Nodes};
use self::workflow::DescribedWorkflow;
use super::Error;
use super::runs::{self, Execution};
use super::summary::Summary;
use crate::json::{Capture, Cursor, Keep, Members, Projection, Pruner};

/// Reads a [`Description`].
///
/// Memory is bounded by 400 paths of one node, as for the fields, by 2 MiB for what is held of the nodes' items, and by
/// 2 MiB for their parameters.
///
/// ```
/// use n8n_lens::execution::describe::DescribeProjection;
/// use n8n_lens::json::Projection;
///
/// let body = br#"{"id": "7", "data": {"resultData": {"runData": {
///     "Read": [{"data": {"main": [[{"json": {"paid": true}}, {"json": {"paid": true}}, {"json": {"paid": "no"}}]]}}],
///     "Keep": [{"source": [{"previousNode": "Read"}], "data": {"main": [[{"json": {"paid": true}}]]}}]
/// }}}, "workflowData": {"name": "Orders", "nodes": [
///     {"name": "Read", "type": "n8n-nodes-base.code", "parameters": {"jsCode": "return orders;"}},
///     {"name": "Keep", "type": "n8n-nodes-base.filter", "parameters": {}},
///     {"name": "Send", "type": "n8n-nodes-base.emailSend", "parameters": {}}
/// ]}}"#;
/// let description = DescribeProjection { redacts: false }.read_from(&body[..])?;
/// let keep = &description.nodes["Keep"];
/// assert_eq!(keep.sources, [("Read".to_owned(), 0)]);
/// assert_eq!(description.nodes["Read"].fields[0].kinds, [0, 2, 0, 1, 0, 0]);
/// assert_eq!(description.not_run, ["Send"]);
/// # Ok::<_, n8n_lens::execution::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct DescribeProjection {
    /// Whether values of known secret keys are masked.
    pub redacts: bool,
}

/// What an execution did.
#[derive(Debug)]
pub struct Description {
    /// The summary that get_execution shows, too.
    pub summary: Summary,
    /// What else is known of each of its nodes, by name.
    pub nodes: IndexMap<String, DescribedNode>,
    /// The nodes of the workflow that did not run and were not switched off, in the order of the workflow. None if there is no
    /// data of any node.
    pub not_run: Vec<String>,
    /// Whether the descriptions of some nodes' items did not fit.
    pub is_partial: bool,
    /// Items of more than 1 MiB, which were not read.
    pub too_large: u64,
    /// Whether a node has more than 400 paths; the others were not read.
    pub has_more_paths: bool,
}

impl Projection for DescribeProjection {
    type View = Result<Description, Error>;
    const KEEP: Keep = Keep::Members(&runs::keep::<Nodes<'_>>(DescribedWorkflow::KEEP));

    fn window(&self) -> Range<u64> {
        0..u64::MAX
    }

    fn pruner(&self) -> Pruner {
        Pruner::new(Self::KEEP, self.window()).capturing(Capture::all())
    }

    fn read(&self, cursor: Cursor<'_>) -> Self::View {
        let read = runs::read(cursor, |header| Nodes::new(self, header), DescribedWorkflow::read_or_default)?;
        let Execution { header, mut data, runs, workflow } = read;
        let DescribedWorkflow { workflow, mut settings, .. } = workflow;
        let (executed, mut nodes, end) = runs.finish();
        let pinned = std::mem::take(&mut data.result.pinned);
        let summary = Summary::new(Execution { header, data, runs: executed, workflow });
        for (name, node) in &mut nodes {
            node.settings = settings.shift_remove(name).unwrap_or_default();
            node.pinned = pinned.contains(name) && !node.settings.disabled;
            if self.redacts {
                node.redact();
            }
            if summary.redacted {
                // What n8n left of the items says nothing about them.
                node.forget_items();
            }
        }
        // Without data of any node, it is not known which ran.
        let is_known = !nodes.is_empty();
        let not_run =
            settings.into_iter().filter(|(_, node)| is_known && !node.disabled).map(|(name, _)| name).collect();
        let End { is_partial, too_large, has_more_paths } = end;
        Ok(Description { summary, nodes, not_run, is_partial, too_large, has_more_paths })
    }
}
