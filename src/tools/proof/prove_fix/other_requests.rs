//! Requests that may be other ones now. A node that answers from the recording knows the items that it received, but what it asks
//! for can rest on more than that: on nodes that it names, on the order of its items, on their files, on the time zone.

use super::Case;
use crate::execution::recording::{RecordedNode, Recording};
use crate::tools::proof::differences::Difference;
use crate::tools::proof::recorded::failure;
use crate::tools::proof::revisions::Revisions;
use crate::workflow::expression::scan;
use crate::workflow::parsed::ParsedNode;
use crate::workflow::replay::{NOT_RECORDED, receiving_name};

/// The words of code that reads other items than the current one, or counts them.
const OF_ALL_ITEMS: [&str; 8] =
    ["$itemIndex", "$runIndex", "$input", "$prevNode", ".all(", ".first(", ".last(", "itemMatching"];

/// The words of code in which a time zone matters.
const OF_TIME: [&str; 7] = ["Date", "date", "$now", "$today", "toFormat", "toLocale", "toISO"];

/// The nodes for whose requests there is no recorded answer: the one that stopped the changed copy because of that, or else those that
/// would perhaps ask for something else; `differs` are the nodes that returned something else in it.
pub(super) fn unanswered(case: &Case<'_>, now: &Recording, differs: &[Difference]) -> Vec<String> {
    match failure(now).filter(|(_, message)| message.contains(NOT_RECORDED)) {
        Some((node, _)) => vec![node],
        None => {
            answered(case, now).filter(|one| one.is_other(case, now, differs)).map(|one| one.name.to_owned()).collect()
        }
    }
}

/// A node that received items, and answered from the recording in the changed copy.
pub(super) struct Answered<'a> {
    /// What the execution called it.
    pub name: &'a str,
    node: &'a ParsedNode,
    then: &'a RecordedNode,
    /// The node of the copy that received its items.
    again: &'a RecordedNode,
}

/// The nodes that received items, and answered from the recording in the changed copy.
pub(super) fn answered<'a>(case: &Case<'a>, now: &'a Recording) -> impl Iterator<Item = Answered<'a>> {
    let Case { recording, revisions, played, .. } = *case;
    let is_fed = |node: &RecordedNode| node.runs.first().is_some_and(|run| !run.sources.is_empty());
    let nodes = recording.nodes.iter().filter(move |(name, then)| played.contains(*name) && is_fed(then));
    nodes.filter_map(move |(name, then)| {
        let node = revisions.now.node(revisions.name_now(name)?)?;
        let again = now.nodes.get(&receiving_name(&node.name)).or_else(|| now.nodes.get(&node.name))?;
        Some(Answered { name, node, then, again })
    })
}

impl Answered<'_> {
    /// The hashes of the items that each of its runs read: recorded, and now.
    pub(super) fn items(&self, then: &Recording, now: &Recording) -> [Vec<Option<Vec<u64>>>; 2] {
        let once = self.node.executes_once();
        [(then, self.then), (now, self.again)]
            .map(|(recording, node)| node.runs.iter().map(|run| recording.read(run, once)).collect())
    }

    /// Whether it would perhaps ask for something else.
    fn is_other(&self, case: &Case<'_>, now: &Recording, differs: &[Difference]) -> bool {
        let Case { recording, revisions, .. } = *case;
        let [before, after] = self.items(recording, now);
        let has_other_files = before == after && files(recording, self.then) != files(now, self.again);
        let rests_on_all = || returns_for_all(self.node) || mentions(self.node, revisions, &OF_ALL_ITEMS);
        has_other_files
            || names_another(self.node, revisions, differs)
            || (before != after && rests_on_all())
            || (revisions.changed_settings.contains(&"timezone") && mentions(self.node, revisions, &OF_TIME))
    }
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
