//! A reference implementation of both projections on a complete `serde_json::Value`: no streaming, no budget, no
//! clipping.
//!
//! It is too simple to be wrong. It relies on two properties of `Value`: indexing a missing member returns `Null`,
//! and (feature `preserve_order`) objects keep the order of their keys.

use std::cmp::Ordering;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::properties::checks::values_reference::is_reserved;

const STICKY_NOTE: &str = "n8n-nodes-base.stickyNote";
const SUMMARY_TEXT: usize = 300;
const MESSAGE_TEXT: usize = 120;
const STACK_LINES: usize = 10;
const ITEM_STACK_LINES: usize = 3;
const FAILED_RUNS: usize = 20;
/// A `startTime` below this is in seconds.
const FIRST_MILLISECOND: f64 = 1e11;

const ERROR_KEYS: &str = "name message description httpCode messages lineNumber stack context";
const SUMMARY_ERROR_KEYS: &str = "name message description httpCode";
const BINARY_KEYS: &str = "mimeType fileName fileExtension fileSize bytes id";
const REMOVED_KEYS: &str = "resumeToken resumeUrl runtimeData credentials";
const REDACTED_KEYS: &str = "authorization cookie set-cookie x-api-key x-n8n-api-key proxy-authorization";

/// Every node of `runData`, in document order, and its number of runs.
pub fn nodes(body: &Value) -> Vec<(String, usize)> {
    let runs = runs_of_nodes(body).into_iter();
    runs.map(|(name, runs)| (name.clone(), runs.len())).collect()
}

/// The `data` of `get_execution` with all nodes, without `notes`, `omittedNodes`, `nextOffset` and `_guidance`.
pub fn summary(body: &Value) -> Value {
    let nodes = summary_nodes(body);
    let name = body["workflowData"]["name"].as_str().unwrap_or_default();
    let mut out = json!({
        "id": body["id"],
        "workflowId": body["workflowId"],
        "workflowName": if name.is_empty() { "Unknown Workflow" } else { name },
        "status": body["status"],
        "startedAt": body["startedAt"],
        "stoppedAt": body["stoppedAt"],
        "duration": duration(body),
        "mode": body["mode"],
    });
    for key in ["retryOf", "retrySuccessId", "waitTill"] {
        if !body[key].is_null() {
            out[key] = body[key].clone();
        }
    }
    let parent = &body["data"]["parentExecution"];
    if parent.is_object() {
        out["parentExecution"] = json!({"id": parent["executionId"], "workflowId": parent["workflowId"]});
    }
    out["statistics"] = statistics(body, &nodes);
    if let Some(error) = summary_error(&body["data"]["resultData"]) {
        out["error"] = error;
    }
    out["availableNodes"] = Value::Array(nodes);
    out
}

/// The `data` of `get_execution_by_node` for one window of items, without `truncated`, `label` and clipped values;
/// `Null` if the tool returns an error: no such node, or no such run.
pub fn node(
    body: &Value,
    name: &str,
    run_index: Option<usize>,
    output_index: Option<usize>,
    offset: usize,
    limit: usize,
) -> Value {
    let runs = array(&run_data(body)[name]);
    let failed: Vec<usize> = (0..runs.len()).filter(|&r| failed(&runs[r])).collect();
    let last = runs.len().saturating_sub(1);
    let index = run_index.unwrap_or(*failed.first().unwrap_or(&last));
    let Some(run) = runs.get(index) else {
        return Value::Null;
    };
    let is_pinned =
        body["data"]["resultData"]["pinData"].get(name).is_some() && workflow_node(body, name)["disabled"] != true;
    let mut node = json!({
        "executionId": body["id"],
        "nodeName": name,
        "nodeType": node_type(body, name),
        "status": run_status(run),
        "pinned": is_pinned,
        "executionTime": Some(&run["executionTime"]).filter(|time| time.is_number()),
        "startTime": start_ms(run).and_then(iso),
        "endTime": end_ms(run).and_then(iso),
        "run": {
            "index": index,
            "total": runs.len(),
            "failed": failed[..failed.len().min(FAILED_RUNS)],
        },
        "error": error(run),
        "input": input(body, run, offset, limit),
        "output": output(run, output_index, offset, limit),
        "parameters": parameters(body, name),
    });
    if !is_pinned {
        node.as_object_mut().and_then(|node| node.shift_remove("pinned"));
    }
    node
}

