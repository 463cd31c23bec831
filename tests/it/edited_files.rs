//! Workflow files that are edited on the command line: what an edit brought, and which bytes stay.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::binary;

fn run(arguments: &[&str]) -> Value {
    let output = Command::new(binary()).args(arguments).env_remove("N8N_URL").env("N8N_LENS_LOCALE", "en").output();
    let output = output.unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
}

fn write(folder: &Path, name: &str, text: &str) -> String {
    let file = folder.join(name);
    std::fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_owned()
}

/// What the edit of a workflow with these nodes and connections answers; nothing is written.
fn edited(nodes: &[Value], connections: &Value, operations: &Value) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let workflow = json!({"name": "W", "nodes": nodes, "connections": connections}).to_string();
    let operations = write(folder.path(), "operations.json", &operations.to_string());
    run(&["edit", &write(folder.path(), "w.json", &workflow), &operations, "--dry-run"])["data"].clone()
}

fn set(name: &str, parameters: &Value) -> Value {
    json!({"name": name, "type": "n8n-nodes-base.set", "typeVersion": 3.4, "position": [0, 0], "parameters": parameters})
}

#[test]
fn each_problem_that_an_edit_brought_is_new() {
    let broken = "={{ $('Nope').first().json.v }}";
    let nodes = [set("A", &json!({"a": broken}))];
    let again = json!([{"type": "setNodeParameter", "nodeName": "A", "path": "/b", "value": broken}]);
    let data = edited(&nodes, &json!({}), &again);
    assert_eq!((&data["newProblems"][0]["parameter"], &data["oldProblems"]), (&json!("/b"), &json!(1)), "{data}");
    // An element that moves is the same.
    let list = [set("A", &json!({"list": ["x", broken]}))];
    let moved = json!([{"type": "removeNodeParameter", "nodeName": "A", "path": "/list/0"}]);
    let data = edited(&list, &json!({}), &moved);
    assert_eq!((&data["newProblems"], &data["oldProblems"]), (&Value::Null, &json!(1)), "{data}");
    let many: Vec<_> =
        (0..30).map(|at| set(&format!("N{at}"), &json!({"v": "={{ $('X').first().json.v }}"}))).collect();
    let data = edited(
        &[&many[..], &[set("X", &json!({}))]].concat(),
        &json!({}),
        &json!([{"type": "removeNode", "nodeName": "X"}]),
    );
    let shown = data["newProblems"].as_array().unwrap().len() as u64;
    assert_eq!(shown + data["moreNewProblems"].as_u64().unwrap(), 30, "{data}");
}

#[test]
fn a_problem_that_names_a_renamed_node_is_old() {
    let trigger = |name: &str| json!({"name": name, "type": "n8n-nodes-base.manualTrigger", "typeVersion": 1, "position": [0, 0], "parameters": {}});
    let nodes = [
        trigger("T"),
        trigger("Timer"),
        set("A", &json!({"v": "={{ $('B').first().json.x }}"})),
        set("B", &json!({"v": "={{ $('B'.first().json.x }}"})),
    ];
    let to = |node: &str| json!({"main": [[{"node": node, "type": "main", "index": 0}]]});
    let connections = json!({"T": to("A"), "Timer": to("B")});
    let before = edited(&nodes, &connections, &json!([{"type": "setWorkflowMetadata", "name": "V"}]));
    assert!(before["newProblems"].is_null() && before["oldProblems"].as_u64() >= Some(2), "{before}");
    for (from, to) in [("B", "A much longer name"), ("Timer", "Every hour")] {
        let rename = json!([{"type": "renameNode", "oldName": from, "newName": to}]);
        let data = edited(&nodes, &connections, &rename);
        assert_eq!((&data["newProblems"], &data["oldProblems"]), (&Value::Null, &before["oldProblems"]), "{data}");
    }
}

#[test]
fn a_byte_order_mark_stays() {
    let folder = tempfile::tempdir().unwrap();
    let text =
        "\u{feff}{\"name\": \"W\", \"nodes\": [{\"name\": \"A\", \"parameters\": {\"v\": 1}}], \"connections\": {}}";
    let file = write(folder.path(), "w.json", text);
    let edit = |operations: Value| {
        let operations = write(folder.path(), "operations.json", &operations.to_string());
        run(&["edit", &file, &operations])["data"]["previousVersionId"].clone()
    };
    let previous = edit(json!([{"type": "setNodeParameter", "nodeName": "A", "path": "/v", "value": 2}]));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text.replace('1', "2"));
    edit(json!([{"type": "restoreVersion", "versionId": previous}]));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
}

#[test]
fn an_execution_of_another_workflow_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let body = crate::support::fixtures::executions().into_iter().find(|(name, _)| name == "b_http_500").unwrap().1;
    let execution = folder.path().join("execution.json");
    std::fs::write(&execution, body).unwrap();
    let workflow =
        json!({"name": "W", "nodes": [set("Elsewhere", &json!({"v": "={{ $json.a }}"}))], "connections": {}});
    let file = write(folder.path(), "w.json", &workflow.to_string());
    let answer = run(&["check-workflow", &file, "--execution", execution.to_str().unwrap()]);
    let message = answer["message"].as_str().unwrap();
    assert!(message.contains("seems to be of another workflow") && !message.contains("were looked up"), "{answer}");
    // One shared name, such as that of a trigger, does not make it the same workflow; and the command fails.
    let body = json!({"id": "1", "workflowId": "v", "data": {"resultData": {"runData": {"Webhook": [{"data": {"main": [[{"json": {}}]]}}]}}},
        "workflowData": {"id": "v", "nodes": [set("Webhook", &json!({})), set("Else", &json!({}))], "connections": {}}});
    std::fs::write(&execution, body.to_string()).unwrap();
    let nodes = [set("Webhook", &json!({})), set("A", &json!({"v": "={{ $json.a }}"})), set("B", &json!({}))];
    let workflow = json!({"id": "w", "name": "W", "nodes": nodes, "connections": {}});
    let file = write(folder.path(), "w.json", &workflow.to_string());
    let arguments = ["check-workflow", &file, "--execution", execution.to_str().unwrap()];
    let answer = run(&arguments);
    assert!(answer["message"].as_str().unwrap().contains("fewer than half of these nodes"), "{answer}");
    assert!(answer["data"]["checked"].is_null() && answer["data"]["isOfAnotherWorkflow"] == true, "{answer}");
    let output = Command::new(binary()).args(arguments).env_remove("N8N_URL").output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}
