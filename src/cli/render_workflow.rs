//! Answers about workflows for people.

use anstyle::AnsiColor;
use serde_json::Value;

use super::render::{BOLD, DIM, paint};
use super::terminal::{Styled, plain};
use super::words::TERMINAL;
use crate::tools::workflows::check_workflow::MAX_PROBLEMS;
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
    let mut lines = vec![paint(BOLD, &TERMINAL.tell(message))];
    lines.extend(data["problems"].as_array().into_iter().flatten().map(problem));
    if let Some(more) = data["more"].as_u64() {
        let shown = data["problems"].as_array().map_or(0, Vec::len);
        let way =
            if shown < MAX_PROBLEMS { "--max-tokens shows more of them" } else { "--node shows those of one node" };
        lines.push(paint(DIM, &format!("{more} more: {way}")));
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
    if problem["hasDefault"] == true {
        line = format!("{line}  has a default");
    }
    if let Some(near) = text("near") {
        line = format!("{line}  did you mean {}?", plain(near));
    }
    if let Some(place) = first(&problem["first"]) {
        line = format!("{line}  first: {place}");
    }
    match problem["times"].as_u64() {
        Some(times) => format!("{line}  ×{times}"),
        None => line,
    }
}

/// The first item that shows a problem; run and output are missing if they are 0.
fn first(place: &Value) -> Option<String> {
    let (node, item) = (place["nodeName"].as_str()?, place["item"].as_u64()?);
    let part = |name: &str| place[name].as_u64().map(|number| format!(" {name} {number}")).unwrap_or_default();
    Some(format!("{}{}{} item {item}", plain(node), part("run"), part("output")))
}

fn texts(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(data: &Value) -> String {
        let text = check(&json!({"message": "Problems.", "data": data})).0;
        anstream::adapter::strip_str(&text).to_string()
    }

    #[test]
    fn a_problem_says_how_often_where_and_whether_it_has_a_default() {
        let place = |run: u64| json!({"nodeName": "Loop", "run": run, "output": 1, "item": 0});
        let problem = json!({"rule": "missingField", "nodeName": "S", "reference": "$json.copon", "have": 0, "items": 5,
            "near": "coupon", "hasDefault": true, "first": place(7), "times": 2});
        let expected = "missingField S  $json.copon  in 0 of 5 items  has a default  did you mean coupon?  \
            first: Loop run 7 output 1 item 0  ×2";
        assert!(
            shown(&json!({"problems": [problem]})).ends_with(expected),
            "{}",
            shown(&json!({"problems": [problem]}))
        );
        let plain = json!({"rule": "nullValue", "nodeName": "S", "first": {"nodeName": "Loop", "item": 3}});
        assert!(shown(&json!({"problems": [plain]})).ends_with("nullValue S  first: Loop item 3"));
    }

    #[test]
    fn a_message_names_options() {
        let message = "No problems. Pass executionId: '37', the newest one, to look the expressions up in its items.";
        let text = check(&json!({"message": message})).0;
        let expected = "No problems. Pass --execution '37', the newest one, to look the expressions up in its items.";
        assert_eq!(anstream::adapter::strip_str(&text).to_string(), expected);
    }

    #[test]
    fn the_way_to_more_problems_depends_on_what_limits_them() {
        let problems =
            |count: usize| json!({"problems": vec![json!({"rule": "r", "nodeName": "S"}); count], "more": 3});
        assert!(shown(&problems(5)).ends_with("3 more: --max-tokens shows more of them"));
        assert!(shown(&problems(MAX_PROBLEMS)).ends_with("3 more: --node shows those of one node"));
    }
}