// The parts of a body

fn run_data(body: &Value) -> &Value {
    &body["data"]["resultData"]["runData"]
}

/// The entries of an object, or none for other values.
fn entries(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

/// The elements of an array, or none for other values.
fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn runs_of_nodes(body: &Value) -> Vec<(&String, &[Value])> {
    let nodes = entries(run_data(body));
    nodes.map(|(name, runs)| (name, array(runs))).collect()
}

/// The node with this name in the executed workflow, or `Null`.
fn workflow_node<'a>(body: &'a Value, name: &str) -> &'a Value {
    let mut nodes = array(&body["workflowData"]["nodes"]).iter();
    nodes.find(|node| node["name"] == name).unwrap_or(&Value::Null)
}

fn node_type<'a>(body: &'a Value, name: &str) -> &'a str {
    let node_type = workflow_node(body, name)["type"].as_str();
    node_type.unwrap_or("unknown")
}

fn parameters(body: &Value, name: &str) -> Value {
    let parameters = &workflow_node(body, name)["parameters"];
    match parameters {
        Value::Object(_) => parameters.clone(),
        _ => json!({}),
    }
}

/// `stoppedAt - startedAt` in ms, if both exist.
fn duration(body: &Value) -> Option<i64> {
    let ms = |key: &str| {
        let time: Timestamp = body[key].as_str()?.parse().ok()?;
        Some(time.as_millisecond())
    };
    Some(ms("stoppedAt")? - ms("startedAt")?)
}

fn among(keys: &str, key: &str) -> bool {
    keys.split(' ').any(|listed| listed == key)
}

// The summary

/// All entries of `availableNodes`: failed nodes first, then by the first run's index, start, and position in the body. By start,
/// then index, if the index began again: several runs have 0.
fn summary_nodes(body: &Value) -> Vec<Value> {
    let mut nodes = runs_of_nodes(body);
    let all_runs = nodes.iter().flat_map(|(_, runs)| *runs);
    let by_time = all_runs.filter(|run| index(run) == Some(0.0)).count() > 1;
    let order = |runs| order(runs, by_time);
    nodes.sort_by(|(_, a), (_, b)| order(a).partial_cmp(&order(b)).unwrap_or(Ordering::Equal));
    let nodes = nodes.into_iter();
    nodes.map(|(name, runs)| summary_node(body, name, runs)).collect()
}

fn summary_node(body: &Value, name: &str, runs: &[Value]) -> Value {
    let mut entry = json!({
        "nodeName": name,
        "nodeType": node_type(body, name),
        "status": node_status(runs),
    });
    let outputs = outputs(runs);
    let is_sub_node = outputs.is_empty() && is_sub_node(body, name, runs);
    let (items, taken) = (runs.iter().map(all_items).sum::<usize>(), taken(body, runs));
    if is_sub_node {
        entry["calls"] = json!(runs.len());
    } else {
        entry["items"] = json!(items);
        if runs.len() != 1 {
            entry["runs"] = json!(runs.len());
        }
        if taken > 0 && taken != items {
            entry["in"] = json!(taken);
        }
    }
    let connected = array(&body["workflowData"]["connections"][name]["main"]);
    let leads_on = |at: usize| connected.get(at).is_some_and(|to| array(to).iter().any(|to| !to.is_null()));
    let unconnected: Vec<_> = (0..outputs.len()).filter(|at| outputs[*at] > 0 && !leads_on(*at)).collect();
    if outputs.len() > 1 {
        entry["outputs"] = json!(outputs);
    }
    if !unconnected.is_empty() && (0..connected.len()).any(leads_on) {
        entry["unconnected"] = json!(unconnected);
    }
    let errors = match is_sub_node && serves(body, name) {
        true => error_items(runs, true, returned),
        false => {
            error_items(runs, continues(workflow_node(body, name)), |run| array(&run["data"]["main"]).iter().collect())
        }
    };
    if let Some(errors) = errors {
        entry["errorItems"] = errors;
    }
    let empty = runs.iter().filter(|run| all_items(run) == 0).count();
    if runs.len() > 1 && empty > 0 && !is_sub_node {
        entry["emptyRuns"] = json!(empty);
    }
    let copied = runs.iter().filter(|run| is_copied(body, run)).count();
    if copied > 0 {
        entry["copiedRuns"] = json!(copied);
    }
    let children = children(runs, node_type(body, name) == "n8n-nodes-base.executeWorkflow");
    if !children.is_empty() {
        entry["subExecutions"] = json!(children);
    }
    entry
}

