//! Answers about proofs and retries for people.

use anstyle::AnsiColor;
use serde_json::Value;

use super::render::{BOLD, DIM, paint};
use super::terminal::{Styled, plain};

/// Verdicts that are good news.
const GOOD: [&str; 4] = ["fixed", "reproduced", "succeeded", "sameOutputs"];

/// The result of a proof or a retry.
pub(super) fn proof(answer: &Value) -> Styled {
    let data = &answer["data"];
    let text = |value: &Value| plain(value.as_str().unwrap_or_default());
    // A node that differs is an object.
    let name = |value: &Value| text(value.get("nodeName").unwrap_or(value));
    let verdict = data["verdict"].as_str().unwrap_or_default();
    let color = if GOOD.contains(&verdict) { AnsiColor::Green } else { AnsiColor::Red };
    let mut lines = vec![format!("{}  {}", paint(color.on_default().bold(), verdict), text(&data["claim"]))];
    for (member, label) in [
        ("changed", "Changed"),
        ("differs", "Other outputs"),
        ("changedSettings", "Changed settings"),
        ("ranNew", "Ran for the first time"),
        ("ranInstead", "Ran instead"),
        ("recorded", "Answered from the recording"),
        ("fixNotExercised", "Changed, but not run again"),
        ("canReachOutside", "Could reach outside"),
    ] {
        let names: Vec<_> = data[member].as_array().into_iter().flatten().map(name).collect();
        if !names.is_empty() {
            lines.push(format!("{} {}", paint(DIM, &format!("{label}:")), names.join(", ")));
        }
    }
    for good in data["good"].as_array().into_iter().flatten() {
        let same = if good["same"] == true { "the same" } else { "other outputs" };
        lines.push(format!("{} {} {same}", paint(DIM, "Earlier good execution"), text(&good["id"])));
    }
    lines.extend(data["notProven"].as_array().into_iter().flatten().map(text));
    Styled(lines.join("\n"))
}

/// The result of an action.
pub(super) fn done(answer: &Value) -> Styled {
    let data = answer["data"].as_object().into_iter().flatten();
    let shown = |value: &Value| value.as_str().map_or_else(|| value.to_string(), plain);
    let facts: Vec<_> = data.map(|(name, value)| format!("{name} {}", shown(value))).collect();
    Styled(format!("{}  {}", paint(BOLD, answer["message"].as_str().unwrap_or_default()), facts.join("  ")))
}
