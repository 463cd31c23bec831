//! Requests that may be other ones now. A node that answers from the recording knows the items that it received, but what it asks
//! for can rest on more than that: on nodes that it names, on the order of its items, on their files, on the time zone.

use super::Case;
use crate::execution::recording::{RecordedNode, RecordedRun, Recording};
use crate::tools::proof::differences::Difference;
use crate::tools::proof::revisions::Revisions;
use crate::workflow::expression::scan;
use crate::workflow::parsed::ParsedNode;
use crate::workflow::replay::receiving_name;

/// The words of code that reads other items than the current one, or counts them.
const OF_ALL_ITEMS: [&str; 8] =
    ["$itemIndex", "$runIndex", "$input", "$prevNode", ".all(", ".first(", ".last(", "itemMatching"];

/// The words of code in which a time zone matters.
const OF_TIME: [&str; 7] = ["Date", "date", "$now", "$today", "toFormat", "toLocale", "toISO"];

/// The nodes that answered from the recording in the changed copy, and would perhaps ask for something else; `differs` are the nodes
/// that returned something else there.
pub(super) fn other_requests(case: &Case<'_>, now: &Recording, differs: &[Difference]) -> Vec<String> {
    let Case { recording, revisions, played, .. } = *case;
    let is_other = |(name, then): &(&String, &RecordedNode)| {
        let node = revisions.name_now(name).and_then(|name| revisions.now.node(name));
        let again = node.and_then(|node| Some((node, receiving(now, node)?)));
        let is_fed = then.runs.first().is_some_and(|run| !run.sources.is_empty());
        let Some((node, again)) = again.filter(|_| is_fed && played.contains(*name)) else { return false };
        let (before, after) = (received(recording, then, node), received(now, again, node));
        let has_other_files = before == after && files(recording, then) != files(now, again);
        let rests_on_all = || returns_for_all(node) || mentions(node, revisions, &OF_ALL_ITEMS);
        has_other_files
            || names_another(node, revisions, differs)
            || (before != after && rests_on_all())
            || (revisions.changed_settings.contains(&"timezone") && mentions(node, revisions, &OF_TIME))
    };
    recording.nodes.iter().filter(is_other).map(|(name, _)| name.clone()).collect()
}

/// The node of a copy that received the items of a node.
pub(super) fn receiving<'a>(copy: &'a Recording, node: &ParsedNode) -> Option<&'a RecordedNode> {
    copy.nodes.get(&receiving_name(&node.name)).or_else(|| copy.nodes.get(&node.name))
}

/// The hashes of the items that each run of a node received, as far as the node reads them.
pub(super) fn received(recording: &Recording, node: &RecordedNode, parsed: &ParsedNode) -> Vec<Option<Vec<u64>>> {
    let most = if parsed.executes_once() { 1 } else { usize::MAX };
    let of_run = |run: &RecordedRun| {
        let mut items = recording.received(run)?;
        items.truncate(most);
        Some(items)
    };
    node.runs.iter().map(of_run).collect()
}

fn files(recording: &Recording, node: &RecordedNode) -> Vec<Vec<u64>> {
    node.runs.iter().map(|run| recording.inputs(run).map(|output| output.files).collect()).collect()
}

/// Whether what a node returns belongs to all of its items together: a sub-workflow that is called once, code that runs once.
fn returns_for_all(node: &ParsedNode) -> bool {
    let mode = node.parameter("mode").unwrap_or_default();
    match node.node_type.as_str() {
        "n8n-nodes-base.code" => mode != "runOnceForEachItem",
        "n8n-nodes-base.executeWorkflow" => mode != "each",
        _ => false,
    }
}

/// Whether a node, or one of its sub-nodes, names a node that is new, gone, or returned something else.
fn names_another(node: &ParsedNode, revisions: &Revisions, differs: &[Difference]) -> bool {
    let is_other = |name: &str| match revisions.name_then(name) {
        Some(then) => differs.iter().any(|one| one.name == then),
        None => true,
    };
    revisions.with_sub_nodes(node).into_iter().flat_map(|node| &node.texts).any(|text| {
        let Some(syntax) = text.syntax else { return false };
        let scanned = scan(&text.text, syntax);
        scanned.names.iter().any(|name| !name.is_in_comment && is_other(&name.name))
            || (scanned.dynamic_names > 0 && !differs.is_empty())
    })
}

/// Whether the code of a node, or of one of its sub-nodes, contains one of these words.
fn mentions(node: &ParsedNode, revisions: &Revisions, words: &[&str]) -> bool {
    let nodes = revisions.with_sub_nodes(node);
    let mut texts = nodes.iter().flat_map(|node| &node.texts).filter(|text| text.syntax.is_some());
    texts.any(|text| words.iter().any(|word| text.text.contains(word)))
}
