//! The answer about a trace within its budget.

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::super::no_data::no_values;
use super::TraceRequest;
use crate::budget::Ladder;
use crate::execution::trace::{Change, ItemsView, Note, Place, Route, Step, Trace, changes};
use crate::json::{CUT_NAME_CHARS, Detail, Excerpt, quoted_name, shorten, shorten_name};
use crate::toolkit::answer::{Truncated, clipped, clipped_both, is_zero, json, success};
use crate::units::counted;

/// The most changes in a step.
const CHANGES: usize = 12;

/// The most characters of a value that changed.
const CHANGE_CHARS: usize = 80;

/// The answer as it is sent: as many steps, with as much of their items, as fit.
pub(super) fn compose(trace: &Trace, route: &Route, items: Option<&ItemsView>, request: &TraceRequest) -> String {
    let message = request.locale.choose("アイテムを追跡しました", "Item traced");
    let answer = Answer { trace, route, items };
    let most = StepLimits { steps: route.steps.len(), chars: 400 };
    most.ladder().largest_that_fits(request.max_tokens, |limits| success(message, &answer.data(limits))).answer
}

/// How much is shown.
#[derive(Clone, Copy)]
struct StepLimits {
    steps: usize,
    /// The most characters of a value.
    chars: usize,
}

impl StepLimits {
    /// Beyond this many characters of each value, another step is worth more.
    const BRIEF_CHARS: usize = 30;

    /// Shorter values, then fewer steps, then both.
    fn ladder(self) -> Ladder<Self> {
        Ladder::new(self)
            .shorter(|limits| &mut limits.chars, |chars| chars * 3 / 4, Self::BRIEF_CHARS)
            .fewer(|limits| &mut limits.steps, |steps| steps * 7 / 8, 5)
            .shorter(|limits| &mut limits.chars, |chars| chars * 3 / 4, 8)
            .fewer(|limits| &mut limits.steps, |steps| steps - 1, 0)
    }

    fn name_chars(self) -> usize {
        if self.chars >= Self::BRIEF_CHARS { CUT_NAME_CHARS } else { self.chars * 2 }
    }

    fn detail(self) -> Detail {
        let Self { chars, .. } = self;
        Detail { chars, elements: (chars / 20).max(1), members: (chars / 4).max(2), name_chars: self.name_chars() }
    }
}

#[derive(Serialize)]
struct TraceAnswer {
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<Truncated>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    steps: Vec<ShownStep>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownStep {
    node_name: String,
    #[serde(skip_serializing_if = "is_zero")]
    run: u64,
    #[serde(skip_serializing_if = "is_zero")]
    output: u64,
    item: u64,
    from: Vec<(String, u64, u64, u64)>,
    #[serde(skip_serializing_if = "is_zero")]
    from_more: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    changed: Option<Members>,
    #[serde(skip_serializing_if = "Option::is_none")]
    json: Option<Box<RawValue>>,
}

/// An object.
struct Members(Vec<(String, Box<RawValue>)>);

impl Serialize for Members {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// What was left out of the values that are shown.
#[derive(Default)]
struct LeftOut {
    clipped: u64,
    is_partial: bool,
}

struct Answer<'a> {
    trace: &'a Trace,
    route: &'a Route,
    items: Option<&'a ItemsView>,
}

impl Answer<'_> {
    fn data(&self, limits: StepLimits) -> TraceAnswer {
        let mut left_out = LeftOut::default();
        let steps = self.route.steps.iter().take(limits.steps).map(|step| self.step(step, limits, &mut left_out));
        let steps = steps.collect();
        TraceAnswer { truncated: self.truncated(limits, &left_out), notes: self.notes(), steps }
    }

    fn step(&self, step: &Step, limits: StepLimits, left_out: &mut LeftOut) -> ShownStep {
        let Place { node, run, output, item } = &step.place;
        let from = step
            .from
            .iter()
            .map(|place| (shorten_name(&place.node, limits.name_chars()), place.run, place.output, place.item));
        let find = |place: &Place| self.items.and_then(|items| items.get(place)).filter(|_| !self.trace.redacted);
        let (new, old) = (find(&step.place), step.single_source().and_then(find));
        let changed = old.zip(new).map(|(old, new)| changed(old, new, limits, left_out));
        let json = new.filter(|_| changed.is_none()).and_then(|item| item.member("json"));
        ShownStep {
            node_name: shorten_name(node, limits.name_chars()),
            run: *run,
            output: *output,
            item: *item,
            from: from.collect(),
            from_more: step.more,
            note: step.note.as_ref().map(|note| self.note(note, limits)),
            changed,
            json: json.map(|value| written(value, limits.detail(), &mut left_out.clipped)),
        }
    }

