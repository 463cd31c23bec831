//! Answers about many executions for people.

use comfy_table::Cell;
use serde_json::Value;

use super::render::listed;
use super::table::table;
use super::terminal::{Styled, plain};

/// Executions in which a value was found: a row for each.
pub(super) fn found(answer: &Value) -> Styled {
    let data = &answer["data"];
    let text = |value: &Value| plain(&listed(value));
    let rows = data["executions"].as_array().into_iter().flatten().map(|found| {
        let members = ["id", "workflowName", "status", "startedAt", "hits", "nodeName", "path", "value"];
        members.iter().map(|member| Cell::new(text(&found[*member]))).collect::<Vec<_>>()
    });
    let head = ["Execution", "Workflow", "Status", "Started", "Hits", "Node", "Path", "Value"];
    let table = table(head, rows, &[1, 5, 6, 7]);
    let next =
        data["nextCursor"].as_str().map(|next| format!("\nMore: --cursor '{}'", plain(next))).unwrap_or_default();
    Styled(format!("{}\n{table}{next}", plain(answer["message"].as_str().unwrap_or_default())))
}

/// Groups of failures: a row for each.
pub(super) fn failures(answer: &Value) -> Styled {
    let data = &answer["data"];
    let text = |value: &Value| plain(value.as_str().unwrap_or_default());
    let rows = data["groups"].as_array().into_iter().flatten().map(|group| {
        let time =
            |at: &Value| if at.is_null() { String::new() } else { format!("{} {}", text(&at["id"]), text(&at["at"])) };
        let edited = if group["edited"].is_null() { "" } else { ", edited" };
        let good = format!("{}{edited}", time(&group["goodBefore"]));
        let what = [&group["error"], &group["message"]].map(text).join(" ");
        let cells = [group["count"].to_string(), text(&group["workflow"]), text(&group["node"]), what];
        cells.into_iter().chain([time(&group["first"]), time(&group["last"]), good]).map(Cell::new).collect::<Vec<_>>()
    });
    let head = ["Count", "Workflow", "Node", "Error", "First", "Last", "Good before"];
    let table = table(head, rows, &[1, 2, 3]);
    Styled(format!("{}{}\n{table}", text(&answer["message"]), not_read(data)))
}

/// The changes of a trend: a row for each.
pub(super) fn trend(answer: &Value) -> Styled {
    let data = &answer["data"];
    let text = |value: &Value| plain(value.as_str().unwrap_or_default());
    let level = |level: &Value| match level["cases"].as_u64() {
        Some(cases) => format!("{cases} of {}", level["runs"]),
        None if level["p50"].is_null() => format!("{} runs", level["runs"]),
        None => format!("{} ({} runs)", level["p50"], level["runs"]),
    };
    let rows = data["moved"].as_array().into_iter().flatten().map(|moved| {
        let edited = if moved["edited"].is_null() { "" } else { ", edited" };
        let since = format!("{} {}{edited}", text(&moved["since"]["id"]), text(&moved["since"]["at"]));
        let cells =
            [text(&moved["node"]), text(&moved["what"]), level(&moved["before"]), level(&moved["after"]), since];
        cells.into_iter().map(Cell::new).collect::<Vec<_>>()
    });
    let table = table(["Node", "What", "Before", "Now", "Since"], rows, &[0]);
    Styled(format!("{} · {}{}\n{table}", text(&data["workflow"]), text(&answer["message"]), not_read(data)))
}

/// How many executions could not be read.
fn not_read(data: &Value) -> String {
    let reasons = data["notRead"].as_object();
    let count: u64 = reasons.into_iter().flatten().filter_map(|(_, count)| count.as_u64()).sum();
    if count > 0 { format!(" · {count} not read") } else { String::new() }
}
