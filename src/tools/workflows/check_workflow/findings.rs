//! What is wrong with a reference, judged by the items of an execution.

use serde_json::{Map, Value, json};

use super::grounds::Evidence;
use super::questions::{ReferenceQuestion, RequiredNode};
use super::row::{First, Row};
use crate::execution::lookup::{Found, KINDS, Of, Outcome, Place, Question, RunsView, Step, is_close, path_text};

/// With fewer items, a path that none of them has may just be rare.
const FEW_ITEMS: u64 = 5;

/// The index of null among the kinds.
const NULL: usize = 0;

/// The problem of a node that had not run when its items were read, if it had not.
pub(super) fn not_run(asked: &RequiredNode, runs: &RunsView) -> Option<Row> {
    let output = &asked.output;
    let detail = match () {
        () if runs.runs_of(&asked.asking) == 0 || runs.is_pinned(output) => return None,
        () if runs.runs_of(output) == 0 => format!("'{output}' did not run."),
        () if asked.is_later && runs.ran_before(&asked.asking, output) => format!("'{output}' ran only after it."),
        () => return None,
    };
    Some(Row {
        detail: Some(detail),
        parameter: Some(asked.parameter.clone()),
        reference: Some(asked.reference.clone()),
        ..Row::new("nodeNotRun", "error", &asked.node)
    })
}

/// Whether the node whose items a reference reads ran only after it.
pub(super) fn is_of_later(asked: &ReferenceQuestion, runs: &RunsView) -> bool {
    let Question { node, of, .. } = &asked.question;
    asked.is_of_later && matches!(of, Of::Output { node: other, .. } if runs.ran_before(node, other))
}

/// The references of a workflow, with what was found of each.
pub(super) struct Answered<'a> {
    pub references: &'a [ReferenceQuestion],
    pub evidence: &'a [Evidence<'a>],
}

impl<'a> Answered<'a> {
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'a ReferenceQuestion, &'a Evidence<'a>)> {
        self.references.iter().zip(self.evidence)
    }
}

/// The problem of a reference, if it has one.
pub(super) fn finding(
    asked: &ReferenceQuestion,
    evidence: &Evidence<'_>,
    all: &Answered<'_>,
    runs: &RunsView,
) -> Option<Row> {
    let found = evidence.found;
    match asked.meant {
        _ if found.outcome != Outcome::LookedUp => None,
        _ if found.items == 0 => beyond_the_list(asked, evidence.list?, runs),
        _ if is_alternative(asked, found, all) => None,
        Some(meant) => misplaced(asked, found, meant),
        None => looked_up(asked, evidence),
    }
}

/// The problem of a number that no list of items reaches: `all()[9]`. An empty list says nothing.
fn beyond_the_list(asked: &ReferenceQuestion, list: &Found, runs: &RunsView) -> Option<Row> {
    let of = match &asked.question.of {
        Of::Input(_) => Some(&asked.question.node),
        Of::Output { node, outputs, .. } => (outputs.len() == 1).then_some(node),
    };
    let is_one_list = of.is_some_and(|node| runs.runs_of(node) == 1);
    let detail = match list.items {
        1 if is_one_list => "There is 1 item.".to_owned(),
        items if is_one_list => format!("There are {items} items."),
        _ => "No run has so many items.".to_owned(),
    };
    let is_beyond = list.outcome == Outcome::LookedUp && list.items > 0 && !asked.is_guarded;
    is_beyond.then(|| Row {
        items: Some(list.items),
        have: Some(0),
        detail: Some(detail),
        ..row_of(asked, "missingField", if list.items < FEW_ITEMS { "warning" } else { "error" })
    })
}

/// The problem of a reference in which something is missing before the path. It is certain only if the items have the path.
fn misplaced(asked: &ReferenceQuestion, found: &Found, meant: &str) -> Option<Row> {
    let path = path_text(&asked.question.path);
    let dot = if path.is_empty() || path.starts_with('[') { "" } else { "." };
    (found.have > 0).then(|| Row {
        items: Some(found.items),
        have: Some(0),
        near: Some(format!("{meant}{dot}{path}")),
        has_default: asked.is_guarded,
        ..row_of(asked, "missingField", "error")
    })
}

/// Whether the reference surely reads all items that were looked at.
fn reads_all(asked: &ReferenceQuestion, found: &Found, received: Option<u64>) -> bool {
    match asked.question.of {
        _ if found.items == 1 => true,
        _ if asked.is_computed => false,
        Of::Input(_) => true,
        // Otherwise it reads one item of each run and output, or it is not known which items the current ones came from.
        Of::Output { .. } => received.is_some_and(|received| received >= found.items),
    }
}

