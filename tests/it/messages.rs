//! Snapshots of the texts that depend on the language: the messages of successful calls, and the instructions of the
//! coordination server. `UPDATE_GOLDEN=1` writes them.

use std::path::Path;
use std::process::{Command, Stdio};

use n8n_lens::toolkit::Answers;
use serde_json::{Map, Value, json};

use crate::mcp_client::McpClient;
use crate::server::{self, Server};
use crate::support::coordination::harness::people;
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
        ("describe_execution", "", json!({"id": "42"})),
        ("get_execution_by_node", "", json!({"id": "42", "nodeName": "HTTP Request"})),
        ("search_execution", "", json!({"id": "42", "text": "a"})),
        ("get_execution_fields", "", json!({"id": "42"})),
        ("trace_execution_item", "", json!({"id": "42", "nodeName": "Webhook", "item": 0})),
        ("compare_executions", "", json!({"id": "42", "with": "41"})),
        ("find_executions", "", json!({"text": "nowhere"})),
        ("group_failures", "", json!({"startedAfter": "2040-01-01T00:00:00Z"})),
        ("list_workflows", "", json!({})),
        ("get_workflow", "", json!({"id": "kept"})),
        ("get_workflow_connections", "", json!({"id": "kept"})),
        ("create_workflow", "", given(json!({}))),
        ("create_workflow", "some of it is not sent", given(json!({"tags": []}))),
        ("update_workflow", "", json!({"id": "kept", "name": "renamed"})),
        ("update_workflow", "some of it is not sent", json!({"id": "kept", "name": "renamed", "tags": []})),
        ("edit_workflow", "", rename(false)),
        ("edit_workflow", "it is only tried", rename(true)),
        ("check_workflow", "", json!({"workflowId": "kept"})),
        ("check_workflow", "with an execution", json!({"workflowId": "kept", "executionId": "42"})),
        ("set_workflow_active", "activated", json!({"id": "kept", "active": true})),
        ("set_workflow_active", "deactivated", json!({"id": "kept", "active": false})),
        ("create_workflow_from_file", "", json!({"filePath": file})),
        ("replace_workflow_from_file", "a setting stays", json!({"id": "kept", "filePath": file})),
        ("delete_workflow", "", json!({"id": "kept"})),
    ]
}

/// A call of each tool of the toolset `proof`.
fn proof_calls(fixed: &Path) -> Vec<(&'static str, &'static str, Value)> {
    vec![
        ("prove_fix", "nothing is changed", json!({"id": "5"})),
        ("prove_fix", "", json!({"id": "5", "workflow": fixed})),
        ("retry_execution", "", json!({"id": "5", "with": "original"})),
        ("stop_execution", "", json!({"id": "5"})),
        (
            "publish_workflow_version",
            "",
            json!({"workflowId": "w", "versionId": "00000000-0000-4000-8000-000000000001"}),
        ),
    ]
}

/// Their messages in one language.
fn proof_messages(locale: &str) -> Vec<(String, Value)> {
    let folder = tempfile::tempdir().unwrap();
    let mut fixed = crate::proof::execution()["workflowData"].clone();
    fixed["nodes"][1]["parameters"]["jsCode"] = json!("return [];");
    let file = folder.path().join("fixed.json");
    std::fs::write(&file, fixed.to_string()).unwrap();
    let (_n8n, mut client) =
        crate::proof::start(&["--locale", locale, "--files-root", folder.path().to_str().unwrap()]);
    proof_calls(&file).into_iter().map(|call| message(&mut client, call)).collect()
}

fn message(client: &mut McpClient, (tool, case, arguments): (&str, &str, Value)) -> (String, Value) {
    let answer = client.call(tool, arguments).unwrap_or_else(|refused| panic!("{tool}: {refused}"));
    let name = if case.is_empty() { tool.to_owned() } else { format!("{tool}: {case}") };
    (name, serde_json::from_str::<Value>(&answer).unwrap()["message"].clone())
}

/// A call of `edit_workflow`.
fn rename(dry_run: bool) -> Value {
    let operation = json!({"type": "setWorkflowMetadata", "name": "edited"});
    json!({"workflowId": "kept", "operations": [operation], "dryRun": dry_run})
}