fn outputs(runs: &[Value]) -> Vec<usize> {
    let most = runs.iter().map(|run| array(&run["data"]["main"]).len()).max().unwrap_or(0);
    (0..most).map(|at| runs.iter().map(|run| array(&run["data"]["main"][at]).len()).sum()).collect()
}

/// The outputs of a sub-node, of all types.
fn returned(run: &Value) -> Vec<&Value> {
    entries(&run["data"]).flat_map(|(_, outputs)| array(outputs)).collect()
}

/// Whether a node without `main` outputs serves another one.
fn is_sub_node(body: &Value, name: &str, runs: &[Value]) -> bool {
    runs.iter().any(|run| entries(&run["data"]).any(|(kind, _)| kind != "main")) || serves(body, name)
}

/// Whether the workflow connects a node to another one by a type other than `main`.
fn serves(body: &Value, name: &str) -> bool {
    let leads_on = |outputs: &Value| array(outputs).iter().any(|to| array(to).iter().any(|to| !to.is_null()));
    entries(&body["workflowData"]["connections"][name]).any(|(kind, outputs)| kind != "main" && leads_on(outputs))
}

/// The items of the `main` outputs that the runs of a node name as their sources.
fn taken(body: &Value, runs: &[Value]) -> usize {
    let sources = runs.iter().flat_map(|run| array(&run["source"]));
    let of_source = |source: &Value| {
        let index = |member: &str| source[member].as_u64().unwrap_or(0) as usize;
        let run = &run_data(body)[source["previousNode"].as_str()?][index("previousNodeRun")];
        Some(array(&run["data"]["main"][index("previousNodeOutput")]).len())
    };
    sources.filter_map(of_source).sum()
}

/// Whether a workflow continues after an error of this node.
pub fn continues(node: &Value) -> bool {
    let on_error = node["onError"].as_str().unwrap_or_default();
    on_error.starts_with("continue") || node["continueOnFail"] == true
}

/// Whether a value is an error in JavaScript: neither `null` nor `false`, 0 or an empty string.
fn is_error(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Bool(false)) && value != "" && value.as_f64() != Some(0.0)
}

fn error_items(runs: &[Value], continues: bool, outputs: impl Fn(&Value) -> Vec<&Value>) -> Option<Value> {
    let (mut count, mut first) = (0, Value::Null);
    for (run, data) in runs.iter().enumerate() {
        for (output, items) in outputs(data).into_iter().enumerate() {
            for (item, value) in array(items).iter().enumerate() {
                let error = [&value["error"], &value["json"]["error"]];
                let Some(error) = error.into_iter().take(1 + usize::from(continues)).find(|error| is_error(error))
                else {
                    continue;
                };
                if count == 0 {
                    first = json!({"run": run, "output": output, "item": item, "message": error_message(error)});
                }
                count += 1;
            }
        }
    }
    let mut shown = json!({"count": count});
    for (key, value) in first.as_object()? {
        if value != 0 || key == "item" {
            shown[key] = value.clone();
        }
    }
    Some(shown)
}

fn error_message(error: &Value) -> String {
    let text = match (&error["message"], error) {
        (Value::String(text), _) | (_, Value::String(text)) => text.clone(),
        (_, error) => without_secrets(error).to_string(),
    };
    clip_to(&text, MESSAGE_TEXT)
}

/// The ids of child executions: three, and how many more there are. If the runs of a node that calls a workflow name
/// none, the ones that the items name.
fn children(runs: &[Value], calls_workflow: bool) -> Vec<String> {
    let (mut ids, mut total) = (vec![], 0);
    for run in runs {
        let child = &run["metadata"]["subExecution"]["executionId"];
        let of_items = if calls_workflow && !child.is_string() { children_of_items(run) } else { vec![] };
        total += of_items.len() as u64;
        ids.extend(of_items);
        if let Some(child) = child.as_str() {
            ids.push(child.to_owned());
            total += run["metadata"]["subExecutionsCount"].as_u64().unwrap_or(1).max(1);
        }
    }
    ids.truncate(3);
    let more = total - ids.len() as u64;
    if more > 0 {
        ids.push(format!("…[+{more}]"));
    }
    ids
}

