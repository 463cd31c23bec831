//! Activating and deactivating workflows, and the tools' remarks about active ones, through the real binary.

use serde_json::{Value, json};

use crate::mcp_client::McpClient;
use crate::server::{Reply, Server};
use crate::workflow_store::{Flavour, WorkflowStore};
use crate::workflows::{FLAVOURS, call, node, start, start_with};

/// The note of an answer about a changed workflow that is active.
const LIVE: &str = "（有効なワークフローのため、変更は本番に即時反映されました）";

/// A workflow that can be activated.
fn hooked(id: &str, active: bool) -> Value {
    let mut hook = node("Hook", "n8n-nodes-base.webhook");
    hook["parameters"] = json!({"path": id});
    json!({"id": id, "name": "Hooked", "active": active, "nodes": [hook],
        "connections": {}, "settings": {}})
}

/// An n8n with an inactive workflow, which answers every change like this.
fn inactive(status: u16, body: &'static str) -> Server {
    Server::start(move |request| match request.method.as_str() {
        "GET" => Reply::json(200, r#"{"id":"w","name":"W","active":false}"#),
        _ => Reply::json(status, body),
    })
}

#[test]
fn a_workflow_is_activated_and_deactivated() {
    for flavour in FLAVOURS {
        let store = WorkflowStore::new(flavour);
        store.put(hooked("w", false));
        let (n8n, mut client) = start(&store);
        // Doing it twice has the effect of doing it once.
        for _ in 0..2 {
            let done = call(&mut client, "set_workflow_active", json!({"id": "w", "active": true}));
            assert_eq!(done["message"], "ワークフローを有効化しました");
            assert_eq!(done["data"], json!({"id": "w", "name": "Hooked", "active": true}));
            assert_eq!(store.get("w").unwrap()["active"], true);
        }
        let done = call(&mut client, "set_workflow_active", json!({"id": "w", "active": false}));
        assert_eq!(done["message"], "ワークフローを無効化しました");
        assert_eq!((&done["data"]["active"], &store.get("w").unwrap()["active"]), (&json!(false), &json!(false)));
        let sent = n8n.requests().into_iter().filter(|request| request.method != "GET");
        let paths: Vec<_> = sent.map(|request| (request.method, request.path)).collect();
        let path = |action: &str| ("POST".to_owned(), format!("/api/v1/workflows/w/{action}"));
        assert_eq!(paths, [path("activate"), path("activate"), path("deactivate")]);
    }
    let store = WorkflowStore::new(Flavour::V2);
    store.put(hooked("w", false));
    let (_n8n, mut client) = start_with(&store, &["--locale", "en"]);
    let done = call(&mut client, "set_workflow_active", json!({"id": "w", "active": true}));
    assert_eq!(done["message"], "Workflow activated");
}

#[test]
fn what_n8n_says_about_a_workflow_that_it_cannot_activate_is_reported() {
    for flavour in FLAVOURS {
        let store = WorkflowStore::new(flavour);
        store.put(json!({"id": "w", "name": "W", "nodes": [node("Log", "set")], "connections": {}, "settings": {}}));
        let (_n8n, mut client) = start(&store);
        let refused = client.call("set_workflow_active", json!({"id": "w", "active": true})).unwrap_err();
        assert!(refused.starts_with("The workflow was not activated: n8n returned 400 (Workflow "), "{refused}");
        assert!(refused.contains("trigger") && refused.contains("then call set_workflow_active again"), "{refused}");
        assert_eq!(store.get("w").unwrap()["active"], false);
    }
    let taken = r#"{"message":"The URL path that the \"Hook\" node uses is already taken."}"#;
    let n8n = inactive(409, taken);
    let mut client = McpClient::start(&n8n.url());
    let refused = client.call("set_workflow_active", json!({"id": "w", "active": true})).unwrap_err();
    assert!(refused.contains("409 (The URL path") && refused.contains("already taken"), "{refused}");
}

#[test]
fn an_activation_that_is_not_possible_or_not_confirmed_is_told_apart() {
    let (_n8n, mut client) = start(&WorkflowStore::new(Flavour::V2));
    for id in ["gone", "..", ".", "a/b", "x?y", "\u{0}", ""] {
        let Err(missing) = client.call("set_workflow_active", json!({"id": id, "active": false})) else {
            panic!("{id:?} was found")
        };
        assert!(missing == format!("Workflow '{id}' not found.") || id.is_empty(), "{missing}");
    }
    let answered = |status, body: &'static str, active: bool| {
        let n8n = inactive(status, body);
        let mut client = McpClient::start(&n8n.url());
        let refused = client.call("set_workflow_active", json!({"id": "w", "active": active})).unwrap_err();
        let sent = n8n.requests().into_iter().filter(|request| request.method != "GET");
        assert_eq!(sent.count(), 1, "it is sent once");
        refused
    };
    let forbidden = answered(403, r#"{"message":"Forbidden"}"#, true);
    assert!(forbidden.contains("lacks the scope workflow:activate"), "{forbidden}");
    let forbidden = answered(403, r#"{"message":"Forbidden"}"#, false);
    assert!(forbidden.contains("lacks the scope workflow:deactivate"), "{forbidden}");
    for (status, body) in [(500, "{}"), (200, "{}"), (200, "[]")] {
        let unsure = answered(status, body, true);
        assert!(unsure.starts_with("n8n did not confirm the change"), "{unsure}");
    }
    let still = answered(200, r#"{"id":"w","name":"W","active":false}"#, true);
    assert!(still.contains("the workflow is not active"), "{still}");
}

#[test]
fn a_change_of_an_active_workflow_says_that_production_changed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("f.json");
    std::fs::write(&file, hooked("", false).to_string()).unwrap();
    for flavour in FLAVOURS {
        let store = WorkflowStore::new(flavour);
        store.put(hooked("on", true));
        store.put(hooked("off", false));
        let (_n8n, mut client) = start_with(&store, &["--toolsets", "workflows,builder"]);
        for (id, raw, live) in [("on", false, true), ("on", true, true), ("off", false, false), ("off", true, false)] {
            let update = json!({"id": id, "name": "New", "raw": raw});
            let message = call(&mut client, "update_workflow", update)["message"].as_str().unwrap().to_owned();
            assert_eq!(message.ends_with(LIVE), live, "{message}");
            let replace = json!({"id": id, "filePath": file, "raw": raw});
            let message = call(&mut client, "replace_workflow_from_file", replace)["message"].clone();
            assert_eq!(message.as_str().unwrap().ends_with(LIVE), live, "{message}");
        }
        let add = |id: &str| json!({"workflowId": id, "nodeType": "n8n-nodes-base.set"});
        let added = call(&mut client, "node_add", add("on"));
        assert_eq!(added["note"], "The workflow is active: this change is live in production.");
        assert!(call(&mut client, "node_add", add("off")).get("note").is_none());
    }
    let (_n8n, mut client) = start(&WorkflowStore::new(Flavour::V2));
    let tools = client.request("tools/list", json!({}))["result"]["tools"].clone();
    let tool = |name: &str| tools.as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap().clone();
    for name in ["update_workflow", "replace_workflow_from_file"] {
        let description = tool(name)["description"].as_str().unwrap().to_owned();
        assert!(description.contains("If the workflow is active, production changes at once."), "{description}");
    }
}

#[test]
fn the_advice_of_other_tools_can_be_followed() {
    let store = WorkflowStore::new(Flavour::V2);
    store.put(hooked("w", true));
    let (_n8n, mut client) = start_with(&store, &["--toolsets", "workflows,builder"]);
    let refused = client.call("delete_workflow", json!({"id": "w"})).unwrap_err();
    assert!(refused.contains("409 (Cannot delete") && refused.contains("set_workflow_active"), "{refused}");
    call(&mut client, "set_workflow_active", json!({"id": "w", "active": false}));
    let refused = client.call("test_workflow", json!({"workflowId": "w"})).unwrap_err();
    assert!(refused.contains("not active") && refused.contains("set_workflow_active"), "{refused}");
    call(&mut client, "delete_workflow", json!({"id": "w"}));
    assert!(store.ids().is_empty());
}

#[test]
fn an_activation_waits_for_an_update_of_the_same_workflow() {
    let store = WorkflowStore::new(Flavour::V2);
    store.put(hooked("w", true));
    let answering = store.clone();
    let n8n = Server::start(move |request| {
        let reply = answering.answer(request).unwrap();
        if request.method == "GET" { reply.delay_first_byte(std::time::Duration::from_millis(300)) } else { reply }
    });
    let mut client = McpClient::start(&n8n.url());
    let update = client.begin("update_workflow", json!({"id": "w", "name": "New"}));
    std::thread::sleep(std::time::Duration::from_millis(100));
    let deactivate = client.begin("set_workflow_active", json!({"id": "w", "active": false}));
    for id in [update, deactivate] {
        assert!(crate::mcp_client::text(&client.answer(id)).is_ok());
    }
    let methods: Vec<_> = n8n.requests().into_iter().map(|request| request.method).collect();
    assert_eq!(methods, ["GET", "PUT", "POST"]);
}
