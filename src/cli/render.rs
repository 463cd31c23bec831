//! Answers for people: tables and colors.

use anstyle::{AnsiColor, Style};
use comfy_table::{Attribute, Cell, CellAlignment, Color};
use serde_json::Value;

use super::table::table;
use super::terminal::{self, Styled, plain, wrapped};
use crate::execution::Header;
use crate::units::{self, counted};

pub(super) const BOLD: Style = Style::new().bold();
pub(super) const DIM: Style = Style::new().dimmed();
const KEY: Style = AnsiColor::Cyan.on_default();
const RED: Style = AnsiColor::Red.on_default();

pub(super) fn paint(style: Style, text: &str) -> String {
    format!("{style}{}{style:#}", plain(text))
}

/// The colour of a status of n8n or of the coordination server; `None` for one that is neither good nor bad.
fn status_color(status: &str) -> Option<AnsiColor> {
    match status {
        "success" | "completed" => Some(AnsiColor::Green),
        "error" | "crashed" | "failed" => Some(AnsiColor::Red),
        "running" | "waiting" | "new" => Some(AnsiColor::Yellow),
        _ => None,
    }
}

fn status_word(status: &str) -> String {
    match status_color(status) {
        Some(color) => paint(color.on_default(), status),
        None => paint(DIM, status),
    }
}

/// A status in its colour.
pub(super) fn status_cell(status: &str) -> Cell {
    let cell = Cell::new(plain(status));
    match status_color(status) {
        Some(AnsiColor::Green) => cell.fg(Color::DarkGreen),
        Some(AnsiColor::Red) => cell.fg(Color::DarkRed),
        Some(_) => cell.fg(Color::DarkYellow),
        None => cell.add_attribute(Attribute::Dim),
    }
}

/// An id, which is for copying, not for reading.
pub(super) fn id_cell(id: &str) -> Cell {
    Cell::new(plain(id)).add_attribute(Attribute::Dim)
}

fn number_cell(number: impl ToString) -> Cell {
    Cell::new(number).set_alignment(CellAlignment::Right)
}

/// Milliseconds as seconds.
#[expect(clippy::cast_precision_loss, reason = "shown with three decimals")]
fn seconds(ms: i64) -> String {
    format!("{:.3}", ms as f64 / 1000.0)
}

/// A count from an answer in bold, and its unit.
fn bold_count(count: &Value, one: &str, many: &str) -> String {
    let counted = counted(count.as_u64().unwrap_or_default(), one, many);
    let (number, what) = counted.split_once(' ').unwrap_or((&counted, ""));
    format!("{} {what}", paint(BOLD, number))
}

/// A time as `2026-11-21 02:03:59`, in UTC; a text that is not a time is unchanged.
fn second(time: &str) -> String {
    match time.parse::<jiff::Timestamp>() {
        Ok(time) => time.strftime("%F %T").to_string(),
        Err(_) => plain(time),
    }
}

/// A styled answer, with a line about its source if there are several sources.
pub(super) fn sourced(shown: Styled, answer: &Value) -> Styled {
    let source = match (answer["source"].as_str(), answer["deleted"] == true) {
        (Some("api"), _) => "from n8n's API: the store does not have it".to_owned(),
        (Some("cache"), _) => {
            let age = units::lasting(answer["ageSeconds"].as_u64().unwrap_or_default());
            format!("from the cache, downloaded {age} ago")
        }
        (Some(_), false) => "from n8n's store".to_owned(),
        (Some(_), true) => "from n8n's store; deleted in n8n".to_owned(),
        (None, _) => return shown,
    };
    Styled(format!("{}\n{}", shown.0, paint(DIM, &source)))
}