/// Whether a text shows a value of this kind as it is: a text, a number or a boolean.
fn is_plain(kind: usize) -> bool {
    matches!(KINDS[kind], "string" | "number" | "boolean")
}

/// Whether no value has a length: none is a text or a list, and no object has a field of that name.
fn lacks_length(found: &Found, length: &Found) -> bool {
    let of = |kind: &str| KINDS.iter().position(|known| *known == kind).map_or(0, |kind| found.kinds[kind]);
    let is_known = length.outcome == Outcome::LookedUp && length.have == 0;
    is_known && of("string") + of("array") == 0 && found.have > found.kinds[NULL]
}

/// Whether the expression also reads what was probably meant, or something else with a name like it that exists:
/// `$json.mail ?? $json.Mail`.
fn is_alternative(asked: &ReferenceQuestion, found: &Found, all: &Answered<'_>) -> bool {
    let near = if asked.meant.is_some() { Some(&asked.question.path) } else { found.near.as_ref() };
    let Some(near) = near.filter(|_| asked.is_guarded) else { return false };
    let is_in_it = |other: &ReferenceQuestion| {
        (&other.node, &other.parameter) == (&asked.node, &asked.parameter)
            && other.question.of == asked.question.of
            && other.meant.is_none()
    };
    let is_meant =
        |path: &[Step], found: &Found| *path == **near || found.have > 0 && is_close(&asked.question.path, path);
    all.iter().any(|(other, evidence)| is_in_it(other) && is_meant(&other.question.path, evidence.found))
}

fn looked_up(asked: &ReferenceQuestion, evidence: &Evidence<'_>) -> Option<Row> {
    let found = evidence.found;
    let kinds = found.kinds.iter().enumerate().filter(|(_, count)| **count > 0);
    let of_value: Vec<_> = kinds.filter(|(kind, _)| *kind != NULL).collect();
    let reads_all = reads_all(asked, found, evidence.received);
    if found.have == 0 {
        let near = found.near.as_deref();
        let is_slip = near.is_some_and(|near| is_close(&asked.question.path, near));
        let severity = if found.items < FEW_ITEMS && near.is_none() { "warning" } else { "error" };
        return (!asked.is_guarded || is_slip).then(|| Row {
            near: near.map(path_text),
            has_default: asked.is_guarded,
            ..counted(asked, found, "missingField", severity, found.first_missing.as_ref())
        });
    }
    if asked.is_set_below {
        return None;
    }
    let is_handled = asked.handles_kinds || asked.is_in_text && of_value.iter().all(|(kind, _)| is_plain(*kind));
    if of_value.len() > 1 && reads_all && !is_handled {
        let rarest = of_value.iter().min_by_key(|(_, count)| **count).map(|(kind, _)| *kind)?;
        return Some(counted(asked, found, "mixedTypes", "warning", found.first_of_kind[rarest].as_ref()));
    }
    if asked.is_guarded {
        return None;
    }
    if evidence.length.is_some_and(|length| lacks_length(found, length)) {
        return Some(Row {
            have: Some(0),
            reference: Some(format!("{}.length", asked.reference)),
            ..counted(asked, found, "missingField", "error", None)
        });
    }
    if found.have < found.items && matches!(asked.question.of, Of::Input(_)) && !asked.is_computed {
        return Some(counted(asked, found, "missingField", "warning", found.first_missing.as_ref()));
    }
    let nulls = found.kinds[NULL];
    let reads_null = nulls > 0 && (reads_all || nulls == found.items);
    reads_null.then(|| counted(asked, found, "nullValue", "warning", found.first_of_kind[NULL].as_ref()))
}

fn counted(
    asked: &ReferenceQuestion,
    found: &Found,
    rule: &'static str,
    severity: &'static str,
    first: Option<&Place>,
) -> Row {
    let kinds = KINDS.iter().zip(found.kinds).filter(|(_, count)| *count > 0);
    let types: Map<String, Value> = kinds.map(|(kind, count)| ((*kind).to_owned(), json!(count))).collect();
    Row {
        items: Some(found.items),
        have: Some(found.have),
        types: (!types.is_empty()).then_some(types),
        first: first.map(First::of),
        ..row_of(asked, rule, severity)
    }
}

/// A problem of a reference.
fn row_of(asked: &ReferenceQuestion, rule: &'static str, severity: &'static str) -> Row {
    Row {
        parameter: Some(asked.parameter.clone()),
        reference: Some(asked.reference.clone()),
        ..Row::new(rule, severity, &asked.node)
    }
}
