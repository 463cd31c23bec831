//! Answers for people: tables and colors.

use anstyle::{AnsiColor, Style};
use comfy_table::presets::UTF8_HORIZONTAL_ONLY;
use comfy_table::{Attribute, Cell, Color, Table};
use serde_json::Value;

use super::terminal::{Styled, plain};
use crate::execution::summary::{NodeSummary, Summary};

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const KEY: Style = AnsiColor::Cyan.on_default();
const RED: Style = AnsiColor::Red.on_default();

/// The most nodes in a table; the rest is counted.
const ROWS: usize = 200;

fn paint(style: Style, text: &str) -> String {
    format!("{style}{}{style:#}", plain(text))
}

fn status_color(status: &str) -> Color {
    match status {
        "success" => Color::Green,
        "error" | "crashed" => Color::Red,
        "running" | "waiting" | "new" => Color::Yellow,
        _ => Color::DarkGrey,
    }
}

fn status_cell(status: &str) -> Cell {
    Cell::new(plain(status)).fg(status_color(status))
}

/// A table with a header.
pub(super) fn table<'a>(header: impl IntoIterator<Item = &'a str>) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_HORIZONTAL_ONLY);
    table.set_header(header.into_iter().map(|title| Cell::new(title).add_attribute(Attribute::Bold)));
    table
}

/// A summary: a line, the error, and a row for each node.
pub(super) fn summary(summary: &Summary) -> Styled {
    let header = &summary.header;
    let word = |word: &Option<String>| plain(word.as_deref().unwrap_or("?"));
    let name = summary.workflow_name.as_deref().unwrap_or("Unknown Workflow");
    let mut text =
        format!("{} {} · {} · {}", paint(BOLD, name), word(&header.id), word(&header.status), word(&header.mode));
    if let Some(started) = &header.started_at {
        text += &format!(" · {}", plain(started));
    }
    if let Some(duration) = header.duration() {
        text += &format!(" · {duration} ms");
    }
    if let Some(error) = &summary.error {
        let message = error.message.as_ref().map(|message| message.kept.as_str()).unwrap_or_default();
        let node = error.node_name.as_deref().map(|node| format!("{node}: ")).unwrap_or_default();
        text += &format!("\n{}", paint(RED, &format!("{node}{message}")));
        if let Some(description) = &error.description {
            text += &format!("\n{}", paint(DIM, &description.kept));
        }
    }
    Styled(format!("{text}\n{}", nodes(&summary.nodes)))
}

fn nodes(nodes: &[NodeSummary]) -> String {
    let mut table = table(["Node", "Type", "Status", "Items", "Runs"]);
    for node in nodes.iter().take(ROWS) {
        table.add_row([
            Cell::new(plain(&node.name)),
            Cell::new(plain(node.node_type.as_deref().unwrap_or("unknown"))).fg(Color::DarkGrey),
            status_cell(&node.status),
            Cell::new(node.items),
            Cell::new(node.runs),
        ]);
    }
    match nodes.len().saturating_sub(ROWS) {
        0 => table.to_string(),
        more => format!("{table}\n{more} more nodes"),
    }
}

/// A list of executions.
pub(super) fn list(answer: &str) -> Styled {
    let answer: Value = serde_json::from_str(answer).unwrap_or_default();
    let mut table = table(["Id", "Workflow", "Status", "Started", "ms"]);
    for execution in answer["data"]["executions"].as_array().into_iter().flatten() {
        let text = |member: &str| plain(execution[member].as_str().unwrap_or_default());
        let time = execution["executionTime"].as_i64().map(|time| time.to_string()).unwrap_or_default();
        table.add_row([
            Cell::new(text("id")),
            Cell::new(text("workflowName")),
            status_cell(&text("status")),
            Cell::new(text("startedAt")),
            Cell::new(time),
        ]);
    }
    Styled(match answer["data"]["nextCursor"].as_str() {
        Some(cursor) => format!("{table}\n{}", paint(DIM, &format!("more: --cursor {cursor}"))),
        None => table.to_string(),
    })
}

/// A node: what the tool returns, indented and colored.
pub(super) fn node(answer: &str) -> Styled {
    let answer: Value = serde_json::from_str(answer).unwrap_or_default();
    let data = &answer["data"];
    let text = |member: &str| plain(data[member].as_str().unwrap_or_default());
    let mut shown = format!(
        "{} {} · {} · {} ms · run {} of {}",
        paint(BOLD, &text("nodeName")),
        paint(DIM, &text("nodeType")),
        text("status"),
        data["executionTime"],
        data["run"]["index"],
        data["run"]["total"],
    );
    if let Some(reason) = data["truncated"]["reason"].as_str() {
        shown += &format!("\n{}", paint(DIM, reason));
    }
    for section in ["error", "input", "output", "parameters"] {
        if !data[section].is_null() {
            shown += &format!("\n\n{}\n", paint(BOLD, section));
            write(&data[section], 0, &mut shown);
        }
    }
    Styled(shown)
}

fn write(value: &Value, indent: usize, to: &mut String) {
    let pad = "  ".repeat(indent);
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (at, (name, value)) in members.iter().enumerate() {
                let line = if at > 0 { "\n" } else { "" };
                to.push_str(&format!("{line}{pad}{}", paint(KEY, name)));
                write_member(value, indent, to);
            }
        }
        Value::Array(elements) if !elements.is_empty() => {
            for (at, value) in elements.iter().enumerate() {
                let line = if at > 0 { "\n" } else { "" };
                to.push_str(&format!("{line}{pad}{}", paint(DIM, &format!("[{at}]"))));
                write_member(value, indent, to);
            }
        }
        value => to.push_str(&format!("{pad}{}", plain(&value.to_string()))),
    }
}

fn write_member(value: &Value, indent: usize, to: &mut String) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            to.push('\n');
            write(value, indent + 1, to);
        }
        Value::Array(elements) if !elements.is_empty() => {
            to.push('\n');
            write(value, indent + 1, to);
        }
        value => to.push_str(&format!(" {}", plain(&value.to_string()))),
    }
}
