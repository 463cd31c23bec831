//! What a replay shows: the verdict, derived from facts alone.

use std::collections::HashSet;

use super::copies::Replayed;
use super::expectation::Expectation;
use super::not_proven::{not_proven, of_base, of_fewer_items};
use super::other_requests::unanswered;
use super::{Case, Good, shown_id};
use crate::execution::recording::{RecordedNode, RecordedOutput, Recording};
use crate::toolkit::Locale;
use crate::tools::proof::differences::{Difference, Pair};
use crate::tools::proof::recorded::{alike, failure};
use crate::tools::proof::revisions::Revisions;
use crate::workflow::parsed::ParsedNode;
use crate::workflow::replay::{goes_on_after_errors, hides_errors, original_name};

/// The verdict. Only [`Fixed`](Self::Fixed) claims that something is proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The unchanged workflow failed again as before, and the changed one did not: its node ran, with items, without an error.
    Fixed,
    /// The same, but an earlier good execution would now return something else.
    FixedButChanges,
    /// The same node fails with the same message.
    StillFails,
    /// The same node fails with another message.
    FailsDifferently,
    /// Another node fails.
    FailsElsewhere,
    /// The node that failed did not run.
    NotReached,
    /// The error now appears in items.
    ErrorNowInItems,
    /// The node is disabled.
    Bypassed,
    /// The node received items and returned none.
    Emptied,
    /// The execution had not failed, and some nodes return something else.
    OutputsChanged,
    /// The execution had not failed, and all nodes return the same.
    SameOutputs,
    /// An expected value does not occur, or an unexpected one does.
    NotMet,
    /// A node received a request that was not recorded.
    NeedsOutside,
    /// The change, or the failure, is in a node that answers from the recording.
    NotTested,
    /// The unchanged workflow does not behave as it did.
    NotReproduced,
    /// The workflow has not changed since it ran.
    Unchanged,
    /// Only the unchanged workflow was checked, and it did the same at every node.
    Reproduced,
}

impl Verdict {
    /// Its name in an answer.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::FixedButChanges => "fixedButChanges",
            Self::StillFails => "stillFails",
            Self::FailsDifferently => "failsDifferently",
            Self::FailsElsewhere => "failsElsewhere",
            Self::NotReached => "notReached",
            Self::ErrorNowInItems => "errorNowInItems",
            Self::Bypassed => "bypassed",
            Self::Emptied => "emptied",
            Self::OutputsChanged => "outputsChanged",
            Self::SameOutputs => "sameOutputs",
            Self::NotMet => "notMet",
            Self::NeedsOutside => "needsOutside",
            Self::NotTested => "notTested",
            Self::NotReproduced => "notReproduced",
            Self::Unchanged => "unchanged",
            Self::Reproduced => "reproduced",
        }
    }
}

/// Everything that an answer is based on.
pub(super) struct Facts {
    /// The execution's id.
    pub id: String,
    pub verdict: Verdict,
    /// Whether the unchanged workflow did the same again; `None` if it was not run.
    pub reproduced: Option<bool>,
    /// The node that failed, and its message.
    pub failed: Option<(String, String)>,
    /// The node that fails now, and its message.
    pub fails_now: Option<(String, String)>,
    /// What that node now received and returned, and in how many runs.
    pub node: Option<NodeFacts>,
    /// Whether the node that failed went well now; `None` if none had failed, or nothing was run.
    pub passed: Option<bool>,
    /// The nodes that ran now and had not.
    pub ran_new: Vec<String>,
    /// The nodes that returned something else, or ended in another way.
    pub differs: Vec<Difference>,
    /// The nodes for whose requests there is no recorded answer.
    pub unanswered: Vec<String>,
    /// How many returned the same.
    pub same: usize,
    /// What was expected, and how often it occurred: recorded, and now.
    pub expected: Vec<(String, [u64; 2])>,
    /// Earlier good executions, run with the changed workflow.
    pub good: Vec<Good>,
    /// The nodes that ran and answered from the recording.
    pub recorded: Vec<String>,
    /// What the verdict does not cover, in sentences.
    pub not_proven: Vec<String>,
}

/// The behaviour of a node.
pub(super) struct NodeFacts {
    pub name: String,
    pub items: [u64; 2],
    pub runs: usize,
}

impl Facts {
    /// What is known without a replay.
    pub(super) fn without_replay(
        id: &str,
        locale: Locale,
        recording: &Recording,
        revisions: &Revisions,
        verdict: Verdict,
    ) -> Self {
        Self {
            id: shown_id(id, recording).to_owned(),
            verdict,
            reproduced: None,
            failed: failure(recording),
            fails_now: None,
            node: None,
            passed: None,
            ran_new: Vec::new(),
            differs: Vec::new(),
            unanswered: Vec::new(),
            same: 0,
            expected: Vec::new(),
            good: Vec::new(),
            recorded: Vec::new(),
            not_proven: of_base(locale, revisions).into_iter().collect(),
        }
    }
}