/// A summary: a line, the error, and a row for each node.
pub(super) fn summary(answer: &Value) -> Styled {
    let data = &answer["data"];
    let word = |member: &str| data[member].as_str().unwrap_or("?");
    let mut text = format!(
        "{} {} · {} · {}",
        paint(BOLD, word("workflowName")),
        paint(DIM, word("id")),
        status_word(word("status")),
        plain(word("mode"))
    );
    if let Some(started) = data["startedAt"].as_str() {
        text += &format!(" · {} UTC", second(started));
    }
    if let Some(duration) = data["duration"].as_i64() {
        text += &format!(" · {} s", seconds(duration));
    }
    for relation in relations(data) {
        text += &format!(" · {relation}");
    }
    text += &error_lines(&data["error"]);
    text += &remarks(data);
    let findings = answer["findings"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let findings = findings.chain(answer["unseen"].as_str());
    text += &findings.map(|finding| format!("\n• {}", plain(finding))).collect::<String>();
    let nodes = data["availableNodes"].as_array().map(Vec::as_slice).unwrap_or_default();
    let copied: String = nodes.iter().filter_map(copied).collect();
    let mut shown = wrapped(&text);
    if !nodes.is_empty() {
        shown += &format!("\n{}", nodes_table(nodes));
    }
    if let Some(more) = data["omittedNodes"].as_u64() {
        shown += &format!("\n{}", counted(more, "more node", "more nodes"));
    }
    shown += &wrapped(&copied);
    if let Some(next) = answer["next"].as_str() {
        shown += &format!("\n{} {}", paint(DIM, "Next:"), plain(next));
    }
    Styled(shown)
}

/// Why an execution failed, in lines; nothing if it did not.
fn error_lines(error: &Value) -> String {
    if !error.is_object() {
        return String::new();
    }
    let message = error["message"].as_str().unwrap_or_default();
    let node = error["nodeName"].as_str().map(|node| format!("{node}: ")).unwrap_or_default();
    let description = error["description"].as_str().map(|text| format!("\n{}", paint(DIM, text))).unwrap_or_default();
    format!("\n{}{description}", paint(RED, &format!("{node}{message}")))
}

/// A description: a line, the error, and a paragraph for each node.
pub(super) fn describe(answer: &Value) -> Styled {
    let data = &answer["data"];
    let word = |member: &str| data[member].as_str().unwrap_or("?");
    let (name, id, status) = (paint(BOLD, word("workflowName")), paint(DIM, word("id")), status_word(word("status")));
    let mut text = format!("{name} {id} · {status}");
    text += &error_lines(&data["error"]);
    text += &remarks(data);
    text.extend(data["nodes"].as_array().into_iter().flatten().map(described_node));
    let not_run: Vec<_> = data["notRun"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if !not_run.is_empty() {
        text += &format!("\n\n{} {}", paint(KEY, "not run:"), plain(&not_run.join(", ")));
    }
    Styled(wrapped(&text))
}

/// A node of a description: its name with its counts, then a line for each fact.
fn described_node(node: &Value) -> String {
    let Some(members) = node.as_object() else { return format!("\n{}", plain(node.as_str().unwrap_or_default())) };
    let mut text = format!("\n\n{}", paint(BOLD, node["node"].as_str().unwrap_or_default()));
    if let Some(node_type) = node["type"].as_str() {
        text += &format!(" {}", paint(DIM, node_type));
    }
    for (name, value) in members.iter().filter(|(name, _)| !["node", "type"].contains(&name.as_str())) {
        let lines = match value {
            Value::Array(lines) if ["values", "together"].contains(&name.as_str()) => {
                lines.iter().map(listed).collect()
            }
            value => vec![listed(value)],
        };
        for line in lines {
            text += &format!("\n  {} {}", paint(KEY, &format!("{name}:")), plain(&line).replace('\n', "\n  "));
        }
    }
    text
}

/// How an execution relates to retries, and until when it waits.
fn relations(execution: &Value) -> Vec<String> {
    let text = |member: &str| execution[member].as_str();
    let retry_of = text("retryOf").map(|id| format!("retry of {}", plain(id)));
    let retried = text("retrySuccessId").map(|id| format!("retried by {}", plain(id)));
    let waits_for_call = |till| Header { wait_till: Some(till), ..Header::default() }.waits_for_call();
    let waits = text("waitTill").map(|till| match waits_for_call(till.to_owned()) {
        true => "until a call".to_owned(),
        false => format!("until {} UTC", second(till)),
    });
    [retry_of, retried, waits].into_iter().flatten().collect()
}

/// The runs of a node that a retry copied, in a line.
fn copied(node: &Value) -> Option<String> {
    let (copied, runs) = (node["copiedRuns"].as_u64()?, runs(node));
    let copied = match copied == runs {
        true => "copied by the retry".to_owned(),
        false => format!("{copied} of {runs} runs were copied by the retry"),
    };
    let name = node["nodeName"].as_str().unwrap_or_default();
    Some(format!("\n{}", paint(DIM, &plain(&format!("{name}: {copied}")))))
}

/// How often a node of a summary ran; the summary only says so if it was not once.
fn runs(node: &Value) -> u64 {
    node["runs"].as_u64().or_else(|| node["calls"].as_u64()).unwrap_or(1)
}

fn nodes_table(nodes: &[Value]) -> String {
    let rows = nodes.iter().map(|node| {
        let text = |member: &str| node[member].as_str().unwrap_or_default();
        vec![
            Cell::new(plain(text("nodeName"))),
            Cell::new(plain(text("nodeType"))).add_attribute(Attribute::Dim),
            status_cell(text("status")),
            number_cell(node["items"].as_u64().unwrap_or_default()),
            number_cell(runs(node)),
        ]
    });
    table(["Node", "Type", "Status", "Items", "Runs"], rows, &[0, 1])
}

/// A list of executions.
pub(super) fn list(answer: &Value) -> Styled {
    let executions = answer["data"]["executions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let has_mode = executions.iter().any(|execution| execution["mode"].is_string());
    let has_relations = executions.iter().any(|execution| !relations(execution).is_empty());
    let rows = executions.iter().map(|execution| {
        let text = |member: &str| execution[member].as_str().unwrap_or_default();
        let mut row = vec![id_cell(text("id")), Cell::new(plain(text("workflowName"))), status_cell(text("status"))];
        row.extend(has_mode.then(|| Cell::new(plain(text("mode"))).add_attribute(Attribute::Dim)));
        row.push(Cell::new(second(text("startedAt"))));
        row.push(number_cell(execution["executionTime"].as_i64().map(seconds).unwrap_or_default()));
        row.extend(has_relations.then(|| Cell::new(relations(execution).join(", ")).add_attribute(Attribute::Dim)));
        row
    });
    let mut header = vec!["Id", "Workflow", "Status"];
    header.extend(has_mode.then_some("Mode"));
    header.extend(["Started (UTC)", "Seconds"]);
    header.extend(has_relations.then_some("Note"));
    let flexible = if has_mode { &[1, 3, 6][..] } else { &[1, 5] };
    let mut shown = table(header, rows, flexible);
    if let Some(running) = answer["data"]["leftOut"]["running"].as_u64() {
        let at_least = if answer["data"]["leftOut"]["more"] == true { "at least " } else { "" };
        let more = format!("{at_least}{running} running, not listed here: --status running");
        shown += &format!("\n{}", paint(DIM, &more));
    }
    if let Some(cursor) = answer["data"]["nextCursor"].as_str() {
        shown += &format!("\n{}", paint(DIM, &more(cursor)));
    }
    Styled(shown)
}

/// The result of a search: a line with counts, and a row for each hit.
pub(super) fn search(answer: &Value) -> Styled {
    let data = &answer["data"];
    let mut shown = bold_count(&data["total"], "hit", "hits");
    for node in data["perNode"].as_array().into_iter().flatten() {
        shown += &format!(" · {} {}", plain(node["nodeName"].as_str().unwrap_or_default()), node["hits"]);
    }
    let rows = data["hits"].as_array().into_iter().flatten().map(|hit| {
        let number = |member: &str| number_cell(hit[member].as_u64().map(|it| it.to_string()).unwrap_or_default());
        let value =
            if hit["value"].is_null() && hit.get("value").is_none() { String::new() } else { hit["value"].to_string() };
        vec![
            Cell::new(plain(hit["nodeName"].as_str().unwrap_or_default())),
            number("run"),
            number("output"),
            number("item"),
            Cell::new(plain(hit["path"].as_str().unwrap_or_default())).add_attribute(Attribute::Dim),
            Cell::new(plain(&value)),
        ]
    });
    shown += &format!("\n{}", table(["Node", "Run", "Output", "Item", "Path", "Value"], rows, &[0, 4, 5]));
    shown += &remarks(data);
    Styled(shown)
}

/// Fields: a row for each path of a node, or for each outlier of all nodes.
pub(super) fn fields(answer: &Value) -> Styled {
    let data = &answer["data"];
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let some = |value: &Value| if value.is_null() { String::new() } else { text(value) };
    let shown = bold_count(&data["items"], "item", "items") + "\n";
    let rows = |member: &str| data[member].as_array().cloned().unwrap_or_default().into_iter();
    let table = if data["odd"].is_array() {
        let rows = rows("odd").map(|one| {
            vec![
                Cell::new(plain(&some(&one["nodeName"]))),
                number_cell(some(&one["run"])),
                number_cell(some(&one["output"])),
                number_cell(some(&one["item"])),
                Cell::new(plain(&some(&one["path"]))),
                Cell::new(plain(&if one["missing"] == true { "missing".to_owned() } else { one["value"].to_string() })),
            ]
        });
        table(["Node", "Run", "Output", "Item", "Path", "Value"], rows, &[0, 4, 5])
    } else {
        let rows = rows("fields").map(|field| {
            let kinds = if field["type"].is_null() { &field["types"] } else { &field["type"] };
            let outlier = &field["odd"];
            let values = if field["values"].is_null() { &field["example"] } else { &field["values"] };
            vec![
                Cell::new(plain(&some(&field["path"]))),
                Cell::new(plain(&some(kinds))).add_attribute(Attribute::Dim),
                number_cell(some(&field["missing"])),
                Cell::new(plain(&if values.is_null() { String::new() } else { values.to_string() })),
                Cell::new(plain(&some(outlier))).fg(Color::DarkYellow),
            ]
        });
        table(["Path", "Type", "Missing", "Values", "Outlier"], rows, &[0, 3, 4])
    };
    let splits =
        rows("splits").map(|one| format!("\n• {}: {}", plain(&some(&one["nodeName"])), plain(&some(&one["split"]))));
    let splits = wrapped(&splits.collect::<String>());
    Styled(format!("{shown}{table}{splits}{}", remarks(data)))
}

/// A trace: a row for each step.
pub(super) fn trace(answer: &Value) -> Styled {
    let data = &answer["data"];
    let rows = data["steps"].as_array().into_iter().flatten().map(|step| {
        let number = |member: &str| number_cell(step[member].as_u64().unwrap_or_default());
        let place = |from: &Value| {
            let text = |at: usize| from[at].as_str().map_or_else(|| from[at].to_string(), str::to_owned);
            let (node, run, output) = (text(0), text(1), text(2));
            let inside = if run == "0" && output == "0" { String::new() } else { format!(" ({run}, {output})") };
            format!("{node}{inside} {}", text(3))
        };
        let from: Vec<_> = step["from"].as_array().into_iter().flatten().map(place).collect();
        let more = step["fromMore"].as_u64().map(|more| format!(", +{more}")).unwrap_or_default();
        let value = if step["changed"].is_null() { &step["json"] } else { &step["changed"] };
        let note = step["note"].as_str().map(|note| format!("{note} ")).unwrap_or_default();
        vec![
            Cell::new(plain(step["nodeName"].as_str().unwrap_or_default())),
            number("run"),
            number("output"),
            number("item"),
            Cell::new(plain(&(from.join(", ") + &more))).add_attribute(Attribute::Dim),
            Cell::new(plain(&if value.is_null() { note } else { format!("{note}{value}") })),
        ]
    });
    let table = table(["Node", "Run", "Output", "Item", "From", "Changed"], rows, &[0, 4, 5]);
    Styled(format!("{table}{}", remarks(data)))
}

/// A text, the elements of a list, or JSON.
pub(super) fn listed(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(elements) => elements.iter().map(listed).collect::<Vec<_>>().join(", "),
        value => value.to_string(),
    }
}

/// The notes of an answer, and what it leaves out, one per line.
pub(super) fn remarks(data: &Value) -> String {
    let notes = data["notes"].as_array().into_iter().flatten();
    let texts = notes.chain([&data["truncated"]["reason"]]).filter_map(Value::as_str);
    texts.map(|text| format!("\n{}", paint(DIM, text))).collect()
}

/// The command that shows the next page; without the cursor if it does not fit the terminal.
fn more(cursor: &str) -> String {
    let command = format!("more: n8n-lens list --cursor '{cursor}'");
    let width = terminal::width().map_or(usize::MAX, usize::from);
    if command.chars().count() <= width {
        return command;
    }
    "more: n8n-lens list --cursor … (nextCursor of --json)".to_owned()
}

/// A node: the tool's answer, indented and colored.
pub(super) fn node(answer: &Value) -> Styled {
    let data = &answer["data"];
    let text = |member: &str| data[member].as_str().unwrap_or_default();
    let mut shown = format!(
        "{} {} · {} · {} s · run {} of {}",
        paint(BOLD, text("nodeName")),
        paint(DIM, text("nodeType")),
        status_word(text("status")),
        data["executionTime"].as_i64().map_or_else(|| "?".to_owned(), seconds),
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
