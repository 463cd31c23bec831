//! Where to look next: at the node that failed, or at one whose items flow in an unusual way.

use std::borrow::Cow;

use serde::Serialize;

use super::Lengths;
use crate::execution::Header;
use crate::execution::summary::{NodeSummary, Summary};
use crate::json::{Prefix, quoted_name, shorten_name};

#[derive(Serialize)]
pub(super) struct Guidance {
    message: Cow<'static, str>,
    example: String,
}

/// Why a node is worth a look, and what to request in addition to its name.
struct Reason {
    message: &'static str,
    arguments: String,
}

const ANY_NODE: &str = "Use get_execution_by_node tool to fetch detailed data for a specific node";

const CHECK: &str = "names the expressions whose fields its items lack";

/// Whether a node seems to have failed because an expression, or code, reads what is not there.
fn is_of_expression(summary: &Summary, failed: &NodeSummary) -> bool {
    let Some(error) = summary.error.as_ref().filter(|_| !summary.redacted) else { return false };
    let says = |text: &Option<Prefix>, part: &str| text.as_ref().is_some_and(|text| text.kept.contains(part));
    let is_its = error.node_name.as_ref().is_none_or(|name| *name == failed.name);
    is_its
        && (says(&error.name, "ExpressionError")
            || says(&error.message, "Cannot read properties of undefined")
            || says(&error.message, "Cannot read properties of null"))
}

impl Guidance {
    /// The next call about the execution with this id. `first` is the first node that is shown.
    pub(super) fn new(
        summary: &Summary,
        id: Option<&str>,
        first: Option<&NodeSummary>,
        lengths: Lengths,
        offers_check: bool,
    ) -> Self {
        let id = id.unwrap_or("<id>");
        if summary.nodes.is_empty() {
            return Self::without_nodes(&summary.header, id, lengths);
        }
        if let Some(failed) = summary.nodes.first().filter(|node| node.failed_runs > 0) {
            return match offers_check && is_of_expression(summary, failed) {
                true => Self::of_node(
                    format!("{ANY_NODE}; check_workflow(executionId: '{id}') {CHECK}"),
                    id,
                    failed,
                    lengths,
                ),
                false => Self::of_node(ANY_NODE, id, failed, lengths),
            };
        }
        if let Some(unfinished) = Self::unfinished(summary, id, lengths) {
            return unfinished;
        }
        if let Some((node, reason)) = worth_a_look(summary) {
            return Self { message: reason.message.into(), example: by_node(id, node, &reason.arguments, lengths) };
        }
        let has_items = summary.nodes.iter().any(|node| node.items > 0);
        match first.or(summary.nodes.first()) {
            Some(node) if !has_items || summary.redacted => Self::of_node(ANY_NODE, id, node, lengths),
            _ => Self {
                message: "No node failed: describe_execution shows what each node did".into(),
                example: format!("describe_execution(id: '{id}')"),
            },
        }
    }

    fn of_node(message: impl Into<Cow<'static, str>>, id: &str, node: &NodeSummary, lengths: Lengths) -> Self {
        Self { message: message.into(), example: by_node(id, node, "", lengths) }
    }

    /// For an execution whose run data n8n did not send, or does not have.
    fn without_nodes(header: &Header, id: &str, lengths: Lengths) -> Self {
        if header.data_too_large {
            return Self {
                message: "The data is stored, but too large to display: request it with ignoreDataSizeLimit".into(),
                example: format!("get_execution(id: '{id}', ignoreDataSizeLimit: true)"),
            };
        }
        let status = header.status.as_deref().unwrap_or_default();
        if matches!(status, "running" | "new" | "waiting") && !header.abandoned {
            return Self {
                message: format!("{}: ask again when it has ended", state(header, None, lengths)).into(),
                example: format!("get_execution(id: '{id}')"),
            };
        }
        let workflow = header.workflow_id.as_ref().map(|id| format!("workflowId: {}", quoted_name(id, lengths.word)));
        let workflow = workflow.unwrap_or_default();
        Self {
            message: "There is no node to show: list_executions finds other executions".into(),
            example: format!("list_executions({workflow})"),
        }
    }

    /// For an execution that has not ended: where it is, and how far it got.
    fn unfinished(summary: &Summary, id: &str, lengths: Lengths) -> Option<Self> {
        let header = &summary.header;
        if !matches!(header.status.as_deref()?, "running" | "new" | "waiting" | "canceled") {
            return None;
        }
        let last = summary.last_node()?;
        let state = state(header, summary.current_node.as_ref(), lengths);
        let message = format!("{state}: get_execution_by_node shows the last node that ran");
        Some(Self::of_node(message, id, last, lengths))
    }
}

/// The state of an execution that has not ended: at which node, if that is known, and until when.
fn state(header: &Header, node: Option<&String>, lengths: Lengths) -> String {
    let status = header.status.as_deref().unwrap_or_default();
    let does = match status {
        "waiting" => "waits",
        "canceled" => "was canceled",
        _ if header.abandoned => "was stopped with n8n",
        "new" => "is queued",
        _ => "is running",
    };
    let at = node.map(|node| format!(" at node {}", quoted_name(node, lengths.node))).unwrap_or_default();
    let until = match &header.wait_till {
        Some(_) if header.waits_for_call() => " for a call".to_owned(),
        Some(till) if status == "waiting" => format!(" until {}", shorten_name(till, lengths.word)),
        _ => String::new(),
    };
    format!("This execution {does}{at}{until}")
}

/// If no node failed: the first node, in the order of execution, with items that stand for an error, with outputs that lead
/// nowhere, or with empty runs.
fn worth_a_look(summary: &Summary) -> Option<(&NodeSummary, Reason)> {
    let find = |reason: fn(&NodeSummary) -> Option<Reason>| {
        summary.nodes.iter().find_map(|node| reason(node).map(|reason| (node, reason)))
    };
    find(error_items).or_else(|| find(unconnected)).or_else(|| find(empty_runs))
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

/// Whether the node is a Filter: n8n stores discarded items as an output that no connection can start from. They are
/// intended, so they are not a lead.
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

fn by_node(id: &str, node: &NodeSummary, arguments: &str, lengths: Lengths) -> String {
    let name = quoted_name(&node.name, lengths.node);
    format!("get_execution_by_node(id: '{id}', nodeName: {name}{arguments})")
}
