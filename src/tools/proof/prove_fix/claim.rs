//! The sentence to repeat: from the verdict by a table, never free text.

use super::answer::{MESSAGE_CHARS, NAMES};
use super::verdict::{Facts, Verdict};
use crate::execution::recording::Recording;
use crate::json::shorten;
use crate::tools::proof::revisions::Revisions;
use crate::units::counted;

/// The sentence to repeat.
pub(super) fn claim(recording: &Recording, revisions: &Revisions, facts: &Facts) -> String {
    let id = &facts.id;
    let what = match &revisions.version_id {
        Some(version) => format!("{} {}", revisions.kind, short(version)),
        None => revisions.kind.to_owned(),
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
        Verdict::Fixed if facts.failed.is_none() => {
            format!("{with} returns in {what} what was expected, which it had not: {}. {outside}", expected(facts))
        }
        Verdict::NotMet => format!("{with} does not return in {what} what was expected: {}.", expected(facts)),
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
        Verdict::NeedsOutside => {
            let asked = facts.fails_now.as_ref().map_or_else(|| list(&facts.ran_new), |(node, _)| node.clone());
            let passes = items.map(|items| format!("{failed} passes ({items}), but ")).unwrap_or_default();
            format!(
                "Nothing is proven: in {what} {passes}{asked} would need an answer that was not recorded, and outside services are not \
                 called."
            )
        }
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
        Verdict::Reproduced => {
            format!("{with} does the same again at every node in the unchanged workflow. {outside}")
        }
        Verdict::Unchanged => format!("Nothing is proven: {what} is the workflow that execution {id} ran."),
    }
}

fn expected(facts: &Facts) -> String {
    let words = facts.expected.iter().map(|(what, [then, now])| format!("{what} ({then} recorded, {now} now)"));
    words.collect::<Vec<_>>().join("; ")
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

fn list(names: &[String]) -> String {
    let shown: Vec<_> = names.iter().take(NAMES).map(|name| shorten(name, 80)).collect();
    if shown.is_empty() { "nothing".to_owned() } else { shown.join(", ") }
}

/// The beginning of a version's id.
fn short(version: &str) -> String {
    version.chars().take(8).collect()
}