/// The verdict that is certain before anything runs.
pub(super) fn before(recording: &Recording, revisions: &Revisions, played: &HashSet<String>) -> Option<Verdict> {
    if revisions.is_original() {
        return None;
    }
    if revisions.changed.is_empty() && revisions.changed_settings.is_empty() {
        return Some(Verdict::Unchanged);
    }
    let fails_in_played = recording.failed_node().is_some_and(|failed| played.contains(failed));
    let is_untested = |name: &str| {
        revisions.name_then(name).is_some_and(|then| played.contains(then)) && revisions.acts_otherwise(name)
    };
    (fails_in_played || revisions.names_in_copy().into_iter().any(is_untested)).then_some(Verdict::NotTested)
}

/// The verdict after the copies have run; that of the unchanged workflow is its own control.
pub(super) fn judge(id: &str, case: &Case<'_>, control: &Replayed, changed: &Replayed) -> Facts {
    let Case { recording, revisions, played, .. } = *case;
    let now = &changed.recording;
    let differs = differences(recording, now, case);
    let is_new = |name: &&str| revisions.name_then(name).is_none_or(|then| !recording.nodes.contains_key(then));
    let ran_now = now.nodes.keys().filter_map(|name| original_name(name));
    let ran_new: Vec<_> = ran_now.filter(is_new).map(str::to_owned).collect();
    let unanswered = if revisions.is_original() { Vec::new() } else { unanswered(case, now, &differs) };
    let reproduced = (differs.is_empty() || !revisions.is_original()) && reproduces(case, control);
    let verdict = match reproduced {
        false => Verdict::NotReproduced,
        true if revisions.is_original() => Verdict::Reproduced,
        true if !unanswered.is_empty() => Verdict::NeedsOutside,
        true => verdict(case, changed, &ran_new, &differs),
    };
    let kept = revisions.names_in_control();
    let compared = recording.nodes.keys().filter(|name| kept.contains(name.as_str())).count();
    let mut recorded: Vec<_> =
        recording.nodes.keys().filter(|name| played.contains(*name) && kept.contains(name.as_str())).cloned().collect();
    recorded.sort();
    let failed = failure(recording);
    let counts = case.recorded.iter().zip(&changed.hits).map(|(then, now)| [*then, *now]);
    let node = failed.as_ref().and_then(|(name, _)| node_facts(revisions.now.node(revisions.name_now(name)?)?, now));
    let passed = failed.as_ref().map(|(name, _)| at_failed_node(case, now, name) == Verdict::Fixed);
    let mut not_proven = not_proven(case, &differences_of_control(&control.recording, case), now, &differs);
    if let (Some(true), Some(node), Some((failed, _))) = (passed, &node, &failed) {
        let then = recording.nodes.get(failed).map_or(0, |then| items_received(recording, then));
        not_proven.extend(of_fewer_items(case.locale, &node.name, then, node.items[0]));
    }
    Facts {
        reproduced: Some(reproduced),
        fails_now: failure(now),
        node,
        passed,
        ran_new,
        same: compared.saturating_sub(differs.len()),
        not_proven,
        differs,
        unanswered,
        expected: case.expected.iter().map(Expectation::words).zip(counts).collect(),
        recorded,
        failed,
        ..Facts::without_replay(id, case.locale, recording, revisions, verdict)
    }
}

/// Whether the unchanged workflow did the same again.
fn reproduces(case: &Case<'_>, control: &Replayed) -> bool {
    let again = &control.recording;
    let fails_again = match (failure(case.recording), failure(again)) {
        (Some((node, message)), Some((other, said))) => node == other && alike(&message, &said),
        (None, None) => differences_of_control(again, case).is_empty(),
        _ => false,
    };
    fails_again && control.hits == case.recorded
}

/// The verdict where the control did the same again, and every request has its recorded answer.
fn verdict(case: &Case<'_>, changed: &Replayed, ran_new: &[String], differs: &[Difference]) -> Verdict {
    let Case { recording, revisions, .. } = *case;
    let fails_now = failure(&changed.recording);
    // A node that is new and would reach outside was not run.
    let untested = revisions.new_and_played();
    if ran_new.iter().any(|name| untested.contains(name.as_str())) {
        return Verdict::NeedsOutside;
    }
    let fixed = if untested.is_empty() { Verdict::Fixed } else { Verdict::NotTested };
    let met = |hits: &[u64]| case.expected.iter().zip(hits).all(|(one, hits)| one.is_met_by(*hits));
    let (is_met, was_met) = (met(&changed.hits), met(case.recorded));
    let Some((failed, message)) = failure(recording) else {
        return match (fails_now, differs.is_empty()) {
            (Some(_), _) => Verdict::FailsElsewhere,
            _ if !is_met => Verdict::NotMet,
            _ if !was_met => fixed,
            (None, true) => Verdict::SameOutputs,
            (None, false) => Verdict::OutputsChanged,
        };
    };
    if let Some((node, said)) = fails_now {
        let parsed = revisions.name_now(&failed).filter(|name| *name == node).and_then(|name| revisions.now.node(name));
        return match parsed {
            // Its copy shows the error that the node itself would hide.
            Some(parsed) if goes_on_after_errors(parsed) => Verdict::ErrorNowInItems,
            Some(_) if alike(&message, &said) => Verdict::StillFails,
            Some(_) => Verdict::FailsDifferently,
            None => Verdict::FailsElsewhere,
        };
    }
    match at_failed_node(case, &changed.recording, &failed) {
        Verdict::Fixed if !is_met => Verdict::NotMet,
        Verdict::Fixed => fixed,
        other => other,
    }
}

