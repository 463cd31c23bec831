//! Lists, filters and searches.

use serde_json::{Value, json};

use super::{answer, complaint, execution, lens};
use crate::mcp_client::McpClient;
use crate::server;
use crate::support::n8n_store::N8nFolder;

/// Executions 1 to 30 of three workflows: every third failed, every fifth runs.
fn bodies() -> Vec<Value> {
    let body = |id: u64| {
        let name = if id.is_multiple_of(3) { "b_http_500" } else { "a_small_success" };
        let mut body = execution(name, id);
        body["workflowId"] = json!(format!("workflow{}", id % 2));
        body["workflowData"]["id"] = body["workflowId"].clone();
        body["workflowData"]["name"] = json!(format!("Workflow number {}", id % 2));
        body["startedAt"] = json!(format!("2026-11-{:02}T10:00:00.500Z", 1 + id % 28));
        body["stoppedAt"] = json!(format!("2026-11-{:02}T10:00:02.750Z", 1 + id % 28));
        if id.is_multiple_of(5) {
            body["status"] = json!("running");
            body["stoppedAt"] = Value::Null;
        }
        body
    };
    (1..=30).map(body).collect()
}

fn store(bodies: &[Value]) -> N8nFolder {
    let store = N8nFolder::wal();
    let n8n = store.open();
    bodies.iter().for_each(|body| store.save_with(&n8n, body));
    store
}

fn ids(answer: &Value) -> Vec<u64> {
    let executions = answer["data"]["executions"].as_array().unwrap();
    executions.iter().map(|execution| execution["id"].as_str().unwrap().parse().unwrap()).collect()
}

#[test]
fn lists_are_those_of_the_api_with_every_filter() {
    let bodies = bodies();
    let store = store(&bodies);
    let served = bodies.iter().map(|body| (body["id"].as_str().unwrap().to_owned(), body.to_string().into_bytes()));
    let n8n = server::n8n(served.collect());
    let mut api = McpClient::start(&n8n.url());
    let mut command = std::process::Command::new(super::binary());
    command.arg("--store").arg(store.path()).env_clear().stderr(std::process::Stdio::piped());
    let mut stored = McpClient::try_spawn(&mut command).unwrap();
    let call = |client: &mut McpClient, arguments: &Value| -> Value {
        serde_json::from_str(&client.call("list_executions", arguments.clone()).unwrap()).unwrap()
    };
    for arguments in [
        json!({}),
        json!({"limit": 100}),
        json!({"raw": true}),
        json!({"status": "error"}),
        json!({"status": "running"}),
        json!({"workflowId": "workflow1", "limit": 4}),
        json!({"workflowId": "none"}),
        json!({"startedAfter": "2026-11-20T10:00:00.500Z"}),
        json!({"startedAfter": "2026-11-20T12:00:00.501+02:00", "startedBefore": "2026-11-25T10:00:00.500Z"}),
        json!({"status": "success", "workflowId": "workflow0", "startedBefore": "2026-11-09T10:00:00.499Z", "limit": 2}),
        json!({"limit": 100, "maxTokens": 1000}),
    ] {
        let mut arguments = arguments;
        loop {
            let (expected, mut found) = (call(&mut api, &arguments), call(&mut stored, &arguments));
            assert_eq!(found.as_object_mut().unwrap().remove("source"), Some(json!("store")));
            // Only the store reports the version of the workflow.
            for execution in found["data"]["executions"].as_array_mut().unwrap() {
                let version = execution.as_object_mut().unwrap().shift_remove("version").unwrap();
                assert_eq!(version.as_str().unwrap().len(), 8, "{execution}");
            }
            // The marked answer may end earlier.
            if arguments.get("maxTokens").is_some() {
                assert!(found["data"]["count"].as_u64() > Some(3) && !found["data"]["nextCursor"].is_null());
                break;
            }
            assert_eq!(found, expected, "{arguments}");
            match expected["data"]["nextCursor"].as_str() {
                Some(cursor) => arguments = json!({"cursor": cursor}),
                None => break,
            }
        }
    }
}

#[test]
fn failures_are_found_by_node_and_by_message() {
    let mut bodies = bodies();
    bodies.push(execution("c_stop_and_error", 40));
    bodies.push(execution("b_http_refused", 41));
    let store = store(&bodies);
    let failed: Vec<u64> = (1..=30).rev().filter(|id| id % 3 == 0 && id % 5 != 0).collect();
    let list = |more: &[&str]| answer(&mut lens(store.path(), &[&["list"], more].concat()));
    let all = list(&["--failing-node", "HTTP Request"]);
    assert_eq!(ids(&all), [&[41], &failed[..]].concat());
    let entry = &all["data"]["executions"][1];
    assert_eq!(entry["failingNode"], "HTTP Request");
    assert!(entry["error"].as_str().unwrap().len() > 5, "{entry}");
    assert_eq!(ids(&list(&["--failing-node", "HTTP Request", "--error", "REFUSED"])), [41]);
    assert_eq!(ids(&list(&["--failing-node", "HTTP"])), [] as [u64; 0]);
    assert_eq!(ids(&list(&["--error", "no such text"])), [] as [u64; 0]);
    // Filters by columns apply as well, and pages continue.
    assert_eq!(
        ids(&list(&["--failing-node", "HTTP Request", "--workflow-id", "workflow1"])),
        failed.iter().copied().filter(|id| id % 2 == 1).collect::<Vec<_>>()
    );
    let mut found = Vec::new();
    let mut page = list(&["--failing-node", "HTTP Request", "--limit", "3"]);
    loop {
        found.extend(ids(&page));
        let Some(cursor) = page["data"]["nextCursor"].as_str() else { break };
        page = list(&["--cursor", cursor]);
    }
    assert_eq!(found, [&[41], &failed[..]].concat());
}

#[test]
fn a_search_passes_over_what_cannot_be_read() {
    let store = store(&bodies());
    store.run("UPDATE execution_data SET data = substr(data, 1, 100) WHERE executionId = 27");
    store.run("DELETE FROM execution_data WHERE executionId = 24");
    let found = answer(&mut lens(store.path(), &["list", "--failing-node", "HTTP Request"]));
    assert_eq!(ids(&found), [21, 18, 12, 9, 6, 3]);
}

#[test]
fn dates_that_are_not_dates_are_refused() {
    let said = complaint(&mut lens(store(&[]).path(), &["list", "--started-after", "yesterday"]));
    assert!(said.contains("--started-after"), "{said}");
}
