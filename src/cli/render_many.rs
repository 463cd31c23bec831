//! Answers about many executions for people.

use comfy_table::Cell;
use serde_json::Value;

use super::render::listed;
use super::table::table;
use super::terminal::{Styled, plain};
use crate::units::counted;

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
    let missed = not_searched(&data["notSearched"]).map(|missed| format!("\nNot searched: {missed}"));
    Styled(format!("{}\n{table}{}{next}", string(&answer["message"]), missed.unwrap_or_default()))
}

/// Groups of failures: a row for each.
pub(super) fn failures(answer: &Value) -> Styled {
    let data = &answer["data"];
    let rows = data["groups"].as_array().into_iter().flatten().map(|group| {
        let time = |at: &Value| match at.is_null() {
            true => String::new(),
            false => format!("{} {}", string(&at["id"]), string(&at["at"])),
        };
        let edited = if group["edited"].is_null() { "" } else { ", edited" };
        let good = format!("{}{edited}", time(&group["goodBefore"]));
        let after = group["goodAfter"].as_u64().map(|count| count.to_string()).unwrap_or_default();
        let what = [&group["error"], &group["message"]].map(string).join(" ");
        let cells = [group["count"].to_string(), string(&group["workflow"]), string(&group["node"]), what];
        let times = [time(&group["first"]), time(&group["last"]), good, after];
        cells.into_iter().chain(times).map(Cell::new).collect::<Vec<_>>()
    });
    let head = ["Count", "Workflow", "Node", "Error", "First", "Last", "Good before", "Good after"];
    let table = table(head, rows, &[1, 2, 3]);
    let said = [
        Some(string(&answer["message"])),
        some(&data["moreGroups"]).map(|count| counted(count, "more group: --limit", "more groups: --limit")),
        some(&data["canceled"]).map(|count| format!("{count} canceled")),
        some(&data["tooLarge"]).map(|count| format!("{count} too large to read")),
        not_read(data),
    ];
    let before = data["notExamined"]["before"].as_str();
    let next = before.map(|before| format!("\nOlder failures were not examined: --started-before {}", plain(before)));
    Styled(format!("{}\n{table}{}", joined(said), next.unwrap_or_default()))
}

/// The changes of a trend: a row for each.
pub(super) fn trend(answer: &Value) -> Styled {
    let data = &answer["data"];
    let level = |level: &Value| match level["cases"].as_u64() {
        Some(cases) => format!("{cases} of {}", level["runs"]),
        None if level["p50"].is_null() => format!("{} runs", level["runs"]),
        None => format!("{} ({} runs)", level["p50"], level["runs"]),
    };
    let rows = data["moved"].as_array().into_iter().flatten().map(|moved| {
        let edited = if moved["edited"].is_null() { "" } else { ", edited" };
        let since = format!("{} {}{edited}", string(&moved["since"]["id"]), string(&moved["since"]["at"]));
        let cells =
            [string(&moved["node"]), string(&moved["what"]), level(&moved["before"]), level(&moved["after"]), since];
        cells.into_iter().map(Cell::new).collect::<Vec<_>>()
    });
    let table = table(["Node", "What", "Before", "Now", "Since"], rows, &[0]);
    let said = [
        data["workflow"].as_str().map(plain),
        Some(string(&answer["message"])),
        some(&data["notEnded"]).map(|count| format!("{count} not ended")),
        not_read(data),
    ];
    let windows = format!("Before: {}. Now: {}.", window(&data["before"]), window(&data["after"]));
    Styled(format!("{}\n{table}\n{windows}{}", joined(said), too_few(data)))
}

/// The executions of some periods: `168 executions, 12 failed`.
fn window(window: &Value) -> String {
    let executions = counted(window["executions"].as_u64().unwrap_or_default(), "execution", "executions");
    format!("{executions}, {} failed", window["failures"])
}

/// The nodes that ran too rarely to be judged, as far as the answer names them.
fn too_few(data: &Value) -> String {
    let names: Vec<_> = data["tooFew"].as_array().into_iter().flatten().map(string).collect();
    let more = data["tooFewMore"].as_u64().unwrap_or_default();
    let nodes = counted(names.len() as u64 + more, "node", "nodes");
    let dots = if more > 0 { ", …" } else { "" };
    match names.is_empty() {
        true if more == 0 => String::new(),
        true => format!("\nToo few runs: {nodes}"),
        false => format!("\nToo few runs: {nodes} ({}{dots})", names.join(", ")),
    }
}

/// What was not searched: `1 redacted, 2 unreadable`.
fn not_searched(reasons: &Value) -> Option<String> {
    let words = |reason: &str| match reason {
        "elsewhere" => "in an object store".to_owned(),
        "noData" => "without data".to_owned(),
        "tooLarge" => "too large".to_owned(),
        "tooLargeItems" => "items of more than 1 MiB".to_owned(),
        "tooDeep" => "lists and objects nested too deeply".to_owned(),
        reason => plain(reason),
    };
    let reasons = reasons.as_object()?.iter().map(|(reason, count)| format!("{count} {}", words(reason)));
    Some(reasons.collect::<Vec<_>>().join(", "))
}

/// How many executions could not be read.
fn not_read(data: &Value) -> Option<String> {
    let reasons = data["notRead"].as_object();
    let count: u64 = reasons.into_iter().flatten().filter_map(|(_, count)| count.as_u64()).sum();
    (count > 0).then(|| format!("{count} not read"))
}

/// A text without what could control the terminal.
fn string(value: &Value) -> String {
    plain(value.as_str().unwrap_or_default())
}

/// A number other than 0.
fn some(value: &Value) -> Option<u64> {
    value.as_u64().filter(|count| *count > 0)
}

/// The parts of a line, as far as there are any.
fn joined(parts: impl IntoIterator<Item = Option<String>>) -> String {
    parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}