/// Each id once, for outputs where one of the first 16 items has one.
fn children_of_items(run: &Value) -> Vec<String> {
    let mut ids: Vec<String> = vec![];
    for output in array(&run["data"]["main"]) {
        let id = |item: &Value| Some(item["metadata"]["subExecution"]["executionId"].as_str()?.to_owned());
        if array(output).iter().take(16).any(|item| id(item).is_some()) {
            for id in array(output).iter().filter_map(id) {
                if !ids.contains(&id) {
                    ids.push(id);
                }
            }
        }
    }
    ids
}

fn order(runs: &[Value], by_time: bool) -> (bool, f64, f64) {
    let first = runs.first().unwrap_or(&Value::Null);
    let index = index(first).unwrap_or(f64::INFINITY);
    let (start, latest) = (start_ms(first).unwrap_or(f64::INFINITY), latest_ms(first).unwrap_or(f64::INFINITY));
    let succeeded = !runs.iter().any(failed);
    if by_time { (succeeded, latest, index) } else { (succeeded, index, start) }
}

/// The end of the second of a time in seconds.
fn latest_ms(run: &Value) -> Option<f64> {
    let in_seconds = time(run)? < FIRST_MILLISECOND;
    Some(start_ms(run)? + if in_seconds { 999.0 } else { 0.0 })
}

/// Whether a retry copied this run: it started before the retry did. Known only if the header comes before the data.
pub fn is_copied(body: &Value, run: &Value) -> bool {
    let members = body.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
    let before: Vec<_> = members.take_while(|name| *name != "data").collect();
    let known = before.contains(&"retryOf") && before.contains(&"startedAt") && !body["retryOf"].is_null();
    let started: Option<Timestamp> = body["startedAt"].as_str().and_then(|time| time.parse().ok());
    let (Some(started), Some(run)) = (started.filter(|_| known), latest_ms(run)) else { return false };
    run < started.as_millisecond() as f64
}

fn node_status(runs: &[Value]) -> &str {
    if runs.iter().any(|run| run["executionStatus"] == "crashed") {
        return "crashed";
    }
    if runs.iter().any(failed) {
        return "error";
    }
    runs.last().map_or("success", run_status)
}

fn main_items(run: &Value) -> usize {
    let outputs = array(&run["data"]["main"]);
    outputs.iter().map(|output| array(output).len()).sum()
}

/// Items in outputs of any type: those of AI sub-nodes are not in `main`.
pub fn all_items(run: &Value) -> usize {
    parts(&run["data"]).iter().map(|(_, items)| items.len()).sum()
}

fn statistics(body: &Value, nodes: &[Value]) -> Value {
    let with_status = |status: &str| nodes.iter().filter(|node| node["status"] == status).count();
    let runs = runs_of_nodes(body).into_iter().flat_map(|(_, runs)| runs);
    let items = runs.filter(|run| !is_copied(body, run)).map(main_items);
    let mut drawn = array(&body["workflowData"]["nodes"]).to_vec();
    drawn.retain(|node| node["type"] != STICKY_NOTE);
    json!({
        "totalNodes": drawn.len().max(nodes.len()),
        "executedNodes": nodes.len(),
        "successfulNodes": with_status("success"),
        "failedNodes": with_status("error") + with_status("crashed"),
        "totalItemsProcessed": items.sum::<usize>(),
    })
}

/// The error of the execution: the node, and the clipped texts.
fn summary_error(result: &Value) -> Option<Value> {
    let error = error(result)?;
    let own = result["error"]["node"]["name"].as_str();
    let last = result["lastNodeExecuted"].as_str();
    let last_failed = last.filter(|last| array(&result["runData"][last]).iter().any(failed));
    let mut out = Map::new();
    if let Some(name) = own.or(last_failed) {
        out.insert("nodeName".into(), name.into());
    }
    for key in SUMMARY_ERROR_KEYS.split(' ') {
        if !error[key].is_null() || key == "message" {
            out.insert(key.into(), clip(&error[key]));
        }
    }
    Some(Value::Object(out))
}

