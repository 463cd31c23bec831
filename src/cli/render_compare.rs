//! A comparison of two executions for people.

use comfy_table::Cell;
use serde_json::Value;

use super::render::{BOLD, listed, paint, remarks};
use super::table::table;
use super::terminal::{Styled, plain};
use crate::units::counted;

/// A comparison: a line with counts, and a row for each difference.
pub(super) fn compare(answer: &Value) -> Styled {
    let data = &answer["data"];
    let (id, with) = (plain(&listed(&data["id"])), plain(&listed(&data["with"])));
    let mut rows = Vec::new();
    for node in data["nodes"].as_array().into_iter().flatten() {
        let name = listed(&node["nodeName"]);
        for (what, value) in node.as_object().into_iter().flatten().filter(|(what, _)| *what != "nodeName") {
            match what.as_str() {
                "fields" => {
                    let fields = value.as_array().into_iter().flatten();
                    rows.extend(fields.map(|field| {
                        let types = [0, 1].map(|side| listed(&field["types"][side]));
                        let this = format!("{}{}", types[0], first_value(&field["first"]));
                        difference_row(&name, &listed(&field["path"]), &this, &types[1])
                    }));
                }
                "value" => {
                    let [this, other] = [0, 1].map(|side| listed(&value["values"][side]));
                    let path = format!("{} (item {})", listed(&value["path"]), value["item"]);
                    rows.push(difference_row(&name, &path, &this, &other));
                }
                "newFields" => rows.push(difference_row(&name, what, &listed(value), "")),
                // Only the other execution has them.
                "lostFields" => rows.push(difference_row(&name, what, "", &listed(value))),
                what => rows.push(pair_row(&name, what, value)),
            }
        }
    }
    let workflow = &data["workflow"];
    for node in workflow["changed"].as_array().into_iter().flatten() {
        let name = listed(&node["nodeName"]);
        for path in node["paths"].as_array().into_iter().flatten() {
            // The answer lists the older value first, the table lists the execution that the user asked about first.
            let [old, new] = [0, 1].map(|side| listed(&path["values"][side]));
            rows.push(difference_row(&name, &listed(&path["path"]), &new, &old));
        }
    }
    for (what, value) in workflow.as_object().into_iter().flatten().filter(|(what, _)| *what != "changed") {
        rows.push(difference_row("(workflow)", what, &listed(value), ""));
    }
    let alike = counted(data["same"].as_u64().unwrap_or_default(), "node alike", "nodes alike");
    let shown = format!("{} and {} · {alike}", paint(BOLD, &id), paint(BOLD, &with));
    let table = table(["Node", "Difference", &id, &with], rows, &[0, 1, 2, 3]);
    Styled(format!("{shown}\n{table}{}", remarks(data)))
}

/// The place of the first value of another type.
fn first_value(first: &Value) -> String {
    if first.is_null() { String::new() } else { format!(": {} (item {})", first["value"], first["item"]) }
}

fn difference_row(node: &str, what: &str, this: &str, other: &str) -> Vec<Cell> {
    [node, what, this, other].map(|text| Cell::new(plain(text))).to_vec()
}

/// A row with a value for each execution, or with one value.
fn pair_row(node: &str, what: &str, value: &Value) -> Vec<Cell> {
    match value.as_array().map(Vec::as_slice) {
        Some([this, other]) => difference_row(node, what, &listed(this), &listed(other)),
        _ => difference_row(node, what, &listed(value), ""),
    }
}
