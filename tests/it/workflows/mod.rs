//! The workflow tools, through the real binary, against n8n 1 and n8n 2.

mod files;
mod once;

use n8n_lens::budget;
use proptest::prelude::*;
use serde_json::{Value, json};

use self::files::export;
use crate::fixtures;
use crate::mcp_client::McpClient;
use crate::server::{Reply, Server};
use crate::workflow_store::{Flavour, WorkflowStore};

pub const FLAVOURS: [Flavour; 2] = [Flavour::V2, Flavour::V1];

pub fn start(store: &WorkflowStore) -> (Server, McpClient) {
    start_with(store, &[])
}

pub fn start_with(store: &WorkflowStore, arguments: &[&str]) -> (Server, McpClient) {
    let answering = store.clone();
    let n8n = Server::start(move |request| {
        answering.answer(request).unwrap_or_else(|| Reply::json(404, r#"{"message":"not found"}"#))
    });
    let client = McpClient::start_with(&n8n.url(), arguments);
    (n8n, client)
}

pub fn call(client: &mut McpClient, tool: &str, arguments: Value) -> Value {
    serde_json::from_str(&client.call(tool, arguments).unwrap()).unwrap()
}

fn bodies(n8n: &Server, method: &str) -> Vec<Value> {
    let sent = n8n.requests().into_iter().filter(|request| request.method == method);
    sent.map(|request| serde_json::from_slice(&request.body).unwrap()).collect()
}

pub fn node(name: &str, kind: &str) -> Value {
    json!({"id": name.to_lowercase(), "name": name, "type": kind, "typeVersion": 1, "position": [0, 0], "parameters": {}})
}

/// An agent with a model, after a trigger.
fn agent() -> Value {
    let nodes =
        [node("Chat", "n8n-nodes-base.webhook"), node("Agent", "agent"), node("Model", "lm"), node("Log", "set")];
    let to = |node: &str, kind: &str| json!({"node": node, "type": kind, "index": 0});
    json!({
        "id": "agent1", "name": "Agent flow", "active": true, "nodes": nodes,
        "connections": {
            "Chat": {"main": [[to("Agent", "main"), to("Log", "main")], null, [to("Agent", "main")]]},
            "Model": {"ai_languageModel": [[to("Agent", "ai_languageModel")]]},
            "Agent": {"main": [[to("Log", "main")]]},
        },
        "settings": {"executionOrder": "v1"},
        "tags": [{"id": "t1", "name": "prod"}],
        "staticData": {"node:Chat": {"last": 1}},
        "pinData": {"Chat": [{"json": {"secret": "pinned"}}]},
    })
}

#[test]
fn a_workflow_is_summarized_or_raw() {
    for flavour in FLAVOURS {
        let store = WorkflowStore::new(flavour);
        store.put(agent());
        let (_n8n, mut client) = start(&store);
        let small = call(&mut client, "get_workflow", json!({"id": "agent1"}));
        assert_eq!(small["message"], "ワークフローを取得しました");
        assert_eq!(
            small["data"],
            json!({"id": "agent1", "name": "Agent flow", "active": true, "publishedVersion": "same", "nodeCount": 4,
                "tags": ["prod"]})
        );
        let raw = call(&mut client, "get_workflow", json!({"id": "agent1", "raw": true}));
        let whole = store.get("agent1").unwrap();
        assert_eq!((&raw["data"]["nodes"], &raw["data"]["connections"]), (&whole["nodes"], &whole["connections"]));
        assert_eq!(raw["data"]["settings"], whole["settings"]);
        for member in ["staticData", "pinData", "activeVersion"] {
            assert!(raw["data"].get(member).is_none(), "{member} is left out");
        }
        assert!(raw.get("truncated").is_none(), "nothing is clipped: {}", raw["truncated"]);
        assert_eq!(raw["leftOut"]["members"].as_array().unwrap().len(), 3, "{}", raw["leftOut"]);
        assert!(raw["leftOut"]["note"].as_str().unwrap().contains("may be written back without them"));
        assert!(!raw.to_string().contains("pinned"));
    }
}

#[test]
fn one_node_is_shown_in_full_by_name_or_id() {
    let store = WorkflowStore::new(Flavour::V2);
    let mut workflow = agent();
    workflow["nodes"][1]["parameters"] = json!({"prompt": "x".repeat(20_000)});
    workflow["nodes"][1]["credentials"] = json!({"openAiApi": {"id": "c1", "name": "mine"}});
    store.put(workflow.clone());
    let (_n8n, mut client) = start(&store);
    for wanted in ["Agent", "agent"] {
        let shown = call(&mut client, "get_workflow", json!({"id": "agent1", "node": wanted}));
        assert_eq!(shown["data"], json!({"id": "agent1", "name": "Agent flow", "node": workflow["nodes"][1]}));
        assert!(shown.get("truncated").is_none());
    }
    let missing = client.call("get_workflow", json!({"id": "agent1", "node": "Agnet"})).unwrap_err();
    assert_eq!(
        missing,
        "Node 'Agnet' not found in workflow 'agent1'. Did you mean 'Agent'? Nodes: 'Agent', 'Chat', 'Model', 'Log'"
    );
}

#[test]
fn the_graph_names_neighbours_and_connection_types() {
    let store = WorkflowStore::new(Flavour::V2);
    store.put(agent());
    let (_n8n, mut client) = start(&store);
    let shown = call(&mut client, "get_workflow_connections", json!({"id": "agent1"}));
    assert_eq!(shown["message"], "ワークフロー接続情報を取得しました");
    assert_eq!((&shown["data"]["id"], &shown["data"]["name"]), (&json!("agent1"), &json!("Agent flow")));
    assert_eq!(
        shown["data"]["graph"],
        json!([
            {"node": "Chat", "id": "chat", "type": "n8n-nodes-base.webhook", "inputs": [],
             "outputs": ["Agent (output 0)", "Log (output 0)", "Agent (output 2)"]},
            {"node": "Agent", "id": "agent", "type": "agent",
             "inputs": ["Chat (output 0)", "Chat (output 2)", "Model (ai_languageModel)"], "outputs": ["Log"]},
            {"node": "Model", "id": "model", "type": "lm", "inputs": [], "outputs": ["Agent (ai_languageModel)"]},
            {"node": "Log", "id": "log", "type": "set", "inputs": ["Chat (output 0)", "Agent"], "outputs": []},
        ])
    );
    assert!(shown["data"].get("rawConnections").is_none());
    let raw = call(&mut client, "get_workflow_connections", json!({"id": "agent1", "raw": true}));
    assert_eq!(raw["data"]["rawConnections"], store.get("agent1").unwrap()["connections"]);
    assert_eq!(raw["data"]["graph"], shown["data"]["graph"]);
}

#[test]
fn large_workflows_stay_within_the_budget_and_valid() {
    let store = WorkflowStore::new(Flavour::V2);
    let count = 3000;
    let nodes: Vec<_> = (0..count)
        .map(|at| {
            let mut node = node(&format!("Schritt {at} 処理"), "n8n-nodes-base.code");
            node["parameters"] = json!({"jsCode": "return items; // ".repeat(30)});
            node
        })
        .collect();
    let connections: serde_json::Map<_, _> = (1..count)
        .map(|at| {
            let next = json!({"node": format!("Schritt {at} 処理"), "type": "main", "index": 0});
            (format!("Schritt {} 処理", at - 1), json!({"main": [[next]]}))
        })
        .collect();
    store.put(json!({"id": "big", "name": "big", "nodes": nodes, "connections": connections, "settings": {}}));
    let (_n8n, mut client) = start(&store);

    let text = client.call("get_workflow", json!({"id": "big", "raw": true})).unwrap();
    let tokens = budget::count(&text);
    assert!((20_000..=25_000).contains(&tokens), "{tokens}");
    let raw: Value = serde_json::from_str(&text).unwrap();
    assert!(raw["truncated"]["reason"].as_str().unwrap().contains("never write this object back"));
    assert!(raw["truncated"]["clippedValues"].as_u64().unwrap() > 0);

    let text = client.call("get_workflow_connections", json!({"id": "big", "raw": true})).unwrap();
    assert!(budget::count(&text) <= 25_000);
    let both: Value = serde_json::from_str(&text).unwrap();
    assert!(both["data"]["truncated"]["reason"].as_str().unwrap().contains("never write them back"));

    let (mut seen, mut offset) = (Vec::new(), Some(0));
    while let Some(from) = offset {
        let text = client.call("get_workflow_connections", json!({"id": "big", "offset": from})).unwrap();
        assert!(budget::count(&text) <= 20_000);
        let page: Value = serde_json::from_str(&text).unwrap();
        let graph = page["data"]["graph"].as_array().unwrap();
        seen.extend(graph.iter().map(|node| node["node"].clone()));
        offset = page["data"]["truncated"]["nextOffset"].as_u64();
    }
    assert_eq!(seen.len(), count);
    assert_eq!(seen.last().unwrap(), "Schritt 2999 処理");
    let small = call(&mut client, "get_workflow", json!({"id": "big"}));
    assert_eq!(small["data"]["nodeCount"], count);
}

#[test]
fn a_list_filters_skips_and_continues() {
    for flavour in FLAVOURS {
        let store = WorkflowStore::new(flavour);
        for at in 0..25 {
            let tags = if at % 2 == 0 { json!([{"id": "t", "name": "even"}]) } else { json!([]) };
            store.put(json!({"id": format!("w{at:02}"), "name": format!("Flow {at}"), "active": at % 5 == 0,
                "nodes": [node("A", "x")], "connections": {}, "settings": {}, "tags": tags}));
        }
        let (n8n, mut client) = start(&store);
        let first = call(&mut client, "list_workflows", json!({}));
        assert_eq!(first["message"], "ワークフロー一覧を取得しました");
        assert_eq!(first["data"]["count"], 20);
        assert_eq!(first["data"]["workflows"][0], json!({"id": "w00", "name": "Flow 0", "active": true}));
        let rest = call(&mut client, "list_workflows", json!({"cursor": first["data"]["nextCursor"]}));
        assert_eq!(rest["data"]["count"], 5);
        assert!(rest["data"].get("nextCursor").is_none());

        let mut arguments = json!({"active": false, "tags": ["even"], "limit": 3});
        let mut seen = Vec::new();
        loop {
            let page = call(&mut client, "list_workflows", arguments);
            let ids = page["data"]["workflows"].as_array().unwrap().iter().map(|found| found["id"].clone());
            seen.extend(ids);
            match page["data"].get("nextCursor") {
                Some(cursor) => arguments = json!({ "cursor": cursor }),
                None => break,
            }
        }
        assert_eq!(seen, ["w02", "w04", "w06", "w08", "w12", "w14", "w16", "w18", "w22", "w24"]);
        let skipped = call(&mut client, "list_workflows", json!({"offset": 23}));
        assert_eq!(skipped["data"]["workflows"][0]["id"], "w23");
        assert_eq!(call(&mut client, "list_workflows", json!({"offset": 99}))["data"]["count"], 0);
        assert_eq!(call(&mut client, "list_workflows", json!({"name": "flow 2", "limit": 100}))["data"]["count"], 6);

        let raw = call(&mut client, "list_workflows", json!({"raw": true, "limit": 2}));
        assert!(raw["nextCursor"].is_string(), "it is next to the list");
        assert_eq!(raw["data"][0]["tags"][0]["name"], "even");
        assert_eq!(raw["data"][1]["nodeCount"], 1);
        let keys: Vec<_> = raw["data"][0].as_object().unwrap().keys().collect();
        assert_eq!(keys, ["id", "name", "active", "tags", "createdAt", "updatedAt", "nodeCount"]);
        let asked = n8n.requests();
        assert!(asked.iter().all(|request| request.query("excludePinnedData") == Some("true")));
        assert!(asked.iter().all(|request| request.query("limit").is_some_and(|limit| limit != "0")));
    }
}

#[test]
fn a_list_that_does_not_fit_continues_after_its_last_entry() {
    let store = WorkflowStore::new(Flavour::V2);
    for at in 0..100 {
        let tags: Vec<_> =
            (0..40).map(|tag| json!({"id": format!("t{tag}"), "name": format!("名前 {at} {tag}")})).collect();
        store.put(json!({"id": format!("w{at:02}"), "name": "n".repeat(128), "nodes": [], "connections": {}, "settings": {}, "tags": tags}));
    }
    let (_n8n, mut client) = start(&store);
    let (mut seen, mut arguments) = (0, json!({"raw": true, "limit": 100}));
    loop {
        let text = client.call("list_workflows", arguments).unwrap();
        assert!(budget::count(&text) <= 25_000);
        let page: Value = serde_json::from_str(&text).unwrap();
        let shown = page["data"].as_array().unwrap().len();
        assert!(shown > 0 && page["data"][0]["id"] == format!("w{seen:02}"));
        seen += shown;
        match page.get("nextCursor") {
            Some(cursor) => arguments = json!({ "cursor": cursor }),
            None => break,
        }
    }
    assert_eq!(seen, 100);
}

#[test]
fn an_update_changes_only_the_given_members() {
    for flavour in FLAVOURS {
        let store = WorkflowStore::new(flavour);
        let mut workflow = agent();
        workflow["active"] = json!(false);
        // Members that n8n and its editor leave in workflows but n8n does not accept.
        workflow["nodes"][0]["extendsCredential"] = json!("x");
        workflow["nodes"][0]["notes"] = json!(null);
        workflow["nodes"][1]["parameters"] = json!({"big": 12345678901234567890u64, "tiny": 1e-7, "text": "a"});
        workflow["settings"]["saveManualExecutions"] = json!("DEFAULT");
        store.put(workflow);
        let before = store.get("agent1").unwrap();
        let (n8n, mut client) = start(&store);
        let mut nodes = before["nodes"].clone();
        nodes[1]["parameters"]["text"] = json!("b");
        let updated = call(&mut client, "update_workflow", json!({"id": "agent1", "nodes": nodes}));
        assert_eq!(updated["data"], json!({"id": "agent1", "name": "Agent flow"}));
        assert_eq!(updated["message"], "ワークフローを更新しました（送信しなかった項目: nodes[].extendsCredential）");
        let after = store.get("agent1").unwrap();
        for (member, value) in before.as_object().unwrap() {
            match member.as_str() {
                "updatedAt" | "versionId" | "versionCounter" => {}
                "nodes" => {
                    assert_eq!(after["nodes"][1]["parameters"]["text"], "b");
                    assert_eq!(after["nodes"][1]["parameters"]["big"], value[1]["parameters"]["big"]);
                    assert_eq!(after["nodes"][2], value[2]);
                }
                // n8n drops "DEFAULT" with any change.
                "settings" => assert_eq!(after["settings"]["executionOrder"], "v1"),
                _ => assert_eq!(&after[member], value, "{member} stays"),
            }
        }
        assert_eq!(bodies(&n8n, "PUT").len(), 1);
        assert!(bodies(&n8n, "PUT")[0].get("pinData").is_none());

        let renamed = call(
            &mut client,
            "update_workflow",
            json!({"id": "agent1", "name": "New", "settings": {"timezone": "Asia/Tokyo"}, "active": true, "tags": ["x"]}),
        );
        assert_eq!(renamed["data"]["name"], "New");
        assert!(renamed["message"].as_str().unwrap().ends_with("active, tags）"), "{}", renamed["message"]);
        let now = store.get("agent1").unwrap();
        assert_eq!((&now["name"], &now["active"]), (&json!("New"), &json!(false)));
        assert_eq!(now["settings"]["executionOrder"], "v1", "settings are merged");
        assert_eq!(now["settings"]["timezone"], "Asia/Tokyo");
        assert_eq!(now["nodes"], after["nodes"]);
    }
}

#[test]
fn unchanged_members_are_sent_back_byte_for_byte() {
    // A lone surrogate, numbers beyond f64, and keys of a newer n8n.
    let text = r#"{"id":"w","name":"W","nodes":[{"id":"1","name":"A","type":"t","position":[0,0],"typeVersion":1,"parameters":{"js":"cut \ud83d here","n":1.00000000000000000001,"e":1e999}}],"connections":{},"settings":{}}"#;
    let n8n = Server::start(move |request| match request.method.as_str() {
        "GET" => Reply::json(200, text),
        _ => Reply::json(200, r#"{"id":"w","name":"New","active":false,"nodes":[]}"#),
    });
    let mut client = McpClient::start(&n8n.url());
    call(&mut client, "update_workflow", json!({"id": "w", "name": "New"}));
    let put = n8n.requests().into_iter().find(|request| request.method == "PUT").unwrap();
    let put = String::from_utf8(put.body).unwrap();
    assert!(put.contains(r#""parameters":{"js":"cut \ud83d here","n":1.00000000000000000001,"e":1e999}"#), "{put}");
}

#[test]
fn an_empty_update_is_refused() {
    let store = WorkflowStore::new(Flavour::V2);
    store.put(agent());
    let (n8n, mut client) = start(&store);
    let refused = client.call("update_workflow", json!({"id": "agent1", "active": true})).unwrap_err();
    assert!(refused.starts_with("There is nothing to change: pass name,"), "{refused}");
    assert!(n8n.requests().is_empty());
}

#[test]
fn a_new_workflow_contains_what_n8n_accepts() {
    for flavour in FLAVOURS {
        let store = WorkflowStore::new(flavour);
        let (n8n, mut client) = start(&store);
        let made = call(
            &mut client,
            "create_workflow",
            json!({"name": "Made", "nodes": [node("A", "t")], "connections": {}, "active": true, "tags": ["x"]}),
        );
        assert_eq!(made["message"], "ワークフローを作成しました（送信しなかった項目: active, tags）");
        let id = made["data"]["id"].as_str().unwrap();
        assert_eq!(made["data"], json!({"id": id, "name": "Made", "active": false}));
        assert_eq!(
            bodies(&n8n, "POST"),
            [json!({"name": "Made", "connections": {}, "nodes": [node("A", "t")], "settings": {}})]
        );
        let raw =
            call(&mut client, "create_workflow", json!({"name": "R", "nodes": [], "connections": {}, "raw": true}));
        assert_eq!(raw["data"]["nodes"], json!([]));
        assert_eq!(raw["message"], "ワークフローを作成しました");
    }
}

#[test]
fn an_unknown_key_from_the_caller_is_refused() {
    for flavour in FLAVOURS {
        let store = WorkflowStore::new(flavour);
        store.put(agent());
        let (n8n, mut client) = start(&store);
        let mut typo = node("A", "t");
        typo["paramaters"] = json!({});
        let create = json!({"name": "N", "nodes": [typo], "connections": {}});
        let refused = client.call("create_workflow", create).unwrap_err();
        assert!(
            refused.contains("'nodes[].paramaters'") && refused.contains("Did you mean 'parameters'?"),
            "{refused}"
        );
        let settings = json!({"id": "agent1", "settings": {"timezon": "UTC"}});
        let refused = client.call("update_workflow", settings).unwrap_err();
        assert!(refused.contains("'settings.timezon'") && refused.contains("'timezone'"), "{refused}");
        assert_eq!(store.ids().len(), 1);
        assert_eq!((bodies(&n8n, "POST").len(), bodies(&n8n, "PUT").len()), (1, 1));
    }
}

#[test]
fn n8ns_errors_are_passed_on() {
    let store = WorkflowStore::new(Flavour::V2);
    store.put(agent());
    let (_n8n, mut client) = start(&store);
    let twice = json!({"name": "N", "nodes": [node("A", "t"), node("A", "t")], "connections": {}});
    let refused = client.call("create_workflow", twice).unwrap_err();
    assert!(refused.contains("400") && refused.contains("duplicate_node_name"), "{refused}");
    let active = client.call("delete_workflow", json!({"id": "agent1"})).unwrap_err();
    assert!(
        active.starts_with("n8n returned 409 (Cannot delete a published workflow. Unpublish it before deleting.). "),
        "{active}"
    );
    let silent = json!({"id": "agent1", "nodes": [node("Log", "set")], "connections": {}});
    let refused = client.call("update_workflow", silent).unwrap_err();
    assert!(refused.contains("saved the change") && refused.contains("no trigger node"), "{refused}");
}

#[test]
fn every_tool_reports_an_unknown_id() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), json!({"name": "F", "nodes": [], "connections": {}}).to_string()).unwrap();
    for flavour in FLAVOURS {
        let (_n8n, mut client) = start(&WorkflowStore::new(flavour));
        for id in ["abc123", "..", ".", "a/b", "ワークフロー", "x?raw=1#y", ".\n", "\t..", "a\u{0}"] {
            let calls = [
                ("get_workflow", json!({"id": id})),
                ("get_workflow", json!({"id": id, "raw": true})),
                ("get_workflow_connections", json!({"id": id})),
                ("update_workflow", json!({"id": id, "name": "x"})),
                ("delete_workflow", json!({"id": id})),
                ("replace_workflow_from_file", json!({"id": id, "filePath": file.path()})),
            ];
            for (tool, arguments) in calls {
                let missing = client.call(tool, arguments).unwrap_err();
                assert_eq!(missing, format!("Workflow '{id}' not found."), "{tool}");
            }
        }
    }
}

#[test]
fn a_workflow_is_deleted() {
    for flavour in FLAVOURS {
        let store = WorkflowStore::new(flavour);
        store.put(json!({"id": "old", "name": "Old", "nodes": [], "connections": {}, "settings": {}}));
        let (_n8n, mut client) = start(&store);
        let deleted = call(&mut client, "delete_workflow", json!({"id": "old"}));
        assert_eq!(deleted, json!({"success": true, "message": "ワークフローを削除しました", "data": {"id": "old"}}));
        assert!(store.ids().is_empty());
    }
}

#[test]
fn members_that_cannot_be_set_are_reported() {
    for flavour in FLAVOURS {
        let store = WorkflowStore::new(flavour);
        store.put(agent());
        let (_n8n, mut client) = start(&store);
        let settings = json!({"executionTimeout": null, "saveDataErrorExecution": "DEFAULT", "timezone": "UTC"});
        let done = call(&mut client, "update_workflow", json!({"id": "agent1", "settings": settings}));
        let message = done["message"].as_str().unwrap();
        assert!(message.contains("settings.executionTimeout, settings.saveDataErrorExecution）"), "{message}");
        let mut with_null = node("A", "n8n-nodes-base.webhook");
        with_null["foo"] = Value::Null;
        with_null["notes"] = Value::Null;
        let create = json!({"name": "N", "nodes": [with_null], "connections": {}});
        let message = call(&mut client, "create_workflow", create)["message"].clone();
        assert_eq!(message, "ワークフローを作成しました（送信しなかった項目: nodes[].foo）");
    }
}

#[test]
fn members_that_n8n_writes_are_accepted_and_left_out() {
    let store = WorkflowStore::new(Flavour::V2);
    let (_n8n, mut client) = start(&store);
    let mut whole = agent();
    whole["versionId"] = json!("v");
    whole["createdAt"] = json!("2026-01-01T00:00:00.000Z");
    let made = call(&mut client, "create_workflow", whole);
    let message = made["message"].as_str().unwrap();
    assert!(message.ends_with("active, tags, id, createdAt, versionId, staticData, pinData）"), "{message}");
    assert_ne!(made["data"]["id"], "agent1");
}

#[test]
fn name_limits_count_characters() {
    let store = WorkflowStore::new(Flavour::V2);
    let (_n8n, mut client) = start(&store);
    let name = "\u{1f600}".repeat(128);
    let made = call(&mut client, "create_workflow", json!({"name": name, "nodes": [], "connections": {}}));
    assert_eq!(made["data"]["name"], name);
    let long = json!({"name": "\u{1f600}".repeat(129), "nodes": [], "connections": {}});
    assert!(client.call("create_workflow", long).unwrap_err().contains("1 to 128 characters"));
}

#[test]
fn nodes_and_connections_are_found_in_workflows_of_megabytes() {
    let store = WorkflowStore::new(Flavour::V2);
    let count = 5000;
    let nodes: Vec<_> = (0..count)
        .map(|at| {
            let mut node = node(&format!("Node {at}"), "code");
            node["parameters"] = json!({"jsCode": "x".repeat(1200)});
            node
        })
        .collect();
    let to = |at: usize| json!({"node": format!("Node {at}"), "type": "main", "index": 0});
    let connections: serde_json::Map<_, _> = (0..count)
        .map(|at| {
            (format!("Node {at}"), json!({"main": [(1..20).map(|step| to((at + step) % count)).collect::<Vec<_>>()]}))
        })
        .collect();
    store.put(json!({"id": "big", "name": "big", "nodes": nodes, "connections": connections, "settings": {}}));
    let (_n8n, mut client) = start(&store);
    let last = call(&mut client, "get_workflow", json!({"id": "big", "node": "Node 4999"}));
    assert_eq!(last["data"]["node"], nodes[4999]);
    let page = call(&mut client, "get_workflow_connections", json!({"id": "big", "offset": 4999}));
    let last = &page["data"]["graph"][0];
    assert_eq!((last["inputs"].as_array().unwrap().len(), last["outputs"].as_array().unwrap().len()), (19, 19));
    assert!(page["data"].get("truncated").is_none());
}

#[test]
fn members_that_raw_leaves_out_are_named() {
    for flavour in FLAVOURS {
        let store = WorkflowStore::new(flavour);
        store.put(agent());
        let (_n8n, mut client) = start(&store);
        let raw = call(&mut client, "get_workflow", json!({"id": "agent1", "raw": true}));
        assert!(raw["leftOut"]["members"].as_array().unwrap().contains(&json!("pinData")), "{}", raw["leftOut"]);
    }
}

#[test]
fn clipped_keys_are_reported() {
    let store = WorkflowStore::new(Flavour::V2);
    let mut workflow = agent();
    workflow["nodes"][1]["parameters"] = json!({"k".repeat(300): 1});
    store.put(workflow);
    let (_n8n, mut client) = start(&store);
    let raw = call(&mut client, "get_workflow", json!({"id": "agent1", "raw": true}));
    assert_eq!(raw["truncated"]["clippedValues"], 1);
    assert!(raw["truncated"]["reason"].as_str().unwrap().contains("never write this object back"));
}

#[test]
fn a_cursor_is_not_contradicted() {
    let store = WorkflowStore::new(Flavour::V2);
    for id in 0..5 {
        store
            .put(json!({"id": id.to_string(), "name": id.to_string(), "nodes": [], "connections": {}, "settings": {}}));
    }
    let (_n8n, mut client) = start_with(&store, &[]);
    let first = call(&mut client, "list_workflows", json!({"active": false, "limit": 2}));
    let cursor = first["data"]["nextCursor"].clone();
    let again = call(&mut client, "list_workflows", json!({"cursor": cursor, "active": false, "limit": 2}));
    assert_eq!(again["data"]["count"], 2);
    for other in [
        json!({"active": true}),
        json!({"name": "x"}),
        json!({"tags": ["a"]}),
        json!({"offset": 1}),
        json!({"raw": true}),
    ] {
        let mut arguments = other;
        arguments["cursor"] = cursor.clone();
        let refused = client.call("list_workflows", arguments).unwrap_err();
        assert!(refused.contains("already says which workflows are listed"), "{refused}");
    }
}

#[test]
fn cursors_and_tags_are_validated() {
    let store = WorkflowStore::new(Flavour::V2);
    let (n8n, mut client) = start(&store);
    let encode =
        |page: Value| base64::Engine::encode(&base64::engine::general_purpose::URL_SAFE_NO_PAD, page.to_string());
    let page = |limit: Value, offset: Value| json!({"active": null, "tags": [], "name": null, "limit": limit, "offset": offset, "raw": false});
    let broken = [
        page(json!(0), json!(1)),
        page(json!(101), json!(0)),
        page(json!(1), json!(1u64 << 60)),
        page(json!(-1), json!(0)),
        json!([]),
    ];
    for broken in broken {
        let refused = client.call("list_workflows", json!({"cursor": encode(broken)})).unwrap_err();
        assert!(refused.contains("is not a nextCursor of this tool"), "{refused}");
    }
    let refused = client.call("list_workflows", json!({"tags": ["a,b"]})).unwrap_err();
    assert!(refused.contains("'a,b'") && refused.contains("comma"), "{refused}");
    assert!(client.call("list_workflows", json!({"offset": 1u64 << 60})).is_err());
    assert!(n8n.requests().is_empty());
}

#[test]
fn errors_stay_short() {
    let store = WorkflowStore::new(Flavour::V2);
    store.put(agent());
    let (_n8n, mut client) = start(&store);
    let long = "x".repeat(1_000_000);
    let calls = [
        ("get_workflow", json!({"id": long})),
        ("get_workflow", json!({"id": "agent1", "node": long})),
        ("delete_workflow", json!({"id": long})),
        ("create_workflow_from_file", json!({"filePath": long})),
        ("list_workflows", json!({"tags": [format!("{long},")]})),
    ];
    for (tool, arguments) in calls {
        let refused = client.call(tool, arguments).unwrap_err();
        assert!(refused.len() < 2000, "{tool}: {} bytes", refused.len());
    }
}

#[test]
fn tags_stay_within_the_budget() {
    let store = WorkflowStore::new(Flavour::V2);
    let tags: Vec<_> = (0..2000).map(|tag| json!({"id": "t", "name": format!("\u{1}\u{2}{tag}")})).collect();
    store.put(json!({"id": "w", "name": "W", "nodes": [], "connections": {}, "settings": {}, "tags": tags}));
    let (_n8n, mut client) = start(&store);
    let text = client.call("get_workflow", json!({"id": "w"})).unwrap();
    assert!(budget::count(&text) <= 20_000);
    let shown: Value = serde_json::from_str(&text).unwrap();
    assert!(shown["data"]["truncated"]["reason"].as_str().unwrap().ends_with("more tags"));
    let text = client.call("list_workflows", json!({"raw": true})).unwrap();
    let list: Value = serde_json::from_str(&text).unwrap();
    assert!(list["truncated"]["reason"].as_str().unwrap().contains("clipped"));
}

#[test]
fn english_messages_on_request() {
    let store = WorkflowStore::new(Flavour::V2);
    let (_n8n, mut client) = start_with(&store, &["--locale", "en"]);
    let made =
        call(&mut client, "create_workflow", json!({"name": "Made", "nodes": [], "connections": {}, "tags": []}));
    assert_eq!(made["message"], "Workflow created (not sent: tags)");
    assert_eq!(call(&mut client, "list_workflows", json!({}))["message"], "Workflows retrieved");
}

#[test]
fn a_response_without_a_list_is_an_error() {
    let n8n = Server::start(|_| Reply::json(200, r#"{"status":"ok"}"#));
    let mut client = McpClient::start(&n8n.url());
    let refused = client.call("list_workflows", json!({})).unwrap_err();
    assert_eq!(refused, "n8n's response contains no list of workflows. Check N8N_URL.");
}

/// The workflows of all recorded executions.
pub fn real_workflows() -> Vec<Value> {
    let bodies = fixtures::executions().into_iter().map(|(_, body)| fixtures::parse(&body)["workflowData"].clone());
    let workflows: Vec<_> = bodies.filter(|workflow| workflow["nodes"].is_array()).collect();
    assert!(workflows.len() > 15);
    workflows
}

#[test]
fn every_real_workflow_survives_an_update() {
    for flavour in FLAVOURS {
        let store = WorkflowStore::new(flavour);
        let (_n8n, mut client) = start(&store);
        for (at, mut workflow) in real_workflows().into_iter().enumerate() {
            let id = format!("w{at}");
            workflow["id"] = json!(id);
            (workflow["active"], workflow["activeVersionId"]) = (json!(false), Value::Null);
            store.put(workflow);
            let before = store.get(&id).unwrap();
            call(&mut client, "update_workflow", json!({"id": id, "name": before["name"]}));
            let after = store.get(&id).unwrap();
            for member in ["name", "nodes", "connections", "settings", "staticData", "pinData", "tags", "active"] {
                assert_eq!(after[member], before[member], "{member} of {}", before["name"]);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn numbers_are_preserved(numbers in proptest::collection::vec(any::<f64>(), 1..200)) {
        use n8n_lens::workflow::{Change, Document};
        let numbers: Vec<_> = numbers.into_iter().filter(|number| number.is_finite()).collect();
        // As in an agent's call, and in a request body.
        let text = json!({"name": "N", "nodes": [{"name": "A", "type": "t", "parameters": {"n": numbers}}],
            "connections": {}}).to_string();
        let given: serde_json::Map<String, Value> = serde_json::from_str(&text).unwrap();
        let mut document = Document::of(&given).unwrap();
        document.tidy(Change::Create).unwrap();
        let sent: Value = serde_json::from_str(&document.text()).unwrap();
        let came: Vec<f64> = serde_json::from_value(sent["nodes"][0]["parameters"]["n"].clone()).unwrap();
        prop_assert_eq!(came, numbers);
    }

    #[test]
    fn no_file_makes_the_reader_panic(text in ".{0,200}", at in 0usize..200, byte in any::<u8>()) {
        use n8n_lens::workflow::{Change, Document};
        let _ = Document::parse(text.as_bytes());
        let mut bytes = export().to_string().into_bytes();
        let at = at % bytes.len();
        bytes[at] = byte;
        if let Ok(mut document) = Document::parse(&bytes) {
            let _ = document.check();
            document.tidy(Change::Create).unwrap();
            prop_assert!(serde_json::from_str::<Value>(&document.text()).is_ok());
        }
    }
}