/// Clips a string of more than 300 code points; other values are unchanged.
fn clip(value: &Value) -> Value {
    value.as_str().map_or_else(|| value.clone(), |text| json!(clip_to(text, SUMMARY_TEXT)))
}

fn clip_to(text: &str, chars: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(chars) else {
        return text.to_owned();
    };
    let more = text[end..].chars().count();
    format!("{}…[+{more} chars]", &text[..end])
}

// A run

fn failed(run: &Value) -> bool {
    let status = run["executionStatus"].as_str();
    !run["error"].is_null() || !run["redactedError"].is_null() || matches!(status, Some("error" | "crashed"))
}

fn run_status(run: &Value) -> &str {
    match run["executionStatus"].as_str() {
        Some("crashed") => "crashed",
        _ if failed(run) => "error",
        _ if is_reserved(run) => "new",
        status => status.unwrap_or("success"),
    }
}

fn time(run: &Value) -> Option<f64> {
    run["startTime"].as_f64().filter(|_| !is_reserved(run))
}

fn index(run: &Value) -> Option<f64> {
    run["executionIndex"].as_f64().filter(|_| !is_reserved(run))
}

fn start_ms(run: &Value) -> Option<f64> {
    let start = time(run)?;
    let unit = if start < FIRST_MILLISECOND { 1000.0 } else { 1.0 };
    Some(start * unit)
}

fn end_ms(run: &Value) -> Option<f64> {
    Some(start_ms(run)? + run["executionTime"].as_f64()?)
}

/// `2026-11-21T02:03:59.994Z`, or `Null` for an impossible time.
fn iso(ms: f64) -> Option<String> {
    let time = Timestamp::from_millisecond(ms as i64).ok()?;
    Some(time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string())
}

// Items

/// Every array of every connection type, in document order: `{main: [[…], null], ai_tool: [[…]]}` has three.
fn parts(connections: &Value) -> Vec<(&str, &[Value])> {
    entries(connections).flat_map(|(name, list)| array(list).iter().map(|part| (name.as_str(), array(part)))).collect()
}

fn output(run: &Value, only: Option<usize>, offset: usize, limit: usize) -> Value {
    let all = parts(&run["data"]);
    let (mut total, mut items, mut outputs) = (0, vec![], vec![]);
    for (index, (connection, part)) in all.iter().enumerate() {
        if only.is_some_and(|only| only != index) {
            continue;
        }
        let shown = window(part, offset, limit);
        let returned = shown.len();
        let mut entry = json!({"outputIndex": index, "total": part.len(), "offset": offset, "returned": returned});
        if *connection != "main" {
            entry["connection"] = json!(connection);
        }
        total += part.len();
        items.extend(shown.map(|shown| item(shown, "outputIndex", index, all.len())));
        outputs.push(entry);
    }
    json!({"total": total, "items": items, "outputs": outputs})
}

fn input(body: &Value, run: &Value, offset: usize, limit: usize) -> Value {
    let (inputs, sources) = if run["inputOverride"].is_object() {
        let parts = parts(&run["inputOverride"]).into_iter();
        (parts.map(|(_, part)| part).enumerate().collect(), vec![])
    } else {
        sources(body, run, offset)
    };
    let total: usize = inputs.iter().map(|(_, part)| part.len()).sum();
    let mut items = vec![];
    for (index, part) in &inputs {
        let shown = window(part, offset, limit);
        items.extend(shown.map(|shown| item(shown, "inputIndex", *index, inputs.len())));
    }
    json!({"total": total, "items": items, "sources": sources})
}

