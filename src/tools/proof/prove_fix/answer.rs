//! The answer of a proof: the claim, which a table derives from the verdict, and the facts that it rests on.

use serde::Serialize;

use super::claim::claim;
use super::verdict::{Facts, Verdict};
use crate::budget::Ladder;
use crate::execution::recording::Recording;
use crate::json::shorten;
use crate::toolkit::Locale;
use crate::toolkit::answer::success;
use crate::tools::proof::differences::DiffersRow;
use crate::tools::proof::recorded::{MESSAGE_CHARS, NAMES, first};
use crate::tools::proof::revisions::Revisions;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ProofAnswer<'a> {
    id: &'a str,
    verdict: &'static str,
    claim: &'a str,
    tested: Tested<'a>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    changed: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    changed_settings: &'a [&'static str],
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<Failed<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fails_now: Option<Failed<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    control: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<Node<'a>>,
    /// If another node failed: whether this one went well.
    #[serde(skip_serializing_if = "Option::is_none")]
    passed: Option<bool>,
    /// What ran now and had not; if the node was not reached, instead of it.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    ran_new: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    ran_instead: &'a [String],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    differs: Vec<DiffersRow<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    same: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    expected: Vec<ExpectedRow<'a>>,
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
    /// Received and returned.
    items: [u64; 2],
    runs: usize,
}

#[derive(Serialize)]
struct ExpectedRow<'a> {
    what: &'a str,
    /// Recorded, and now.
    hits: [u64; 2],
}

#[derive(Serialize)]
struct GoodRow<'a> {
    id: &'a str,
    same: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    differs: &'a [String],
}

impl<'a> Failed<'a> {
    fn of((node_name, message): &'a (String, String)) -> Self {
        Self { node_name, message: shorten(message, MESSAGE_CHARS) }
    }
}

/// The answer.
pub(super) fn compose(
    max_tokens: usize,
    locale: Locale,
    recording: &Recording,
    revisions: &Revisions,
    facts: &Facts,
) -> String {
    let claim = claim(locale, recording, revisions, facts);
    let message = match facts.reproduced {
        Some(_) if revisions.is_original() => {
            locale.choose("記録されたデータで再実行しました", "Replayed with recorded data")
        }
        Some(_) => locale.choose("記録されたデータで 2 回再実行しました", "Replayed twice with recorded data"),
        None => locale.choose("何も実行していません", "Nothing was run"),
    };
    let (new, instead) = match facts.verdict {
        Verdict::NotReached => (&[] as &[_], facts.ran_new.as_slice()),
        _ => (facts.ran_new.as_slice(), &[] as &[_]),
    };
    let write = |names: usize| {
        let data = ProofAnswer {
            id: &facts.id,
            verdict: facts.verdict.name(),
            claim: &claim,
            tested: Tested {
                workflow_id: revisions.workflow_id.as_deref(),
                version_id: revisions.version_id.as_deref(),
                published: revisions.published,
            },
            changed: first(&revisions.changed, names),
            changed_settings: &revisions.changed_settings,
            failed: facts.failed.as_ref().map(Failed::of),
            fails_now: facts.fails_now.as_ref().map(Failed::of),
            control: facts.reproduced.map(|reproduced| if reproduced { "reproduced" } else { "notReproduced" }),
            node: facts.node.as_ref().map(|node| Node { node_name: &node.name, items: node.items, runs: node.runs }),
            passed: facts.passed.filter(|_| facts.verdict == Verdict::FailsElsewhere),
            ran_new: first(new, names),
            ran_instead: first(instead, names),
            differs: first(&facts.differs, names).iter().map(DiffersRow::from).collect(),
            same: facts.reproduced.map(|_| facts.same),
            expected: facts.expected.iter().map(|(what, hits)| ExpectedRow { what, hits: *hits }).collect(),
            good: facts
                .good
                .iter()
                .map(|good| GoodRow { id: &good.id, same: good.differs.is_empty(), differs: &good.differs })
                .collect(),
            recorded: first(&facts.recorded, names),
            not_proven: &facts.not_proven,
            guidance: guidance(revisions, facts),
        };
        success(message, &data)
    };
    let ladder = Ladder::new(NAMES).fewer(|names| names, |names| names - 1, 1);
    ladder.largest_that_fits(max_tokens, write).answer
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
