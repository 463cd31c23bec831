//! A node in the summary: its runs, and anything unusual about the flow of its items.

use serde::Serialize;
use serde_json::Value;

use super::Lengths;
use crate::execution::summary::NodeSummary;
use crate::execution::{Children, ErrorItems};
use crate::json::shorten_name;

/// The most characters of the message of an item that stands for an error.
const MESSAGE_CHARS: usize = 120;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ShownNode {
    pub(super) node_name: String,
    node_type: String,
    status: String,
    #[serde(rename = "in", skip_serializing_if = "Option::is_none")]
    taken: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    calls: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    runs: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    outputs: Vec<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unconnected: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_items: Option<ShownErrorItems>,
    #[serde(skip_serializing_if = "Option::is_none")]
    empty_runs: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    copied_runs: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sub_executions: Vec<String>,
}

/// The items that stand for an error.
#[derive(Serialize)]
pub(in crate::tools::executions) struct ShownErrorItems {
    count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<u64>,
    item: u64,
    message: String,
}

impl ShownNode {
    pub(super) fn new(node: &NodeSummary, lengths: Lengths) -> Self {
        Self {
            node_name: shorten_name(&node.name, lengths.node),
            node_type: shorten_name(node.node_type.as_deref().unwrap_or("unknown"), lengths.word),
            status: shorten_name(&node.status, lengths.word),
            taken: unusual_input(node).filter(|_| lengths.inputs),
            items: (!node.is_sub_node).then_some(node.items),
            calls: node.is_sub_node.then_some(node.runs),
            runs: (node.runs != 1 && !node.is_sub_node).then_some(node.runs),
            outputs: listed(&node.outputs, lengths.listed),
            unconnected: listed(&node.unconnected, lengths.listed),
            error_items: node.error_items.as_ref().map(|items| shown_errors(items, lengths.error)),
            empty_runs: (node.empty_runs > 0).then_some(node.empty_runs),
            copied_runs: (node.copied_runs > 0).then_some(node.copied_runs),
            sub_executions: shown_children(&node.children, lengths.word),
        }
    }
}

/// The number of items that a node took, if it differs from what the node output; a trigger takes none.
pub(super) fn unusual_input(node: &NodeSummary) -> Option<u64> {
    node.taken.filter(|taken| *taken > 0 && *taken != node.items)
}

/// How many items stand for an error, and the first, with at most `chars` characters of its message.
pub(in crate::tools::executions) fn shown_errors(items: &ErrorItems, chars: usize) -> ShownErrorItems {
    let first = &items.first;
    let index = |index: u64| (index > 0).then_some(index);
    ShownErrorItems {
        count: items.count,
        run: index(first.run),
        output: index(first.output),
        item: first.item,
        message: first.message.cut(MESSAGE_CHARS.min(chars)).0.into_owned(),
    }
}

/// The first executions of sub-workflows, with at most `chars` characters of each id, and how many more there are.
pub(in crate::tools::executions) fn shown_children(children: &Children, chars: usize) -> Vec<String> {
    let ids = children.ids.iter().map(|id| shorten_name(id, chars));
    let more = children.total.saturating_sub(children.ids.len() as u64);
    ids.chain((more > 0).then(|| format!("…[+{more}]"))).collect()
}

/// The first `most` numbers, and how many more there are.
fn listed(numbers: &[u64], most: usize) -> Vec<Value> {
    let more = numbers.len().saturating_sub(most);
    let shown = numbers[..numbers.len() - more].iter().map(|number| Value::from(*number));
    shown.chain((more > 0).then(|| format!("…[+{more}]").into())).collect()
}
