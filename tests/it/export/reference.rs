//! The rows of a whole body, without streaming: too simple to be wrong.

use jiff::Timestamp;
use n8n_lens::execution::kind::Kind;
use serde_json::{Map, Value, json};

use super::text_bytes;

const BINARY: [&str; 6] = ["mimeType", "fileName", "fileExtension", "fileSize", "bytes", "id"];

fn run_data(body: &Value) -> Map<String, Value> {
    body["data"]["resultData"]["runData"].as_object().cloned().unwrap_or_default()
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Milliseconds since 1970: a run that was recovered after a crash has seconds.
fn start(run: &Value) -> Option<f64> {
    let time = run["startTime"].as_f64()?;
    Some(if time < 1e11 { time * 1000.0 } else { time })
}

fn date(ms: f64) -> Option<String> {
    Some(Timestamp::from_millisecond(ms as i64).ok()?.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string())
}

/// Whether a retry has copied a run: it began before the retry.
pub(super) fn is_copied(body: &Value, run: &Value) -> bool {
    let own: Option<Timestamp> = body["startedAt"].as_str().and_then(|date| date.parse().ok());
    let latest = start(run).map(|ms| if run["startTime"].as_f64().unwrap() < 1e11 { ms + 999.0 } else { ms });
    let Some((own, start)) = own.zip(latest) else { return false };
    body["retryOf"].is_string() && start < own.as_millisecond() as f64
}

/// An execution's own runs, with their nodes and numbers.
pub(super) fn own_runs(body: &Value) -> Vec<(String, usize, Value)> {
    let nodes = run_data(body);
    let runs = nodes.iter().flat_map(|(node, runs)| {
        let runs = array(runs).iter().enumerate();
        runs.map(|(at, run)| (node.clone(), at, run.clone()))
    });
    runs.filter(|(_, _, run)| !is_copied(body, run)).collect()
}

/// The lists of items of all outputs, with their types of connections.
pub(super) fn outputs(run: &Value) -> Vec<(String, Vec<Value>)> {
    let connections = run["data"].as_object().cloned().unwrap_or_default();
    let lists = connections
        .iter()
        .flat_map(|(connection, lists)| array(lists).iter().map(|list| (connection.clone(), array(list).to_vec())));
    lists.collect()
}

pub(super) fn is_failed(run: &Value) -> bool {
    !run["error"].is_null()
        || !run["redactedError"].is_null()
        || matches!(run["executionStatus"].as_str(), Some("error" | "crashed"))
}

pub(super) fn status(run: &Value) -> &str {
    match run["executionStatus"].as_str() {
        Some("crashed") => "crashed",
        _ if is_failed(run) => "error",
        status => status.unwrap_or("success"),
    }
}

pub(super) fn runs(body: &Value) -> Vec<Value> {
    let row = |(node, at, run): (String, usize, Value)| {
        let types = array(&body["workflowData"]["nodes"]).iter().rev();
        let mut types = types.filter(|it| it["name"] == node.as_str()).map(|it| it["type"].clone());
        let outputs: Vec<_> = outputs(&run).iter().map(|(_, items)| items.len()).collect();
        let from: Vec<_> = array(&run["source"]).iter().map(|source| source["previousNode"].clone()).collect();
        json!({"executionId": body["id"], "workflowId": body["workflowId"], "workflowName": body["workflowData"]["name"],
            "workflowVersionId": body["workflowVersionId"], "executionStatus": body["status"], "node": node,
            "nodeType": types.next(), "run": at, "index": run["executionIndex"], "startedAt": start(&run).and_then(date),
            "ms": run["executionTime"].as_u64().unwrap_or(0), "status": status(&run),
            "items": outputs.iter().sum::<usize>(), "outputs": outputs, "from": from})
    };
    own_runs(body).into_iter().map(row).collect()
}

pub(super) fn items(body: &Value) -> Vec<Value> {
    let mut rows = Vec::new();
    for (node, at, run) in own_runs(body) {
        for (output, (_, items)) in outputs(&run).iter().enumerate() {
            for (number, item) in items.iter().enumerate() {
                rows.push(json!({"executionId": body["id"], "workflowId": body["workflowId"], "node": node, "run": at,
                    "output": output, "item": number, "json": item["json"], "binary": binary(&item["binary"]),
                    "pairedItem": item["pairedItem"]}));
            }
        }
    }
    rows
}

/// Files without their data.
fn binary(files: &Value) -> Value {
    let Some(files) = files.as_object() else { return Value::Null };
    let without_data = |file: &Value| -> Value {
        let members = file.as_object().cloned().unwrap_or_default().into_iter();
        members.filter(|(name, _)| BINARY.contains(&name.as_str())).collect::<Map<_, _>>().into()
    };
    files.iter().map(|(name, file)| (name.clone(), without_data(file))).collect::<Map<_, _>>().into()
}

pub(super) fn execution(body: &Value) -> Value {
    let result = &body["data"]["resultData"];
    let error = if result["error"].is_null() { &result["redactedError"] } else { &result["error"] };
    let text = |value: &Value| value.as_str().map(|text| text.replace("Bearer abcdefghijklmnop", "[redacted]"));
    let message = text(&error["message"]).or(text(&error["type"]));
    let kinds: Vec<_> = [message.clone(), text(&error["description"])].into_iter().flatten().collect();
    let kinds: Vec<_> = kinds.iter().map(|text| Kind::of(text).fine).collect();
    let last = result["lastNodeExecuted"].as_str().filter(|last| {
        let runs = run_data(body);
        runs.get(*last).is_some_and(|runs| array(runs).iter().any(is_failed))
    });
    let node = error["node"]["name"].as_str().or(last).filter(|_| !error.is_null());
    let time = |name: &str| body[name].as_str().and_then(|date| date.parse::<Timestamp>().ok());
    let ms = time("startedAt").zip(time("stoppedAt")).map(|(from, to)| to.as_millisecond() - from.as_millisecond());
    json!({"executionId": body["id"], "workflowId": body["workflowId"], "workflowName": body["workflowData"]["name"],
        "workflowVersionId": body["workflowVersionId"], "status": body["status"], "mode": body["mode"],
        "startedAt": body["startedAt"], "stoppedAt": body["stoppedAt"], "ms": ms, "retryOf": body["retryOf"],
        "textBytes": text_bytes(body), "nodeRuns": own_runs(body).len(), "failingNode": node, "errorName": error["name"],
        "httpCode": error["httpCode"], "errorMessage": message,
        "errorKind": Some(kinds.join(": ")).filter(|_| !kinds.is_empty())})
}
