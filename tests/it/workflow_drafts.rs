//! An unpublished draft goes live only on request, through the real binary.

use serde_json::{Value, json};

use crate::mcp_client::McpClient;
use crate::random::Random;
use crate::workflow_store::{Flavour, WorkflowStore};
use crate::workflows::{FLAVOURS, call, node, start_with};

/// The trigger, and a colleague's unfinished work.
fn nodes(work: &str) -> Value {
    let mut hook = node("Hook", "n8n-nodes-base.webhook");
    hook["parameters"] = json!({"path": "orders"});
    json!([hook, node(work, "n8n-nodes-base.noOp")])
}

fn workflow(active: bool) -> Value {
    json!({"id": "w", "name": "Orders", "active": active, "nodes": nodes("Published"), "connections": {}, "settings": {}})
}

/// An active workflow with a draft.
fn with_draft(flavour: Flavour) -> WorkflowStore {
    let store = WorkflowStore::new(flavour);
    store.put(workflow(true));
    store.save_draft("w", nodes("Draft"));
    store
}

fn client(store: &WorkflowStore) -> (crate::server::Server, McpClient) {
    start_with(store, &["--toolsets", "workflows,builder", "--locale", "en"])
}

/// The second node of the published version.
fn published(store: &WorkflowStore) -> Value {
    store.get("w").unwrap()["activeVersion"]["nodes"][1]["name"].clone()
}

/// A call of each tool that changes a workflow.
fn changes(file: &str) -> [(&'static str, Value); 6] {
    [
        ("update_workflow", json!({"id": "w", "name": "Renamed"})),
        ("update_workflow", json!({"id": "w", "settings": {"timezone": "Europe/Berlin"}, "raw": true})),
        ("replace_workflow_from_file", json!({"id": "w", "filePath": file})),
        ("node_add", json!({"workflowId": "w", "nodeType": "n8n-nodes-base.noOp"})),
        ("node_replace", json!({"workflowId": "w", "targetNodeId": "Draft", "newNodeType": "n8n-nodes-base.set"})),
        ("connection_create", json!({"workflowId": "w", "sourceNodeId": "Hook", "targetNodeId": "Draft"})),
    ]
}

fn file() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("draft.json");
    let mut workflow = workflow(true);
    workflow["nodes"] = nodes("Draft");
    std::fs::write(&file, workflow.to_string()).unwrap();
    let path = file.to_str().unwrap().to_owned();
    (folder, path)
}

/// The remark of an answer about the change.
fn said(answer: &Value) -> &str {
    answer["message"].as_str().or(answer["note"].as_str()).unwrap_or_default()
}

fn with(arguments: &Value, publish: bool) -> Value {
    let mut arguments = arguments.clone();
    arguments["publish"] = publish.into();
    arguments
}

#[test]
fn a_workflow_says_whether_what_is_saved_is_published() {
    for flavour in FLAVOURS {
        let store = with_draft(flavour);
        let (_n8n, mut client) = client(&store);
        let mut state = || call(&mut client, "get_workflow", json!({"id": "w"}))["data"]["publishedVersion"].clone();
        assert_eq!(state(), "older");
        store.put(workflow(true));
        assert_eq!(state(), "same");
        store.put(workflow(false));
        assert_eq!(state(), "none");
    }
    // n8n 1 before it had versions.
    let n8n = crate::server::Server::start(|_| {
        crate::server::Reply::json(
            200,
            r#"{"id":"w","name":"W","active":true,"nodes":[],"connections":{},"settings":{}}"#,
        )
    });
    let mut client = McpClient::start(&n8n.url());
    assert_eq!(call(&mut client, "get_workflow", json!({"id": "w"}))["data"]["publishedVersion"], "same");
}

#[test]
fn a_change_does_not_publish_a_draft_unasked() {
    let (_folder, file) = file();
    for (tool, arguments) in changes(&file) {
        let store = with_draft(Flavour::V2);
        let (_n8n, mut client) = client(&store);
        let done = call(&mut client, tool, arguments.clone());
        assert_eq!(published(&store), "Published", "{tool}");
        let said = said(&done);
        assert!(said.contains("has an unpublished draft") && said.contains("publish: true"), "{tool}: {said}");
        let done = call(&mut client, tool, with(&arguments, true));
        assert_eq!(store.get("w").unwrap()["activeVersionId"], store.get("w").unwrap()["versionId"], "{tool}");
        assert!(self::said(&done).contains("the draft saved before are live in production"), "{tool}: {done}");
    }
    let (_n8n, mut client) = start_with(&with_draft(Flavour::V2), &[]);
    let done = call(&mut client, "update_workflow", json!({"id": "w", "name": "Renamed"}));
    assert!(said(&done).contains("未公開の下書きがあるため"), "{done}");
}

