//! Answers about workflows for people.

use anstyle::AnsiColor;
use serde_json::Value;

use super::render::{BOLD, DIM, paint};
use super::terminal::{Styled, plain};
use crate::units::counted;

/// The changes of an edit, as a diff. One that was only tried needs no undo.
pub(super) fn edit(answer: &Value) -> Styled {
    let (message, data) = (answer["message"].as_str().unwrap_or_default(), &answer["data"]);
    let color = |line: &str| match line.chars().next() {
        Some('+') => AnsiColor::Green,
        Some('-') => AnsiColor::Red,
        Some('~') => AnsiColor::Yellow,
        _ => AnsiColor::BrightBlack,
    };
    let mut lines = vec![paint(BOLD, message)];
    lines.extend(texts(&data["changes"]).map(|line| paint(color(line).on_default(), line)));
    lines.extend(texts(&data["notes"]).map(plain));
    lines.extend(data["newProblems"].as_array().into_iter().flatten().map(problem));
    if let Some(previous) = data["previousVersionId"].as_str() {
        lines.push(paint(DIM, &format!("Undo: restoreVersion {previous}")));
    }
    Styled(lines.join("\n"))
}

/// The problems of a workflow.
pub(super) fn check(answer: &Value) -> Styled {
    let (message, data) = (answer["message"].as_str().unwrap_or_default(), &answer["data"]);
    let mut lines = vec![paint(BOLD, message)];
    lines.extend(data["problems"].as_array().into_iter().flatten().map(problem));
    if let Some(more) = data["more"].as_u64() {
        lines.push(paint(DIM, &format!("{more} more: --max-tokens shows more of them")));
    }
    let unreached: Vec<_> = texts(&data["unreached"]).map(plain).collect();
    if !unreached.is_empty() {
        lines.push(paint(DIM, &format!("Nothing leads to: {}", unreached.join(", "))));
    }
    Styled(lines.join("\n"))
}

/// A problem of a workflow in one line.
fn problem(problem: &Value) -> String {
    let color = if problem["severity"] == "error" { AnsiColor::Red } else { AnsiColor::Yellow };
    let text = |member: &str| problem[member].as_str();
    let rule = paint(color.on_default(), text("rule").unwrap_or_default());
    let mut line = format!("{rule} {}", paint(BOLD, text("nodeName").unwrap_or_default()));
    for part in [text("parameter"), text("reference"), text("detail")].into_iter().flatten() {
        line = format!("{line}  {}", plain(part));
    }
    if let (Some(have), Some(items)) = (problem["have"].as_u64(), problem["items"].as_u64()) {
        line = format!("{line}  in {have} of {}", counted(items, "item", "items"));
    }
    if let Some(types) = problem["types"].as_object().filter(|types| types.len() > 1) {
        let types: Vec<_> = types.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        line = format!("{line} ({})", types.join(", "));
    }
    if let Some(near) = text("near") {
        line = format!("{line}  did you mean {}?", plain(near));
    }
    let first = &problem["first"];
    match (first["nodeName"].as_str(), first["item"].as_u64()) {
        (Some(node), Some(item)) => format!("{line}  first: {} item {item}", plain(node)),
        _ => line,
    }
}

fn texts(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}
