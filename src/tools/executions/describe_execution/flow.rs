//! How many items went into a node and came out of it.

use serde_json::{Map, Value};

use crate::execution::describe::{DescribedNode, Description};
use crate::execution::summary::NodeSummary;
use crate::json::shorten_name;

/// How n8n stores a Filter: kept items first, then discarded ones as a second output that no connection can start from.
const FILTER: (&str, [&str; 2]) = ("n8n-nodes-base.filter", ["kept", "discarded"]);

/// How many outputs are named.
const OUTPUTS: usize = 20;

/// The member that counts the outputs that are not named.
const MORE: &str = "…";

/// Characters shown of the name of an output.
const LABEL_CHARS: usize = 40;

/// The items that came out: a number, or an object with one for each output.
pub(super) fn output(node: &NodeSummary, described: &DescribedNode) -> Value {
    if node.outputs.is_empty() {
        return node.items.into();
    }
    let more = node.outputs.len().saturating_sub(OUTPUTS);
    let outputs = node.outputs.iter().take(OUTPUTS).enumerate();
    let mut named: Map<_, _> = outputs.map(|(at, items)| (label(node, described, at), Value::from(*items))).collect();
    if more > 0 {
        named.insert(MORE.to_owned(), format!("+{more} outputs").into());
    }
    named.into()
}

/// Whether failed items leave through an output of their own, the last one. n8n puts them in place of what a Filter discards.
fn has_error_output(described: &DescribedNode) -> bool {
    described.settings.on_error.as_deref() == Some("continueErrorOutput")
}

/// The names of the outputs of a Filter.
fn of_filter(node: &NodeSummary, described: &DescribedNode) -> Option<[&'static str; 2]> {
    let is_filter = node.node_type.as_deref() == Some(FILTER.0) && !has_error_output(described);
    is_filter.then_some(FILTER.1)
}

/// The outputs that hold items and lead nowhere, except the discarded items of a Filter.
pub(super) fn unconnected(node: &NodeSummary, described: &DescribedNode) -> Vec<String> {
    let outputs = node.unconnected.iter().filter(|_| of_filter(node, described).is_none()).take(OUTPUTS);
    outputs.map(|output| label(node, described, usize::try_from(*output).unwrap_or(usize::MAX))).collect()
}

/// The name of a node whose items another one took, and of its output if it has several.
pub(super) fn source((name, output): &(String, u64), all: &Description, chars: usize) -> (String, Option<String>) {
    let node = all.summary.nodes.iter().find(|node| node.name == *name).zip(all.nodes.get(name));
    let several = node.filter(|(node, _)| node.outputs.len() > 1);
    let output =
        several.map(|(node, described)| label(node, described, usize::try_from(*output).unwrap_or(usize::MAX)));
    (shorten_name(name, chars), output)
}

/// `NODE`, or `NODE (OUTPUT)`.
pub(super) fn named((name, output): (String, Option<String>)) -> String {
    match output {
        Some(output) => format!("{name} ({output})"),
        None => name,
    }
}

/// The output's label in n8n's editor, or its number. No two outputs of a node have the same name.
fn label(node: &NodeSummary, described: &DescribedNode, at: usize) -> String {
    let of_filter = of_filter(node, described).and_then(|names| names.get(at).copied());
    let labels = &described.settings.output_labels;
    let shown = |label: &String| shorten_name(label, LABEL_CHARS);
    let known = labels.get(at).map(shown).filter(|label| {
        let is_number_of_another = label.parse::<usize>().is_ok_and(|number| number != at);
        let is_unique = labels.iter().filter(|other| shown(other) == *label).count() == 1;
        is_unique && !label.is_empty() && label != MORE && !is_number_of_another
    });
    // Of a type whose outputs are not known, the last one that is in use.
    let is_error = labels.is_empty() && has_error_output(described) && at > 0 && at + 1 == node.outputs.len();
    let of_type = of_filter.or(is_error.then_some("error")).map(str::to_owned);
    of_type.or(known).unwrap_or_else(|| at.to_string())
}

/// The number of items that it took, if it takes any.
pub(super) fn input(node: &NodeSummary) -> Option<u64> {
    node.taken.filter(|taken| *taken > 0)
}
