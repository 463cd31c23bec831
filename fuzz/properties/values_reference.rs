//! The values of an execution with their places and paths, from a whole `serde_json::Value`.
//!
//! It is so simple that it is unlikely to be incorrect.

use n8n_lens::json::{Detail, Excerpt, WALKED_LEVELS, cut_name, hold_name};
use n8n_lens::secrets::redact;
use serde_json::{Map, Value};

/// The members of a file that are shown.
const FILE: [&str; 6] = ["mimeType", "fileName", "fileExtension", "fileSize", "bytes", "id"];

/// One run of a node.
pub struct Run<'a> {
    pub node: String,
    pub index: usize,
    /// `executionIndex` and `startTime`, or the time first if the index began again; infinite if unknown.
    pub start: (f64, f64),
    pub run: &'a Value,
    /// `(output, item, value)`, with outputs counted across all connections.
    pub items: Vec<(usize, usize, &'a Value)>,
    /// The same, for the input that n8n stores itself.
    pub inputs: Vec<(usize, usize, &'a Value)>,
}

/// Whether n8n only reserved a run, for a call of a tool that never began.
pub fn is_reserved(run: &Value) -> bool {
    let status = &run["executionStatus"];
    run["startTime"].as_f64() == Some(0.0) && !status.is_string() && !status.is_number()
}

/// All runs, in the order of the text.
pub fn runs(body: &Value) -> Vec<Run<'_>> {
    let mut found = Vec::new();
    for (name, runs) in body["data"]["resultData"]["runData"].as_object().into_iter().flatten() {
        for (index, run) in array(runs).iter().enumerate() {
            let number = |member: &str| run[member].as_f64().filter(|_| !is_reserved(run)).unwrap_or(f64::INFINITY);
            let start = (number("executionIndex"), number("startTime"));
            found.push(Run {
                node: hold_name(name),
                index,
                start,
                run,
                items: items(&run["data"]),
                inputs: items(&run["inputOverride"]),
            });
        }
    }
    // A counter starts at 0.
    if found.iter().filter(|run| run.start.0 == 0.0).count() > 1 {
        for run in &mut found {
            let (index, time) = run.start;
            // A time in seconds counts as the end of its second.
            run.start = (if time < 1e11 { time * 1000.0 + 999.0 } else { time }, index);
        }
    }
    found
}

fn items(lists: &Value) -> Vec<(usize, usize, &Value)> {
    let connections = lists.as_object().into_iter().flatten();
    let outputs = connections.flat_map(|(_, outputs)| array(outputs)).enumerate();
    let of_output = |(output, items)| array(items).iter().enumerate().map(move |(at, item)| (output, at, item));
    outputs.flat_map(of_output).collect()
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A value with its path, and its path with the number of each element.
pub struct Found {
    pub path: String,
    pub numbered: String,
    /// The elements of lists that lead to it: the path of each list, and which element.
    pub elements: Vec<(String, usize)>,
    pub value: Value,
}

/// The values of an item: those of `json`, of files and of the item's error, which `error` converts if it is an object or a list.
/// Containers come after their content.
pub fn of_item(item: &Value, error: impl Fn(&Value) -> Option<Value>) -> Vec<Found> {
    let mut found = Vec::new();
    for (name, value) in item.as_object().into_iter().flatten() {
        match name.as_str() {
            "json" => walk("", value, 1, &mut found),
            "binary" if value.is_object() => walk("binary", &files(value), 0, &mut found),
            "error" if value.is_object() || value.is_array() => {
                found.extend(error(item).map(|error| of_error(&error)).into_iter().flatten());
            }
            "error" if !value.is_null() => found.extend(of_error(value)),
            _ => {}
        }
    }
    found
}

/// The values of an error.
pub fn of_error(error: &Value) -> Vec<Found> {
    let mut found = Vec::new();
    walk("error", error, 0, &mut found);
    found
}

fn files(binary: &Value) -> Value {
    let shown = |file: &Value| -> Map<String, Value> {
        let members = file.as_object().into_iter().flatten();
        members
            .filter(|(name, _)| FILE.contains(&name.as_str()))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    };
    binary.as_object().into_iter().flatten().map(|(name, file)| (name.clone(), Value::from(shown(file)))).collect()
}

/// Where a value is.
#[derive(Clone)]
struct Place {
    /// The paths without and with the numbers of elements.
    path: String,
    numbered: String,
    elements: Vec<(String, usize)>,
}

fn walk(part: &str, value: &Value, level: usize, found: &mut Vec<Found>) {
    walk_at(&Place { path: part.to_owned(), numbered: part.to_owned(), elements: Vec::new() }, value, level, found);
}

fn walk_at(place: &Place, value: &Value, level: usize, found: &mut Vec<Found>) {
    let this = |value: Value| {
        let Place { path, numbered, elements } = place.clone();
        Found { path, numbered, elements, value }
    };
    match value {
        _ if level == WALKED_LEVELS => {}
        Value::Object(members) => {
            for (name, value) in members {
                let dot = if place.path.is_empty() { "" } else { "." };
                let name = cut_name(name.clone());
                let below = |path: &str| format!("{path}{dot}{name}");
                let place = Place { path: below(&place.path), numbered: below(&place.numbered), ..place.clone() };
                walk_at(&place, value, level + 1, found);
            }
        }
        Value::Array(list) => {
            for (at, value) in list.iter().enumerate() {
                let mut elements = place.elements.clone();
                elements.push((place.path.clone(), at));
                let (path, numbered) = (format!("{}[]", place.path), format!("{}[{at}]", place.numbered));
                walk_at(&Place { path, numbered, elements }, value, level + 1, found);
            }
        }
        _ => {}
    }
    found.push(this(value.clone()));
}

/// The body with the values of known secret keys in its items masked.
pub fn masked(body: &Value) -> Value {
    let mut body = body.clone();
    let nodes = body.pointer_mut("/data/resultData/runData").and_then(Value::as_object_mut);
    let runs = nodes.into_iter().flat_map(|nodes| nodes.values_mut());
    for run in runs.filter_map(Value::as_array_mut).flatten().filter_map(Value::as_object_mut) {
        for side in ["data", "inputOverride"] {
            let lists =
                run.get_mut(side).and_then(Value::as_object_mut).into_iter().flat_map(|lists| lists.values_mut());
            let items = lists.filter_map(Value::as_array_mut).flatten().filter_map(Value::as_array_mut).flatten();
            for json in items.filter_map(|item| item.get_mut("json")) {
                let (mut excerpt, mut text, mut clipped) = (excerpt(json), String::new(), 0);
                redact::item(&mut excerpt);
                excerpt.write(Detail::WHOLE, &mut text, &mut clipped);
                *json = serde_json::from_str(&text).expect("it is JSON");
            }
        }
    }
    body
}

/// The whole of a value.
fn excerpt(value: &Value) -> Excerpt {
    match value {
        Value::Array(elements) => Excerpt::array(elements.iter().map(excerpt)),
        Value::Object(members) => {
            Excerpt::object(members.iter().map(|(name, value)| (&**name, excerpt(value))).collect())
        }
        Value::String(text) => text.as_str().into(),
        scalar => Excerpt::Scalar(scalar.to_string()),
    }
}
