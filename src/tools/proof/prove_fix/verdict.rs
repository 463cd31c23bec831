//! What a replay shows: the verdict, derived from facts alone.

use std::collections::HashSet;

use super::copies::Replayed;
use super::expectation::Expectation;
use super::{Case, Good, shown_id};
use crate::execution::compare::ValueDifference;
use crate::execution::recording::{RecordedNode, RecordedOutput, RecordedRun, Recording};
use crate::tools::proof::recorded::{alike, failure};
use crate::tools::proof::revisions::Revisions;
use crate::workflow::parsed::ParsedNode;
use crate::workflow::replay::{DATE_TIME, NOT_RECORDED, depends_on_more_than_items, original_name};

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
    /// The nodes that ran now but not before.
    pub ran_new: Vec<String>,
    /// The nodes that returned something else, or ended differently, by their names in the execution.
    pub differs: Vec<String>,
    /// How each of them ended, recorded and now, if it ended differently.
    pub statuses: Vec<(String, [&'static str; 2])>,
    /// Nodes that returned the same values but different `files` or `pairedItem`, and which of the two.
    pub only: Vec<(String, &'static str)>,
    /// Their first values that differ from the recording: now, and recorded.
    pub values: Vec<ValueDifference>,
    /// How many nodes returned the same.
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
    /// The facts known without a replay.
    pub(super) fn without_replay(id: &str, recording: &Recording, verdict: Verdict) -> Self {
        Self {
            id: shown_id(id, recording).to_owned(),
            verdict,
            reproduced: None,
            failed: failure(recording),
            fails_now: None,
            node: None,
            ran_new: Vec::new(),
            differs: Vec::new(),
            statuses: Vec::new(),
            only: Vec::new(),
            values: Vec::new(),
            same: 0,
            expected: Vec::new(),
            good: Vec::new(),
            recorded: Vec::new(),
            not_proven: Vec::new(),
        }
    }
}

/// The verdict that is certain before anything runs.
pub(super) fn before(recording: &Recording, revisions: &Revisions, played: &HashSet<String>) -> Option<Verdict> {
    if revisions.is_original() {
        return None;
    }
    if revisions.changed.is_empty() {
        return Some(Verdict::Unchanged);
    }
    let fails_in_played = recording.failed_node().is_some_and(|failed| played.contains(failed));
    let is_untested = |name: &String| {
        let then = revisions.name_then(name);
        played.contains(then) && revisions.ran.node(then).is_some() && revisions.acts_otherwise(name)
    };
    (fails_in_played || revisions.changed.iter().any(is_untested)).then_some(Verdict::NotTested)
}

/// The verdict after both copies have run.
pub(super) fn judge(id: &str, case: &Case<'_>, control: &Replayed, changed: &Replayed) -> Facts {
    let Case { recording, revisions, played, .. } = *case;
    let now = &changed.recording;
    let differs = differences(recording, now, case);
    let is_new = |name: &&str| !recording.nodes.contains_key(revisions.name_then(name));
    let ran_now = now.nodes.keys().filter_map(|name| original_name(name));
    let ran_new: Vec<_> = ran_now.filter(is_new).map(str::to_owned).collect();
    let reproduced = (differs.is_empty() || !revisions.is_original()) && reproduces(case, control);
    let verdict = match reproduced {
        false => Verdict::NotReproduced,
        true if revisions.is_original() => Verdict::Reproduced,
        true => verdict(case, changed, &ran_new, &differs),
    };
    let kept = revisions.names_in_control();
    let compared = recording.nodes.keys().filter(|name| kept.contains(name.as_str())).count();
    let mut recorded: Vec<_> =
        recording.nodes.keys().filter(|name| played.contains(*name) && kept.contains(name.as_str())).cloned().collect();
    recorded.sort();
    let failed = failure(recording);
    let counts = case.recorded.iter().zip(&changed.hits).map(|(then, now)| [*then, *now]);
    Facts {
        verdict,
        reproduced: Some(reproduced),
        fails_now: failure(now),
        node: failed.as_ref().and_then(|(name, _)| node_facts(revisions.now.node(revisions.name_now(name)?)?, now)),
        ran_new,
        statuses: statuses(&differs, recording, now, revisions),
        only: only(&differs, recording, now, revisions),
        same: compared.saturating_sub(differs.len()),
        not_proven: not_proven(case, now, &differs),
        differs,
        expected: case.expected.iter().map(Expectation::words).zip(counts).collect(),
        recorded,
        failed,
        ..Facts::without_replay(id, recording, verdict)
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

/// The verdict when the control did the same again.
fn verdict(case: &Case<'_>, changed: &Replayed, ran_new: &[String], differs: &[String]) -> Verdict {
    let Case { recording, revisions, played, .. } = *case;
    let (now, fails_now) = (&changed.recording, failure(&changed.recording));
    let asks_outside = fails_now.as_ref().is_some_and(|(_, message)| message.contains(NOT_RECORDED));
    // A new node that would reach outside was not run.
    let is_new_and_played = |name: &String| {
        played.contains(revisions.name_then(name)) && revisions.ran.node(revisions.name_then(name)).is_none()
    };
    if asks_outside || revisions.changed.iter().any(|name| is_new_and_played(name) && ran_new.contains(name)) {
        return Verdict::NeedsOutside;
    }
    let met = |hits: &[u64]| case.expected.iter().zip(hits).all(|(one, hits)| one.is_met_by(*hits));
    let (is_met, was_met) = (met(&changed.hits), met(case.recorded));
    let Some((failed, message)) = failure(recording) else {
        return match (fails_now, differs.is_empty()) {
            (Some(_), _) => Verdict::FailsElsewhere,
            _ if !is_met => Verdict::NotMet,
            _ if !was_met => Verdict::Fixed,
            (None, true) => Verdict::SameOutputs,
            (None, false) => Verdict::OutputsChanged,
        };
    };
    let name_now = revisions.name_now(&failed);
    if let Some((node, said)) = fails_now {
        return match Some(node.as_str()) == name_now {
            true if alike(&message, &said) => Verdict::StillFails,
            true => Verdict::FailsDifferently,
            false => Verdict::FailsElsewhere,
        };
    }
    let Some(name_now) = name_now else { return Verdict::NotReached };
    let parsed = revisions.now.node(name_now);
    if parsed.is_some_and(|node| node.is_disabled) {
        return Verdict::Bypassed;
    }
    let Some(node) = now.nodes.get(name_now) else { return Verdict::NotReached };
    let before = recording.nodes.get(&failed).map_or(0, |node| errors(node, revisions.ran.node(&failed)));
    if node.runs.iter().any(|run| run.failed) || errors(node, parsed) > before {
        return Verdict::ErrorNowInItems;
    }
    if returned(node, parsed) == 0 {
        return Verdict::Emptied;
    }
    match revisions.changed.iter().any(is_new_and_played) {
        _ if !is_met => Verdict::NotMet,
        true => Verdict::NotTested,
        false => Verdict::Fixed,
    }
}

/// The items of a node that stand for an error.
fn errors(node: &RecordedNode, parsed: Option<&ParsedNode>) -> u64 {
    let has_error_output = parsed.is_some_and(|parsed| parsed.on_error.as_deref() == Some("continueErrorOutput"));
    let last = node
        .runs
        .iter()
        .flat_map(|run| run.outputs.iter().skip(1).next_back())
        .map(|output| output.hashes.len() as u64);
    node.errors() + if has_error_output { last.sum() } else { 0 }
}

/// The nodes of the execution that returned something else in the changed workflow, or ended differently.
pub(super) fn differences(then: &Recording, now: &Recording, case: &Case<'_>) -> Vec<String> {
    let (revisions, kept) = (case.revisions, case.revisions.names_in_copy());
    // A copy also has nodes that the workflow does not have.
    let is_own = |name: &str| revisions.ran.node(name).is_some();
    let differs = |name: &str, node: &RecordedNode| {
        let name_now = revisions.name_now(name);
        let is_compared = is_own(name) && name_now.is_none_or(|name| kept.contains(name));
        is_compared && !did_the_same(node, name_now.and_then(|name| now.nodes.get(name)), case.played.contains(name))
    };
    differing(then, differs)
}

/// The nodes of the execution that behaved differently in the control.
fn differences_of_control(control: &Recording, case: &Case<'_>) -> Vec<String> {
    let kept = case.revisions.names_in_control();
    differing(case.recording, |name, node| {
        kept.contains(name) && !did_the_same(node, control.nodes.get(name), case.played.contains(name))
    })
}

fn differing(then: &Recording, differs: impl Fn(&str, &RecordedNode) -> bool) -> Vec<String> {
    then.nodes.iter().filter(|(name, node)| differs(name, node)).map(|(name, _)| name.clone()).collect()
}

/// Whether a node ran again, returned the same, and ended in the same way. Two checks are skipped for a node that answers from the
/// recording: what its items came from, since with several outputs it is a Switch in the copy, and whether it went on after an error,
/// since it only returns the items that stand for it.
fn did_the_same(then: &RecordedNode, now: Option<&RecordedNode>, is_played: bool) -> bool {
    let ended =
        |run: &RecordedRun| run.failed && (!is_played || run.outputs.iter().all(|output| output.hashes.is_empty()));
    let failed = |node: &RecordedNode| node.runs.iter().any(ended);
    now.is_some_and(|now| {
        let is_same = |of: fn(&RecordedOutput) -> u64| outputs(then, of) == outputs(now, of);
        outputs(then, values) == outputs(now, values)
            && is_same(|output| output.files)
            && (is_played || is_same(|output| output.pairing))
            && failed(then) == failed(now)
    })
}

fn values(output: &RecordedOutput) -> Vec<u64> {
    output.hashes.clone()
}

/// The value of `of` for each output with items, per run.
fn outputs<T: PartialEq>(node: &RecordedNode, of: impl Fn(&RecordedOutput) -> T) -> Vec<Vec<(usize, T)>> {
    let with_items = |run: &RecordedRun| {
        let outputs = run.outputs.iter().enumerate().filter(|(_, output)| !output.hashes.is_empty());
        outputs.map(|(at, output)| (at, of(output))).collect()
    };
    node.runs.iter().map(with_items).collect()
}

/// For nodes whose values and endings are the same: whether `files` or `pairedItem` differ.
fn only(nodes: &[String], then: &Recording, now: &Recording, revisions: &Revisions) -> Vec<(String, &'static str)> {
    let what = |name: &String| {
        let (then, now) = (then.nodes.get(name)?, now.nodes.get(revisions.name_now(name)?)?);
        let is_other = |of: fn(&RecordedOutput) -> u64| outputs(then, of) != outputs(now, of);
        match () {
            () if outputs(then, values) != outputs(now, values) => None,
            () if is_other(|output| output.files) => Some((name.clone(), "files")),
            () if is_other(|output| output.pairing) => Some((name.clone(), "pairedItem")),
            () => None,
        }
    };
    nodes.iter().filter_map(what).collect()
}

/// How each of these nodes ended, if it ended differently.
fn statuses(
    nodes: &[String],
    then: &Recording,
    now: &Recording,
    revisions: &Revisions,
) -> Vec<(String, [&'static str; 2])> {
    let status = |node: Option<&RecordedNode>| match node.and_then(|node| node.runs.last()) {
        None => "notRun",
        Some(run) if run.failed => "error",
        Some(_) => "success",
    };
    let both = |name: &String| {
        let name_now = revisions.name_now(name);
        let both = [status(then.nodes.get(name)), status(name_now.and_then(|name| now.nodes.get(name)))];
        (both[0] != both[1]).then(|| (name.clone(), both))
    };
    nodes.iter().filter_map(both).collect()
}

/// The items that a node passed on.
fn returned(node: &RecordedNode, parsed: Option<&ParsedNode>) -> u64 {
    /// n8n records discarded items as a second output, which leads nowhere.
    const FILTER: &str = "n8n-nodes-base.filter";
    if parsed.is_none_or(|parsed| !parsed.is(FILTER)) {
        return node.items();
    }
    node.runs.iter().filter_map(|run| run.outputs.first()).map(|kept| kept.hashes.len() as u64).sum()
}

fn node_facts(parsed: &ParsedNode, now: &Recording) -> Option<NodeFacts> {
    let (name, node) = (&parsed.name, now.nodes.get(&parsed.name)?);
    let received = node.runs.iter().filter_map(|run| now.received(run)).map(|items| items.len() as u64).sum();
    Some(NodeFacts { name: name.clone(), items: [received, returned(node, Some(parsed))], runs: node.runs.len() })
}

/// What the verdict does not cover.
fn not_proven(case: &Case<'_>, now: &Recording, differs: &[String]) -> Vec<String> {
    let (other_input, depends) =
        (with_other_input(case, now).join(", "), depend_on_more(case, now, differs).join(", "));
    let mut sentences = Vec::new();
    let mut say = |ja: String, en: String| sentences.push(case.locale.choose(ja, en));
    if case.recording.header.retry_of.is_some() {
        say(
            "この実行は再試行です。最初のノードは別のバージョンのワークフローで実行された可能性があります。".to_owned(),
            "The execution is a retry: its first nodes may have run another version of the workflow.".to_owned(),
        );
    }
    if !other_input.is_empty() {
        say(
            format!(
                "記録と異なる入力に対して記録から応答したノード: {other_input}。後続の結果はその記録に基づいています。"
            ),
            format!(
                "Answered from the recording, with other input than recorded: {other_input}. What follows rests on their recorded answers."
            ),
        );
    }
    if !depends.is_empty() {
        say(
            format!("時刻、乱数など、アイテム以外のものに依存するノード: {depends}。"),
            format!("Depend on the time, chance or something else outside of the items: {depends}."),
        );
    }
    sentences
}

/// The nodes that answered from the recording, with other input than recorded.
fn with_other_input<'a>(case: &Case<'a>, now: &Recording) -> Vec<&'a str> {
    let Case { recording, revisions, played, .. } = *case;
    let received = |recording: &Recording, node: &RecordedNode| -> Vec<_> {
        let sorted = |run: &RecordedRun| {
            let mut items = recording.received(run)?;
            items.sort_unstable();
            Some(items)
        };
        node.runs.iter().map(sorted).collect()
    };
    let has_other_input = |(name, node): &(&String, &RecordedNode)| {
        let again = revisions.name_now(name).and_then(|name| now.nodes.get(name)).filter(|_| played.contains(*name));
        let is_fed = node.runs.first().is_some_and(|run| !run.sources.is_empty());
        is_fed && again.is_some_and(|again| received(recording, node) != received(now, again))
    };
    recording.nodes.iter().filter(has_other_input).map(|(name, _)| name.as_str()).collect()
}

/// The nodes that ran for real and depend on more than their items.
fn depend_on_more<'a>(case: &Case<'a>, now: &Recording, differs: &[String]) -> Vec<&'a str> {
    let Case { revisions, played, .. } = *case;
    let ran_for_real =
        |node: &&ParsedNode| now.nodes.contains_key(&node.name) && !played.contains(revisions.name_then(&node.name));
    // A Date & Time node without a date takes the current one, which only its items show.
    let has_other_date =
        |node: &ParsedNode| node.is(DATE_TIME) && revisions.is_original() && differs.contains(&node.name);
    let nodes = revisions.now.workflow.nodes.iter().filter(ran_for_real);
    let depends = nodes.filter(|node| depends_on_more_than_items(node) || has_other_date(node));
    depends.map(|node| node.name.as_str()).collect()
}
