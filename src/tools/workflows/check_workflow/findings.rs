//! What is wrong with a reference, judged by the items of an execution.

use serde_json::{Map, Value, json};

use super::asked::Asked;
use super::row::{First, Row};
use crate::execution::lookup::{Found, KINDS, Of, Outcome, Place, path_text};

/// With fewer items, a path that none of them has may just be rare.
const FEW_ITEMS: u64 = 5;

/// The index of null among the kinds.
const NULL: usize = 0;

/// The problem of a reference, if it has one; `all` are the references that were looked up.
pub(super) fn finding(asked: &Asked, found: &Found, all: &[Asked]) -> Option<Row> {
    match found.outcome {
        Outcome::SourceNotRun if !asked.is_guarded && !asked.may_not_run => {
            let Of::Output { node, .. } = &asked.question.of else { return None };
            Some(Row { detail: Some(format!("'{node}' did not run.")), ..row(asked, "nodeNotRun", "error") })
        }
        Outcome::LookedUp if found.items > 0 && !is_alternative(asked, found, all) => looked_up(asked, found),
        _ => None,
    }
}

/// Whether the expression also reads the name that was probably intended: `$json.mail ?? $json.Mail`.
fn is_alternative(asked: &Asked, found: &Found, all: &[Asked]) -> bool {
    let Some(near) = found.near.as_ref().filter(|_| asked.is_guarded) else { return false };
    let reads = |other: &&Asked| {
        (&other.node, &other.parameter) == (&asked.node, &asked.parameter) && other.question.of == asked.question.of
    };
    all.iter().filter(reads).any(|other| other.question.path == *near)
}

fn looked_up(asked: &Asked, found: &Found) -> Option<Row> {
    let kinds = found.kinds.iter().enumerate().filter(|(_, count)| **count > 0);
    let of_value: Vec<_> = kinds.filter(|(kind, _)| *kind != NULL).collect();
    let is_input = matches!(asked.question.of, Of::Input(_));
    if found.have == 0 {
        let near = found.near.as_deref().map(path_text);
        let severity = if found.items < FEW_ITEMS && near.is_none() { "warning" } else { "error" };
        let is_wrong = !asked.is_guarded || near.is_some();
        return is_wrong.then(|| Row {
            near,
            has_default: asked.is_guarded,
            ..counted(asked, found, "missingField", severity, found.first_missing.as_ref())
        });
    }
    if of_value.len() > 1 {
        let rarest = of_value.iter().min_by_key(|(_, count)| **count).map(|(kind, _)| *kind)?;
        return Some(counted(asked, found, "mixedTypes", "warning", found.first_of_kind[rarest].as_ref()));
    }
    if asked.is_guarded {
        return None;
    }
    if found.have < found.items && is_input {
        return Some(counted(asked, found, "missingField", "warning", found.first_missing.as_ref()));
    }
    (found.kinds[NULL] > 0).then(|| counted(asked, found, "nullValue", "warning", found.first_of_kind[NULL].as_ref()))
}

fn counted(asked: &Asked, found: &Found, rule: &'static str, severity: &'static str, first: Option<&Place>) -> Row {
    let kinds = KINDS.iter().zip(found.kinds).filter(|(_, count)| *count > 0);
    let types: Map<String, Value> = kinds.map(|(kind, count)| ((*kind).to_owned(), json!(count))).collect();
    Row {
        items: Some(found.items),
        have: Some(found.have),
        types: (!types.is_empty()).then_some(types),
        first: first.map(First::of),
        ..row(asked, rule, severity)
    }
}

fn row(asked: &Asked, rule: &'static str, severity: &'static str) -> Row {
    Row {
        parameter: Some(asked.parameter.clone()),
        reference: Some(asked.reference.clone()),
        ..Row::new(rule, severity, &asked.node)
    }
}