/// [`Verdict::Fixed`] if the node that had failed went well, or else what is wrong with it.
fn at_failed_node(case: &Case<'_>, now: &Recording, failed: &str) -> Verdict {
    let Case { recording, revisions, .. } = *case;
    let Some(parsed) = revisions.name_now(failed).and_then(|name| revisions.now.node(name)) else {
        return Verdict::NotReached;
    };
    if parsed.is_disabled {
        return Verdict::Bypassed;
    }
    let Some(node) = now.nodes.get(&parsed.name) else { return Verdict::NotReached };
    let then = recording.nodes.get(failed);
    let before = then.map_or(0, |node| errors(node, revisions.ran.node(failed)));
    // Items with a member `error` that the node had received are values like any other: some services answer so.
    let runs_then = then.into_iter().flat_map(|node| &node.runs);
    let received_then: u64 = runs_then.flat_map(|run| recording.inputs(run)).map(|output| output.errors).sum();
    let received = node.runs.iter().flat_map(|run| now.inputs(run));
    match () {
        () if node.runs.iter().any(|run| run.failed) => Verdict::ErrorNowInItems,
        () if errors(node, Some(parsed)) > before.max(received_then) => Verdict::ErrorNowInItems,
        () if returned(node, Some(parsed)) == 0 => Verdict::Emptied,
        // n8n adds an empty item if a node is set to return one always.
        () if filled(passed_on(node, Some(parsed))) == 0 && filled(received) > 0 => Verdict::Emptied,
        () => Verdict::Fixed,
    }
}

/// The items of a node that stand for an error.
fn errors(node: &RecordedNode, parsed: Option<&ParsedNode>) -> u64 {
    let has_error_output = |parsed: &ParsedNode| parsed.on_error.as_deref() == Some("continueErrorOutput");
    // One that would hide them has no such output in a copy.
    let has_error_output = parsed.is_some_and(|parsed| has_error_output(parsed) && !hides_errors(parsed));
    let last = node
        .runs
        .iter()
        .flat_map(|run| run.outputs.iter().skip(1).next_back())
        .map(|output| output.hashes.len() as u64);
    node.errors() + if has_error_output { last.sum() } else { 0 }
}

/// The nodes of the execution that returned something else in the changed workflow, or ended in another way.
pub(super) fn differences(then: &Recording, now: &Recording, case: &Case<'_>) -> Vec<Difference> {
    let (revisions, kept) = (case.revisions, case.revisions.names_in_copy());
    let pair = Pair { then, now, name_now: &|name| revisions.name_now(name), played: case.played };
    // A copy also has nodes that are not of the workflow.
    pair.differences(|name| {
        revisions.ran.node(name).is_some() && revisions.name_now(name).is_none_or(|name| kept.contains(name))
    })
}

/// The nodes of the execution that did something else in the control.
pub(super) fn differences_of_control(control: &Recording, case: &Case<'_>) -> Vec<Difference> {
    let kept = case.revisions.names_in_control();
    let pair = Pair { then: case.recording, now: control, name_now: &|name| Some(name), played: case.played };
    pair.differences(|name| kept.contains(name))
}

/// The outputs of a node that lead somewhere.
fn passed_on<'a>(node: &'a RecordedNode, parsed: Option<&ParsedNode>) -> impl Iterator<Item = &'a RecordedOutput> {
    /// n8n records what it drops as a second output, which leads nowhere.
    const FILTER: &str = "n8n-nodes-base.filter";
    let most = if parsed.is_some_and(|parsed| parsed.is(FILTER)) { 1 } else { usize::MAX };
    node.runs.iter().flat_map(move |run| run.outputs.iter().take(most))
}

/// The items that a node passed on.
fn returned(node: &RecordedNode, parsed: Option<&ParsedNode>) -> u64 {
    passed_on(node, parsed).map(|output| output.hashes.len() as u64).sum()
}

/// How many of the items have values or files.
fn filled<'a>(outputs: impl Iterator<Item = &'a RecordedOutput>) -> u64 {
    outputs.map(|output| (output.hashes.len() as u64).saturating_sub(output.empty)).sum()
}

fn node_facts(parsed: &ParsedNode, now: &Recording) -> Option<NodeFacts> {
    let (name, node) = (&parsed.name, now.nodes.get(&parsed.name)?);
    let items = [items_received(now, node), returned(node, Some(parsed))];
    Some(NodeFacts { name: name.clone(), items, runs: node.runs.len() })
}

/// How many items a node received in all of its runs.
fn items_received(recording: &Recording, node: &RecordedNode) -> u64 {
    node.runs.iter().filter_map(|run| recording.received(run)).map(|items| items.len() as u64).sum()
}
