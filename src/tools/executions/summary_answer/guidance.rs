//! Where to look next: at the node that failed, or at one whose items flow in an unusual way.

use serde::Serialize;

use super::Lengths;
use crate::execution::summary::{NodeSummary, Summary};
use crate::json::quoted_name;

#[derive(Serialize)]
pub(super) struct Guidance {
    message: &'static str,
    example: String,
}

/// Why a node is worth a look, and what to request of it besides its name.
struct Reason {
    message: &'static str,
    arguments: String,
}

const ANY_NODE: &str = "Use get_execution_by_node tool to fetch detailed data for a specific node";

impl Guidance {
    /// The next call about the execution with this id. `first` is the first node that is shown.
    pub(super) fn new(summary: &Summary, id: Option<&str>, first: Option<&NodeSummary>, lengths: Lengths) -> Self {
        let id = id.unwrap_or("<id>");
        let Some((node, reason)) = worth_a_look(summary) else {
            return Self::without_finding(summary, id, first, lengths);
        };
        Self { message: reason.message, example: by_node(id, Some(node), &reason.arguments, lengths) }
    }

    fn without_finding(summary: &Summary, id: &str, first: Option<&NodeSummary>, lengths: Lengths) -> Self {
        let has_items = summary.nodes.iter().any(|node| node.items > 0);
        if !has_items || summary.redacted {
            return Self { message: ANY_NODE, example: by_node(id, first, "", lengths) };
        }
        Self {
            message: "No node failed, and no item flow is unusual: get_execution_fields finds values that differ",
            example: format!("get_execution_fields(id: '{id}')"),
        }
    }
}

/// A failed node; or else the first node, in the order of execution, with items that stand for an error, with outputs that
/// lead nowhere, with empty runs, or with items that it discarded.
fn worth_a_look(summary: &Summary) -> Option<(&NodeSummary, Reason)> {
    let failed = summary.nodes.first().filter(|node| node.failed);
    let failed = failed.map(|node| (node, Reason { message: ANY_NODE, arguments: String::new() }));
    let find = |reason: fn(&NodeSummary) -> Option<Reason>| {
        summary.nodes.iter().find_map(|node| reason(node).map(|reason| (node, reason)))
    };
    failed
        .or_else(|| find(error_items))
        .or_else(|| find(unconnected))
        .or_else(|| find(empty_runs))
        .or_else(|| find(discarded))
}

fn error_items(node: &NodeSummary) -> Option<Reason> {
    let first = &node.error_items.as_ref()?.first;
    let run = argument("runIndex", if node.runs > 1 { Some(first.run) } else { None });
    let output = argument("outputIndex", Some(first.output).filter(|output| *output > 0));
    let offset = argument("offset", Some(first.item).filter(|item| *item > 0));
    Some(Reason {
        message: "No node failed, but items of this one stand for an error: get_execution_by_node shows the first",
        arguments: format!("{run}{output}{offset}, limit: 1"),
    })
}

fn unconnected(node: &NodeSummary) -> Option<Reason> {
    let output = node.unconnected.first().filter(|_| !discards(node))?;
    Some(Reason {
        message: "No node failed, but items of this one leave by an output that leads nowhere: get_execution_by_node shows them",
        arguments: format!(", outputIndex: {output}, limit: 3"),
    })
}

fn discarded(node: &NodeSummary) -> Option<Reason> {
    let output = node.unconnected.first().filter(|_| discards(node))?;
    Some(Reason {
        message: "No node failed, but this Filter discarded items: get_execution_by_node shows them",
        arguments: format!(", outputIndex: {output}, limit: 3"),
    })
}

/// Whether the node is a Filter: n8n stores what it discards as an output that no connection can lead from.
fn discards(node: &NodeSummary) -> bool {
    node.node_type.as_deref() == Some("n8n-nodes-base.filter")
}

fn empty_runs(node: &NodeSummary) -> Option<Reason> {
    (node.empty_runs > 0).then(|| Reason {
        message: "No node failed, but some runs of this one output no item: get_execution_by_node shows one run (runIndex)",
        arguments: ", limit: 3".to_owned(),
    })
}

fn argument(name: &str, value: Option<u64>) -> String {
    value.map(|value| format!(", {name}: {value}")).unwrap_or_default()
}

fn by_node(id: &str, node: Option<&NodeSummary>, arguments: &str, lengths: Lengths) -> String {
    let name = node.map_or_else(|| "'<nodeName>'".to_owned(), |node| quoted_name(&node.name, lengths.node));
    format!("get_execution_by_node(id: '{id}', nodeName: {name}{arguments})")
}