#[test]
fn an_n8n_without_drafts_in_its_api_is_not_sent_a_change_that_would_publish_one() {
    let (_folder, file) = file();
    for (tool, arguments) in changes(&file) {
        let store = with_draft(Flavour::V1);
        let before = store.get("w");
        let (_n8n, mut client) = client(&store);
        let refused = client.call(tool, arguments.clone()).unwrap_err();
        assert!(refused.contains("which would go live with the change. Nothing was changed."), "{tool}: {refused}");
        assert!(refused.contains("Call again with publish: true"), "{tool}: {refused}");
        assert_eq!(store.get("w"), before, "{tool}");
        call(&mut client, tool, with(&arguments, true));
        assert_ne!(published(&store), "Published", "{tool}");
    }
}

#[test]
fn activating_an_active_workflow_does_not_publish_its_draft_unasked() {
    for flavour in FLAVOURS {
        let store = with_draft(flavour);
        let (n8n, mut client) = client(&store);
        let activate = json!({"id": "w", "active": true});
        let done = call(&mut client, "set_workflow_active", activate.clone());
        assert_eq!(done["data"], json!({"id": "w", "name": "Orders", "active": true}));
        assert!(said(&done).contains("its unpublished draft was not published"), "{done}");
        assert!(n8n.requests().iter().all(|request| request.method == "GET"));
        assert_eq!(published(&store), "Published");
        call(&mut client, "set_workflow_active", with(&activate, true));
        assert_eq!(published(&store), "Draft");
    }
}

#[test]
fn a_change_without_a_draft_is_published_unless_it_is_to_be_saved_only() {
    let (_folder, file) = file();
    for (tool, mut arguments) in changes(&file) {
        for publish in [None, Some(true), Some(false)] {
            let store = WorkflowStore::new(Flavour::V2);
            store.put(workflow(true));
            store.put(json!({"id": "off", "name": "Off", "nodes": nodes("Draft"), "connections": {}, "settings": {}}));
            // The nodes that the calls name.
            let mut whole = store.get("w").unwrap();
            whole["nodes"] = nodes("Draft");
            (whole["activeVersion"], whole["activeVersionId"]) = (Value::Null, Value::Null);
            store.put(whole);
            let before = store.get("w").unwrap();
            if let Some(publish) = publish {
                arguments["publish"] = publish.into();
            }
            let (_n8n, mut client) = client(&store);
            let done = call(&mut client, tool, arguments.clone());
            let after = store.get("w").unwrap();
            let changed = after["versionId"] != before["versionId"];
            let live = publish != Some(false);
            assert_eq!(after["activeVersionId"] == after["versionId"], live || !changed, "{tool} {publish:?}");
            if live || changed {
                let says = if live { "is live in production" } else { "aved as a draft" };
                assert!(said(&done).contains(says), "{tool} {publish:?}: {done}");
            }
            // A change of an inactive workflow never goes live.
            let place = if arguments.get("id").is_some() { "id" } else { "workflowId" };
            arguments[place] = json!("off");
            let done = call(&mut client, tool, arguments.clone());
            assert!(!said(&done).contains("production") && !said(&done).contains("draft"), "{tool}: {done}");
            assert_eq!(store.get("off").unwrap()["activeVersion"], Value::Null);
            arguments[place] = json!("w");
        }
    }
}

/// Any order of a colleague's drafts and publications with our changes: the published version only changes if a change
/// was to be published, or if there was no draft.
#[test]
fn no_order_of_edits_publishes_a_draft_unasked() {
    let (_folder, file) = file();
    for seed in 0..12 {
        let mut random = Random(seed);
        let store = WorkflowStore::new(random.pick(&FLAVOURS));
        store.put(workflow(true));
        let (_n8n, mut client) = client(&store);
        for step in 0..25 {
            let before = store.get("w").unwrap();
            if random.one_in(4) {
                store.save_draft("w", nodes("Draft"));
                continue;
            }
            if random.one_in(12) {
                call(&mut client, "set_workflow_active", json!({"id": "w", "active": random.one_in(2)}));
                continue;
            }
            let (tool, mut arguments) = changes(&file)[random.index(6)].clone();
            let publish = random.pick(&[None, None, Some(true), Some(false)]);
            if let Some(publish) = publish {
                arguments["publish"] = publish.into();
            }
            let done = client.call(tool, arguments);
            let after = store.get("w").unwrap();
            let had_draft = before["active"] == true && before["activeVersionId"] != before["versionId"];
            if publish == Some(false) || (had_draft && publish.is_none()) {
                assert_eq!(
                    after["activeVersion"], before["activeVersion"],
                    "seed {seed}, step {step}: {tool} {done:?}"
                );
            }
            if done.is_err() {
                assert_eq!(after, before, "seed {seed}, step {step}: {tool} {done:?}");
            }
        }
    }
}