    fn note(&self, note: &Note, limits: StepLimits) -> String {
        let parent = self.trace.parent.as_ref().and_then(|parent| parent.id.as_deref());
        match note {
            Note::Start => match parent {
                Some(parent) => format!("The execution starts here; execution '{parent}' started it."),
                None => "The execution starts here.".to_owned(),
            },
            Note::NoSource => "The item names no source.".to_owned(),
            Note::SubNode(user) => {
                format!(
                    "An AI sub-node that {} used: its items name no source.",
                    quoted_name(user, limits.name_chars())
                )
            }
            Note::NoItem => "The execution has no such item.".to_owned(),
            Note::NotHeld => "Its lineage is not held.".to_owned(),
            Note::ByPosition => {
                "n8n pairs what code returns by position: the source is wrong if the code reordered the items."
                    .to_owned()
            }
        }
    }

    /// What the limits leave out, and how to see it.
    fn truncated(&self, limits: StepLimits, left_out: &LeftOut) -> Option<Truncated> {
        let mut reasons = Vec::new();
        let steps = self.route.steps.len() - limits.steps;
        if steps > 0 {
            reasons.push(format!(
                "{}: use a larger maxTokens, or trace the last item.",
                counted(steps, "more step", "more steps")
            ));
        }
        if self.route.more > 0 {
            reasons.push(format!(
                "{}: trace the last ones.",
                counted(self.route.more, "more item to follow", "more items to follow")
            ));
        }
        if let Some((node, run)) = &self.trace.stopped {
            let node = quoted_name(node, limits.name_chars());
            reasons.push(format!(
                "The lineage of items is too large to be held: from {node}, run {run}, on it is unknown."
            ));
        }
        if left_out.is_partial {
            reasons.push("Of items above 64 KB, only the beginnings were compared.".to_owned());
        }
        if left_out.clipped > 0 {
            reasons.push("Values were clipped: see get_execution_by_node.".to_owned());
        }
        let clipped_values = (left_out.clipped > 0).then_some(left_out.clipped);
        (!reasons.is_empty()).then(|| Truncated { reason: reasons.join(" "), next_offset: None, clipped_values })
    }

    /// Why there may be nothing to show.
    fn notes(&self) -> Vec<String> {
        let mut notes = no_values(&self.trace.header, &self.trace.names, self.trace.redacted);
        if self.items.is_none() {
            notes.push("The values need a second pass, and standard input can be read only once: save the body to a file and pass the file instead of -.".to_owned());
        }
        notes
    }
}

/// The differences as an object: `+path`, `~path` and `-`.
fn changed(old: &Excerpt, new: &Excerpt, limits: StepLimits, left_out: &mut LeftOut) -> Members {
    let (changes, is_partial) = changes(old, new);
    left_out.is_partial |= is_partial;
    let chars = limits.chars.min(CHANGE_CHARS);
    let (mut members, mut removed) = (Vec::new(), Vec::new());
    for change in changes.iter().take(CHANGES) {
        match change {
            Change::Added(path, new) => {
                let value = clipped(new, chars, &mut left_out.clipped);
                members.push((format!("+{}", shorten(path, chars)), value.get().to_owned()));
            }
            Change::Changed(path, old, new) => {
                let [old, new] = clipped_both(old, new, chars, &mut left_out.clipped);
                members.push((format!("~{}", shorten(path, chars)), format!("[{old},{new}]")));
            }
            Change::Removed(path) => removed.push(shorten(path, chars)),
        }
    }
    if !removed.is_empty() {
        members.push(("-".to_owned(), serde_json::Value::from(removed).to_string()));
    }
    let more = changes.len().saturating_sub(CHANGES);
    if more > 0 {
        members.push(("…".to_owned(), format!("\"+{}\"", counted(more, "change", "changes"))));
    }
    Members(members.into_iter().map(|(name, text)| (name, json(&text))).collect())
}

fn written(value: &Excerpt, detail: Detail, clipped: &mut u64) -> Box<RawValue> {
    let mut text = String::new();
    value.write(detail, &mut text, clipped);
    json(&text)
}