/// The inputs in `source[]`, each with its index and its name in the answer.
fn sources<'a>(body: &'a Value, run: &Value, offset: usize) -> (Vec<(usize, &'a [Value])>, Vec<Value>) {
    let listed = array(&run["source"]).iter().enumerate();
    listed
        .filter(|(_, source)| source.is_object())
        .map(|(index, source)| {
            let number = |key: &str| source[key].as_u64().unwrap_or(0) as usize;
            let name = source["previousNode"].as_str();
            let (output, run) = (number("previousNodeOutput"), number("previousNodeRun"));
            let runs = name.map_or(&Value::Null, |name| &run_data(body)[name]);
            let part = array(&runs[run]["data"]["main"][output]);
            let entry = json!({
                "inputIndex": index,
                "nodeName": name,
                "outputIndex": output,
                "runIndex": run,
                "total": part.len(),
                "offset": offset,
            });
            ((index, part), entry)
        })
        .unzip()
}

fn window(items: &[Value], offset: usize, limit: usize) -> impl ExactSizeIterator<Item = &Value> {
    items.iter().skip(offset).take(limit)
}

/// An item as shown: without files, with a shortened error, and with its input or output index if there are several.
fn item(value: &Value, index_key: &str, index: usize, parts: usize) -> Value {
    let mut item = value.clone();
    let Some(fields) = item.as_object_mut() else {
        return item;
    };
    if let Some(files) = fields.get_mut("binary") {
        *files = entries(files).map(|(name, file)| (name.clone(), metadata(file))).collect();
    }
    if let Some(error) = fields.get_mut("error").filter(|error| error.is_object()) {
        *error = error_object(error);
        shorten_stack(error);
    }
    if let Some(error) =
        fields.get_mut("json").and_then(|json| json.get_mut("error")).filter(|error| error["message"] != json!(null))
    {
        shorten_stack(error);
    }
    if let Some(sources) = fields.get_mut("pairedItem").filter(|sources| array(sources).len() > 3) {
        *sources = format!("{} items", array(sources).len()).into();
    }
    let child = &fields.get("metadata").unwrap_or(&Value::Null)["subExecution"]["executionId"];
    if child.is_string() {
        fields.insert("subExecution".into(), child.clone());
    }
    if parts > 1 {
        fields.shift_remove(index_key);
        fields.insert(index_key.into(), index.into());
    }
    item
}

fn metadata(file: &Value) -> Value {
    let fields = entries(file).filter(|(key, _)| among(BINARY_KEYS, key));
    fields.map(|(key, value)| (key.clone(), value.clone())).collect()
}

// Errors

/// The error of a run or of `resultData`.
pub fn error(holder: &Value) -> Option<Value> {
    let (error, redacted) = (&holder["error"], &holder["redactedError"]);
    let renamed = json!({"message": redacted["type"], "httpCode": redacted["httpCode"]});
    match (error, redacted) {
        (Value::Null, Value::Null) => None,
        (Value::Null, Value::Object(_)) => Some(error_object(&renamed)),
        (Value::Object(_), _) => Some(error_object(error)),
        (Value::Null, text) | (text, _) => Some(json!({"message": text})),
    }
}

fn error_object(error: &Value) -> Value {
    let shown = |key: &str| match key {
        "stack" => stack(&error[key]),
        "context" => without_secrets(&error[key]),
        _ => error[key].clone(),
    };
    let present = ERROR_KEYS.split(' ').filter(|key| !error[*key].is_null());
    present.map(|key| (key.to_owned(), shown(key))).collect()
}

/// An error in an item has a shorter stack.
fn shorten_stack(error: &mut Value) {
    let lines = error["stack"].as_str().map(|stack| stack.split('\n').take(ITEM_STACK_LINES).collect::<Vec<_>>());
    if let Some(lines) = lines {
        error["stack"] = json!(lines.join("\n"));
    }
}

/// The first lines of a stack, which can be a list.
fn stack(stack: &Value) -> Value {
    let joined = |lines: Vec<&str>| lines.join("\n");
    let text = match stack {
        Value::String(text) => text.clone(),
        Value::Array(lines) => joined(lines.iter().filter_map(Value::as_str).collect()),
        other => return other.clone(),
    };
    json!(joined(text.split('\n').take(STACK_LINES).collect()))
}

fn without_secrets(value: &Value) -> Value {
    let shown = |key: &str, value| match among(REDACTED_KEYS, &key.to_ascii_lowercase()) {
        true => json!("[redacted]"),
        false => without_secrets(value),
    };
    match value {
        Value::Object(fields) => {
            let fields = fields.iter().filter(|(key, _)| !among(REMOVED_KEYS, key));
            fields.map(|(key, value)| (key.clone(), shown(key, value))).collect()
        }
        Value::Array(elements) => elements.iter().map(without_secrets).collect(),
        other => other.clone(),
    }
}
