//! The data that n8n's redaction hides: n8n stores everything, and redacts what it sends.

use n8n_lens::execution::node::NodeProjection;
use n8n_lens::execution::summary::SummaryProjection;
use n8n_lens::json::Projection;
use serde_json::{Value, json};

use super::{answer, assert_same, debug, read};
use crate::flatten::{Share, stored};

/// The effect of n8n's redaction on an execution whose items it clears.
fn redact(mut body: Value, reason: &str) -> Value {
    let result = &mut body["data"]["resultData"];
    for task in result["runData"].as_object_mut().unwrap().values_mut().flat_map(|runs| runs.as_array_mut().unwrap()) {
        for lists in ["data", "inputOverride"] {
            for outputs in task[lists].as_object_mut().into_iter().flat_map(|lists| lists.values_mut()) {
                for items in outputs.as_array_mut().unwrap().iter_mut().filter_map(Value::as_array_mut) {
                    items.iter_mut().for_each(|item| redact_item(item, reason));
                }
            }
        }
        redact_error(task);
        // Indexing created members that did not exist.
        task.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    }
    redact_error(result);
    body["data"]["redactionInfo"] = json!({"isRedacted": true, "reason": reason, "canReveal": false});
    body
}

fn redact_item(item: &mut Value, reason: &str) {
    let item = item.as_object_mut().unwrap();
    let error = item.shift_remove("error").filter(|error| !error.is_null());
    item.shift_remove("binary");
    item.insert("json".to_owned(), json!({}));
    let mut redaction = json!({"redacted": true, "reason": reason});
    if let Some(error) = error {
        redaction["error"] = what_is_left(&error);
    }
    item.insert("redaction".to_owned(), redaction);
}

fn redact_error(holder: &mut Value) {
    let holder = holder.as_object_mut().unwrap();
    if holder.get("error").is_some_and(|error| !error.is_null()) {
        let error = holder.shift_remove("error").unwrap();
        holder.insert("redactedError".to_owned(), what_is_left(&error));
    }
}

fn what_is_left(error: &Value) -> Value {
    let mut left = serde_json::Map::new();
    if let Some(name) = error.get("name") {
        left.insert("type".to_owned(), name.clone());
    }
    if error["name"] == "NodeApiError" {
        left.insert("httpCode".to_owned(), error["httpCode"].clone());
    }
    left.into()
}

/// An execution with a secret everywhere that a secret can be.
fn execution(mode: &str, redaction: &Value, settings: &Value) -> Value {
    let item = |n: usize| json!({"json": {"n": n, "password": "SECRET"}, "binary": {"file": {"fileName": "SECRET"}}, "pairedItem": {"item": n}});
    let error = |name: &str| json!({"level": "warning", "description": "SECRET", "httpCode": "404", "message": "SECRET", "name": name, "stack": "SECRET", "context": {"SECRET": "SECRET"}});
    json!({
        "id": "7", "status": "error", "mode": mode, "workflowId": "w", "startedAt": "2026-01-02T03:04:05.000Z",
        "data": {
            "version": 1, "startData": {},
            "resultData": {
                "error": error("NodeApiError"), "lastNodeExecuted": "Http",
                "runData": {
                    "Start": [{"startTime": 1, "executionTime": 1, "executionIndex": 0, "executionStatus": "success", "source": [],
                        "data": {"main": [[item(0), item(1), {"pairedItem": 1, "error": error("NodeOperationError"), "json": {"SECRET": 1}}], null]}}],
                    "Http": [{"startTime": 2, "executionTime": 1, "executionIndex": 1, "executionStatus": "error", "source": [{"previousNode": "Start"}],
                        "error": error("NodeApiError"), "data": {"main": [[{"json": {}, "error": error("NodeApiError"), "redaction": {"old": 1}}]]}}],
                    "Tool": [{"startTime": 3, "executionTime": 1, "executionIndex": 2, "executionStatus": "success", "source": [], "error": null,
                        "inputOverride": {"ai_tool": [[item(0)]]}, "data": {"ai_tool": [[item(1)]]}}],
                    "Text": [{"startTime": 4, "executionIndex": 3, "executionStatus": "error", "error": "SECRET", "source": []}],
                }
            },
            "executionData": {"contextData": {}, "runtimeData": {"version": 1, "redaction": redaction}},
        },
        "workflowData": {"name": "w", "nodes": [{"name": "Http", "type": "n8n-nodes-base.httpRequest", "onError": "continueRegularOutput"}],
            "settings": settings},
    })
}

