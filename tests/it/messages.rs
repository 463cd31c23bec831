//! A snapshot of the messages of successful calls in both languages. `UPDATE_GOLDEN=1` writes it.

use std::path::Path;

use n8n_lens::toolkit::Answers;
use serde_json::{Map, Value, json};

use crate::mcp_client::McpClient;
use crate::server::{self, Server};
use crate::workflow_store::{Flavour, WorkflowStore};
use crate::{fixtures, tools};

/// A workflow that n8n accepts, with a webhook.
fn workflow(name: &str) -> Value {
    let node = json!({"id": "1", "name": "A", "type": "n8n-nodes-base.webhook", "typeVersion": 1, "position": [0, 0],
        "parameters": {}});
    json!({"name": name, "nodes": [node], "connections": {}, "settings": {"timezone": "UTC"}})
}

/// A call of each tool whose answers have a message, with a label if there are several.
fn calls(file: &Path) -> Vec<(&'static str, &'static str, Value)> {
    let given = |more: Value| {
        let mut workflow = workflow("given");
        workflow.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        workflow
    };
    vec![
        ("list_executions", "", json!({})),
        ("get_execution", "", json!({"id": "42"})),
        ("get_execution_by_node", "", json!({"id": "42", "nodeName": "HTTP Request"})),
        ("list_workflows", "", json!({})),
        ("get_workflow", "", json!({"id": "kept"})),
        ("get_workflow_connections", "", json!({"id": "kept"})),
        ("create_workflow", "", given(json!({}))),
        ("create_workflow", "some of it is not sent", given(json!({"tags": []}))),
        ("update_workflow", "", json!({"id": "kept", "name": "renamed"})),
        ("update_workflow", "some of it is not sent", json!({"id": "kept", "name": "renamed", "tags": []})),
        ("set_workflow_active", "activated", json!({"id": "kept", "active": true})),
        ("set_workflow_active", "deactivated", json!({"id": "kept", "active": false})),
        ("create_workflow_from_file", "", json!({"filePath": file})),
        ("replace_workflow_from_file", "a setting stays", json!({"id": "kept", "filePath": file})),
        ("delete_workflow", "", json!({"id": "kept"})),
    ]
}

/// The messages in one language, by tool and label.
fn messages(locale: &str) -> Vec<(String, Value)> {
    let execution = fixtures::execution("b_http_500");
    let executions = server::n8n_handler([("42".to_owned(), execution)].into());
    let store = WorkflowStore::new(Flavour::V2);
    let mut kept = workflow("kept");
    kept["id"] = json!("kept");
    store.put(kept);
    let n8n = Server::start(move |request| store.answer(request).unwrap_or_else(|| executions(request)));
    let mut client = McpClient::start_with(&n8n.url(), &["--locale", locale]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file.json");
    std::fs::write(&file, json!({"name": "F", "nodes": [], "connections": {}}).to_string()).unwrap();
    let message = |(tool, case, arguments): (&str, &str, Value)| {
        let answer: Value = serde_json::from_str(&client.call(tool, arguments).unwrap()).unwrap();
        let name = if case.is_empty() { tool.to_owned() } else { format!("{tool}: {case}") };
        (name, answer["message"].clone())
    };
    calls(&file).into_iter().map(message).collect()
}

#[test]
fn messages_match_the_snapshot_in_both_languages() {
    let pairs = messages("ja").into_iter().zip(messages("en"));
    let both: Map<_, _> = pairs.map(|((name, ja), (_, en))| (name, json!({"ja": ja, "en": en}))).collect();
    let text = serde_json::to_string_pretty(&both).unwrap() + "\n";
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots/messages.json");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&file, &text).unwrap();
    }
    let golden = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(text, golden, "a message changed; if it should, run the tests with UPDATE_GOLDEN=1");
}

#[test]
fn every_tool_with_a_message_is_in_the_snapshot() {
    let calls = calls(Path::new("file.json"));
    for tool in tools::all() {
        let has_message = matches!(tool.answers(), Answers::Envelope);
        let is_called = calls.iter().any(|(name, ..)| *name == tool.name);
        assert_eq!(has_message, is_called, "{}: each tool with a message is called in this file", tool.name);
    }
}
