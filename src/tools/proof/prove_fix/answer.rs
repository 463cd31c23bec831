//! What a proof says: the claim, from the verdict by a table, and what it rests on.

use serde::Serialize;

use super::ProveFix;
use super::verdict::{Facts, Verdict};
use crate::budget::Ladder;
use crate::execution::recording::Recording;
use crate::json::shorten;
use crate::toolkit::Locale;
use crate::toolkit::answer::success;
use crate::tools::proof::revisions::Revisions;
use crate::units::counted;

/// Characters shown of a message.
const MESSAGE_CHARS: usize = 200;

/// The most names of a list.
const NAMES: usize = 12;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Data<'a> {
    id: &'a str,
    verdict: &'static str,
    claim: &'a str,
    tested: Tested<'a>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    changed: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<Failed<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fails_now: Option<Failed<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    control: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<Node<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    ran_new: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    differs: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    same: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    good: Vec<GoodRow<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    recorded: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    not_proven: &'a [String],
    #[serde(rename = "_guidance", skip_serializing_if = "Option::is_none")]
    guidance: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tested<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    workflow_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version_id: Option<&'a str>,
    published: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Failed<'a> {
    node_name: &'a str,
    message: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Node<'a> {
    node_name: &'a str,
    /// In and out.
    items: [u64; 2],
    runs: usize,
}

#[derive(Serialize)]
struct GoodRow<'a> {
    id: &'a str,
    same: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    differs: &'a [String],
}

/// The answer.
pub(super) fn compose(
    call: &ProveFix,
    locale: Locale,
    recording: &Recording,
    revisions: &Revisions,
    facts: &Facts,
) -> String {
    let claim = claim(call, recording, revisions, facts);
    let message = match facts.reproduced {
        Some(_) => locale.choose("記録されたデータで 2 回再実行しました", "Replayed twice with recorded data"),
        None => locale.choose("何も実行していません", "Nothing was run"),
    };
    let write = |names: usize| {
        let some = |list: &'_ [String]| list[..names.min(list.len())].to_vec();
        let lists = [&revisions.changed, &facts.ran_new, &facts.differs, &facts.recorded].map(|list| some(list));
        let failed = |failed: &Option<(String, String)>| -> Option<(String, String)> {
            failed.as_ref().map(|(node, message)| (node.clone(), shorten(message, MESSAGE_CHARS)))
        };
        let (failed_then, fails_now) = (failed(&facts.failed), failed(&facts.fails_now));
        let row = |of: &'_ Option<(String, String)>| of.clone();
        let (failed_then, fails_now) = (row(&failed_then), row(&fails_now));
        let data = Data {
            id: &call.id,
            verdict: facts.verdict.name(),
            claim: &claim,
            tested: Tested {
                workflow_id: revisions.workflow_id.as_deref(),
                version_id: revisions.version_id.as_deref(),
                published: revisions.published,
            },
            changed: &lists[0],
            failed: failed_then.as_ref().map(|(node, message)| Failed { node_name: node, message: message.clone() }),
            fails_now: fails_now.as_ref().map(|(node, message)| Failed { node_name: node, message: message.clone() }),
            control: facts.reproduced.map(|reproduced| if reproduced { "reproduced" } else { "notReproduced" }),
            node: facts.node.as_ref().map(|node| Node { node_name: &node.name, items: node.items, runs: node.runs }),
            ran_new: &lists[1],
            differs: &lists[2],
            same: facts.reproduced.map(|_| facts.same),
            good: facts
                .good
                .iter()
                .map(|good| GoodRow { id: &good.id, same: good.differs.is_empty(), differs: &good.differs })
                .collect(),
            recorded: &lists[3],
            not_proven: &facts.not_proven,
            guidance: guidance(revisions, facts),
        };
        success(message, &data)
    };
    let ladder = Ladder::new(NAMES).fewer(|names| names, |names| names - 1, 1);
    ladder.largest_that_fits(call.max_tokens, write).answer
}