fn assert_hidden(stored_body: &Value, truth: &Value, what: &str) {
    let (body, truth) = (stored_body.to_string(), truth.to_string());
    for share in [Share::Nothing, Share::Equal] {
        let stored = stored(&body, share);
        let summary = read(&SummaryProjection, &stored, false).unwrap();
        assert_same(&debug(&summary), &debug(SummaryProjection.read_from(truth.as_bytes()).unwrap()), what);
        for node in ["Start", "Http", "Tool", "Text", "none"] {
            let projection = NodeProjection { node: node.to_owned(), window: 0..50, ..NodeProjection::default() };
            let ours = answer(&projection, |projection| read(projection, &stored, false));
            let truth = answer(&projection, |projection| projection.read_from(truth.as_bytes()));
            assert_same(&ours, &truth, &format!("{what}, {node}"));
            let revealed = answer(&projection, |projection| read(projection, &stored, true));
            let clear = answer(&projection, |projection| projection.read_from(body.as_bytes()));
            assert_same(&revealed, &clear, &format!("{what}, {node}, revealed"));
        }
    }
}

#[test]
fn an_execution_that_its_policy_hides_is_answered_as_from_the_body_that_n8n_redacts() {
    let channels = |production: bool, manual: bool| json!({"version": 2, "production": production, "manual": manual});
    let none = json!({});
    let cases = [
        ("trigger", channels(true, true), none.clone(), true),
        ("trigger", channels(true, false), none.clone(), true),
        ("manual", channels(true, false), none.clone(), false),
        ("manual", channels(false, true), none.clone(), true),
        ("trigger", channels(false, true), none.clone(), true),
        ("trigger", channels(false, false), json!({"redactionPolicy": "all"}), false),
        ("trigger", json!({"version": 1, "policy": "all"}), none.clone(), true),
        ("manual", json!({"version": 1, "policy": "manual-only"}), none.clone(), true),
        ("webhook", json!({"version": 1, "policy": "manual-only"}), none.clone(), false),
        ("webhook", json!({"version": 1, "policy": "none"}), json!({"redactionPolicy": "all"}), false),
        ("webhook", Value::Null, json!({"redactionPolicy": "non-manual"}), true),
        ("manual", Value::Null, json!({"redactionPolicy": "non-manual"}), false),
        ("webhook", Value::Null, none.clone(), false),
        // Unknown formats hide the data.
        ("manual", json!({"version": 3, "production": false}), none.clone(), true),
        ("manual", json!({"version": 1, "policy": "some-new-policy"}), none, true),
    ];
    for (mode, redaction, settings, hides) in cases {
        let body = execution(mode, &redaction, &settings);
        let truth = if hides { redact(body.clone(), "workflow_redaction_policy") } else { body.clone() };
        assert_hidden(&body, &truth, &format!("{mode}, {redaction}, {settings}"));
        let text = body.to_string();
        let shown = debug(read(&SummaryProjection, &stored(&text, Share::Nothing), false).unwrap());
        assert_eq!(shown.contains("SECRET"), !hides, "{shown}");
    }
}

#[test]
fn an_execution_with_credentials_of_its_user_is_hidden() {
    let policy = json!({"version": 2, "production": false, "manual": false});
    let mut at_start = execution("trigger", &policy, &json!({}));
    at_start["data"]["executionData"]["runtimeData"]["usesDynamicCredentials"] = json!(true);
    let mut in_a_run = execution("trigger", &policy, &json!({}));
    in_a_run["data"]["resultData"]["runData"]["Tool"][0]["usedDynamicCredentials"] = json!(true);
    for body in [at_start, in_a_run] {
        assert_hidden(&body, &redact(body.clone(), "dynamic_credentials"), "credentials");
    }
}