/// The messages in one language, by tool and label.
fn messages(locale: &str) -> Vec<(String, Value)> {
    let with_id = |id: &str| {
        let mut execution = fixtures::parse(&fixtures::execution("b_http_500"));
        execution["id"] = json!(id);
        (id.to_owned(), execution.to_string().into_bytes())
    };
    let executions = server::n8n_handler(["41", "42"].map(with_id).into());
    let store = WorkflowStore::new(Flavour::V2);
    let mut kept = workflow("kept");
    kept["id"] = json!("kept");
    store.put(kept);
    let n8n = Server::start(move |request| store.answer(request).unwrap_or_else(|| executions(request)));
    let mut client = McpClient::start_with(&n8n.url(), &["--locale", locale]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file.json");
    std::fs::write(&file, json!({"name": "F", "nodes": [], "connections": {}}).to_string()).unwrap();
    let all = calls(&file).into_iter().map(|call| message(&mut client, call));
    all.collect::<Vec<_>>().into_iter().chain(proof_messages(locale)).collect()
}

#[test]
fn messages_match_the_snapshot_in_both_languages() {
    compare("messages", messages("ja"), messages("en"));
}

/// Compares the texts in both languages, by name, with a snapshot.
fn compare(snapshot: &str, ja: Vec<(String, Value)>, en: Vec<(String, Value)>) {
    let both: Map<_, _> =
        ja.into_iter().zip(en).map(|((name, ja), (_, en))| (name, json!({"ja": ja, "en": en}))).collect();
    let text = serde_json::to_string_pretty(&both).unwrap() + "\n";
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/snapshots/{snapshot}.json"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&file, &text).unwrap();
    }
    let golden = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(text, golden, "a text changed; if it should, run the tests with UPDATE_GOLDEN=1");
}

#[test]
fn every_tool_with_a_message_is_in_the_snapshot() {
    let calls = [calls(Path::new("file.json")), proof_calls(Path::new("fixed.json"))].concat();
    for tool in tools::all() {
        let has_message = matches!(tool.answers(), Answers::Envelope);
        let is_called = calls.iter().any(|(name, ..)| *name == tool.name);
        assert_eq!(has_message, is_called, "{}: each tool with a message is called in this file", tool.name);
    }
}

/// The prompts and instructions of the coordination server in one language, by name.
fn instructions(language: &str) -> Vec<(String, Value)> {
    let folder = tempfile::tempdir().unwrap();
    let coordinate = |arguments: &[&str]| {
        let mut command = Command::new(crate::support::binary());
        command.env_clear().arg("coordinate").arg("--db").arg(folder.path().join("agents.db")).args(arguments);
        command
    };
    let file = folder.path().join("people.json");
    std::fs::write(&file, people(1, 1).to_string()).unwrap();
    assert!(coordinate(&["admin", "import", file.to_str().unwrap()]).output().unwrap().status.success());
    let mut client = McpClient::try_spawn(coordinate(&["--lang", language]).stderr(Stdio::piped())).unwrap();
    let mut texts = Vec::new();
    for (name, arguments) in [
        ("task_start", json!({"task_id": "tsk_0_0", "agent_id": "agt_0"})),
        ("handoff_template", json!({"task_id": "tsk_0_0", "from_agent_id": "agt_0"})),
        ("context_summary", json!({"task_id": "tsk_0_0"})),
    ] {
        let mut answer = client.request("prompts/get", json!({"name": name, "arguments": arguments}));
        texts.push((format!("prompt {name}"), answer["result"]["messages"][0]["content"]["text"].take()));
    }
    let mut call = |tool: &str, arguments: Value| {
        let answer = client.request("tools/call", json!({"name": tool, "arguments": arguments}));
        answer["result"]["structuredContent"].clone()
    };
    let who = json!({"agent_id": "agt_0", "passkey": "key_0", "project_id": "prj_0"});
    let begun = call("authenticate", who.clone());
    let token = json!({"session_token": begun["session_token"]});
    let task = call("get_my_task", token.clone());
    let report = json!({"session_token": begun["session_token"], "result": "success"});
    let reported = call("report_completed", report);
    let token = json!({"session_token": call("authenticate", who)["session_token"]});
    let no_task = call("get_my_task", token);
    let named = [
        ("authenticate", begun),
        ("get_my_task", task),
        ("get_my_task: no task", no_task),
        ("report_completed", reported),
    ];
    texts.extend(named.map(|(name, answer)| (name.to_owned(), answer["instruction"].clone())));
    texts
}

#[test]
fn instructions_match_the_snapshot_in_both_languages() {
    compare("instructions", instructions("ja"), instructions("en"));
}