/// The sentence to repeat.
fn claim(call: &ProveFix, recording: &Recording, revisions: &Revisions, facts: &Facts) -> String {
    let id = &call.id;
    let what = match (&revisions.version_id, revisions.published) {
        (Some(version), true) => format!("published version {}", short(version)),
        (Some(version), false) => format!("draft {}", short(version)),
        (None, _) => "the workflow file".to_owned(),
    };
    let (failed, message) = facts.failed.clone().unwrap_or_default();
    let items = facts
        .node
        .as_ref()
        .map(|node| format!("{} in, {} out", counted(node.items[0], "item", "items"), node.items[1]));
    let now = facts
        .fails_now
        .as_ref()
        .map(|(node, message)| format!("{node}: {}", shorten(message, MESSAGE_CHARS)))
        .unwrap_or_default();
    let with = format!("With its recorded data, execution {id}");
    let outside = "Outside services were not called.";
    match facts.verdict {
        Verdict::Fixed => {
            format!("{with} no longer fails at {failed} in {what}: {}. {outside}", items.unwrap_or_default())
        }
        Verdict::FixedButChanges => {
            let good: Vec<_> = facts
                .good
                .iter()
                .filter(|good| !good.differs.is_empty())
                .map(|good| format!("{} ({})", good.id, good.differs.join(", ")))
                .collect();
            format!(
                "{with} no longer fails at {failed} in {what}, but earlier good executions would now return something else: {}. {outside}",
                good.join("; ")
            )
        }
        Verdict::StillFails => format!("{with} still fails at {failed} in {what}, with the same message."),
        Verdict::FailsDifferently => format!("{with} still fails at {failed} in {what}, with another message: {now}."),
        Verdict::FailsElsewhere if facts.failed.is_none() => {
            format!("{with}, which had succeeded, fails in {what} at {now}.")
        }
        Verdict::FailsElsewhere => format!("{with} passes {failed} in {what}, but fails at {now}."),
        Verdict::NotReached => format!(
            "{with} does not reach {failed} in {what}: whether the change fixes it was not shown. Ran instead: {}.",
            list(&facts.ran_new)
        ),
        Verdict::ErrorNowInItems => format!(
            "{with} ends in {what}, but the error of {failed} now stands in its items: it is hidden, not fixed."
        ),
        Verdict::Bypassed => format!("{with} ends in {what} because {failed} is disabled: nothing about it was shown."),
        Verdict::Emptied => format!("{with} ends in {what}, but {failed} returned no items."),
        Verdict::OutputsChanged => {
            format!("{with} returns something else in {what} at: {}. {outside}", list(&facts.differs))
        }
        Verdict::SameOutputs => format!("{with} returns the same in {what} at every node. {outside}"),
        Verdict::NeedsOutside => format!(
            "Nothing is proven: in {what} a node was asked something that was not recorded ({now}), and outside services are not called."
        ),
        Verdict::NotTested => format!(
            "Nothing is proven: the change or the failure is in a node that reaches outside, which is answered from the recording: {}.",
            untested(recording, revisions, facts)
        ),
        Verdict::NotReproduced => format!(
            "Nothing is proven: the unchanged workflow did not do the same again with the recorded data of execution {id}{}.",
            if message.is_empty() {
                String::new()
            } else {
                format!(" (recorded: {failed}: {})", shorten(&message, MESSAGE_CHARS))
            }
        ),
        Verdict::Unchanged => format!("Nothing is proven: {what} is the workflow that execution {id} ran."),
    }
}

fn untested(recording: &Recording, revisions: &Revisions, facts: &Facts) -> String {
    match (&facts.failed, revisions.changed.as_slice()) {
        (Some((failed, _)), []) => failed.clone(),
        (Some((failed, _)), changed) if !changed.contains(failed) && recording.nodes.contains_key(failed) => {
            format!("{} changed, {failed} failed", list(changed))
        }
        (_, changed) => list(changed),
    }
}

/// What to do with a proof.
fn guidance(revisions: &Revisions, facts: &Facts) -> Option<String> {
    let claim = "Show the claim to the user.";
    match (facts.verdict, &revisions.workflow_id, &revisions.version_id) {
        (Verdict::Fixed, Some(workflow), Some(version)) if !revisions.published => Some(format!(
            "{claim} Publish exactly this version: publish_workflow_version {{\"workflowId\":\"{workflow}\",\"versionId\":\"{version}\"}}."
        )),
        (Verdict::NotTested, ..) => {
            Some(format!("{claim} retry_execution runs it for real, outside services included."))
        }
        (Verdict::Unchanged, ..) => Some("Change the workflow first: edit_workflow saves a draft.".to_owned()),
        _ => Some(claim.to_owned()),
    }
}

fn list(names: &[String]) -> String {
    let shown: Vec<_> = names.iter().take(NAMES).map(|name| shorten(name, 80)).collect();
    if shown.is_empty() { "nothing".to_owned() } else { shown.join(", ") }
}

/// The beginning of a version's id.
fn short(version: &str) -> String {
    version.chars().take(8).collect()
}
