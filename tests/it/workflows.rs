//! The workflow tools, through the real binary, against both kinds of n8n.

use std::path::Path;

use n8n_lens::budget;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::fixtures;
use crate::mcp_client::McpClient;
use crate::server::{Reply, Request, Server};
use crate::workflow_store::{Flavour, WorkflowStore};

const FLAVOURS: [Flavour; 2] = [Flavour::V2, Flavour::V1];

fn start(store: &WorkflowStore) -> (Server, McpClient) {
    start_with(store, &[])
}

fn start_with(store: &WorkflowStore, arguments: &[&str]) -> (Server, McpClient) {
    let answering = store.clone();
    let n8n = Server::start(move |request| {
        answering.answer(request).unwrap_or_else(|| Reply::json(404, r#"{"message":"not found"}"#))
    });
    let client = McpClient::start_with(&n8n.url(), arguments);
    (n8n, client)
}

fn call(client: &mut McpClient, tool: &str, arguments: Value) -> Value {
    serde_json::from_str(&client.call(tool, arguments).unwrap()).unwrap()
}

fn bodies(n8n: &Server, method: &str) -> Vec<Value> {
    let sent = n8n.requests().into_iter().filter(|request| request.method == method);
    sent.map(|request| serde_json::from_slice(&request.body).unwrap()).collect()
}

fn node(name: &str, kind: &str) -> Value {
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
fn a_workflow_is_shown_as_a_summary_and_raw() {
    for flavour in FLAVOURS {
        let store = WorkflowStore::new(flavour);
        store.put(agent());
        let (_n8n, mut client) = start(&store);
        let small = call(&mut client, "get_workflow", json!({"id": "agent1"}));
        assert_eq!(small["message"], "ワークフローを取得しました");
        assert_eq!(
            small["data"],
            json!({"id": "agent1", "name": "Agent flow", "active": true, "nodeCount": 4, "tags": ["prod"]})
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
fn large_workflows_fit_the_budget_as_valid_json() {
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
        assert!(budget::count(first["data"]["nextCursor"].as_str().unwrap()) < 40, "a cursor is short");
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
        let beyond = call(&mut client, "list_workflows", json!({"offset": 99}))["data"].clone();
        assert_eq!(beyond["count"], 0);
        assert_eq!(beyond["truncated"]["reason"], "offset 99 is beyond the last workflow");
        assert_eq!(call(&mut client, "list_workflows", json!({"name": "flow 2", "limit": 100}))["data"]["count"], 6);

        let raw = call(&mut client, "list_workflows", json!({"raw": true, "limit": 2}));
        assert!(raw["nextCursor"].is_string(), "it stands beside the list");
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
fn a_list_that_does_not_fit_continues_after_what_it_shows() {
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
fn an_update_changes_what_was_given_and_nothing_else() {
    for flavour in FLAVOURS {
        let store = WorkflowStore::new(flavour);
        let mut workflow = agent();
        workflow["active"] = json!(false);
        // What n8n and its editor leave in workflows, and no n8n accepts.
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
                // n8n itself drops "DEFAULT" with any change.
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
        assert_eq!(now["settings"]["executionOrder"], "v1", "settings are laid over the old ones");
        assert_eq!(now["settings"]["timezone"], "Asia/Tokyo");
        assert_eq!(now["nodes"], after["nodes"]);
    }
}

#[test]
fn what_n8n_wrote_goes_back_byte_for_byte() {
    // Half a surrogate pair, and numbers beyond f64.
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
    assert!(refused.starts_with("There is nothing to change: give name,"), "{refused}");
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
fn an_unknown_key_from_the_caller_is_refused_by_name() {
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
fn n8ns_own_refusals_are_shown_in_its_words() {
    let store = WorkflowStore::new(Flavour::V2);
    store.put(agent());
    let (_n8n, mut client) = start(&store);
    let twice = json!({"name": "N", "nodes": [node("A", "t"), node("A", "t")], "connections": {}});
    let refused = client.call("create_workflow", twice).unwrap_err();
    assert!(refused.contains("400") && refused.contains("duplicate_node_name"), "{refused}");
    let active = client.call("delete_workflow", json!({"id": "agent1"})).unwrap_err();
    assert!(
        active.starts_with("n8n answered 409 (Cannot delete a published workflow. Unpublish it before deleting.). "),
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

/// An export as n8n's editor writes it, with what other versions do not know.
fn export() -> Value {
    let mut workflow = agent();
    let more = json!({"versionId": "v", "meta": {"instanceId": "i"}, "active": false, "description": "d",
        "settings": {"executionOrder": "v1", "timeSavedMode": "fixed", "binaryMode": "separate"}});
    workflow.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    workflow["nodes"][0]["customTelemetryTags"] = json!({});
    workflow
}

#[test]
fn files_become_workflows_and_omissions_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("flow.json"), format!("\u{feff}{}", export())).unwrap();
    for flavour in FLAVOURS {
        let store = WorkflowStore::new(flavour);
        let (n8n, mut client) = start_with(&store, &["--files-root", folder.path().to_str().unwrap()]);
        let made = call(&mut client, "create_workflow_from_file", json!({"filePath": "flow.json"}));
        let message = made["message"].as_str().unwrap();
        assert!(message.starts_with("ファイルからワークフローを作成しました（送信しなかった項目: "), "{message}");
        for member in ["id", "active", "versionId", "meta", "tags", "description"] {
            assert!(message.contains(member), "{member} in {message}");
        }
        let id = made["data"]["id"].as_str().unwrap().to_owned();
        assert_ne!(id, "agent1", "the id of the file is not used");
        let stored = store.get(&id).unwrap();
        assert_eq!(stored["connections"], export()["connections"]);
        assert_eq!(stored["nodes"].as_array().unwrap().len(), 4);
        match flavour {
            Flavour::V2 => {
                assert_eq!(stored["pinData"], export()["pinData"]);
                assert_eq!(bodies(&n8n, "POST").len(), 1);
            }
            Flavour::V1 => {
                for left_out in ["pinData", "settings.timeSavedMode", "nodes[].customTelemetryTags"] {
                    assert!(message.contains(left_out), "{left_out} in {message}");
                }
                assert_eq!(bodies(&n8n, "POST").len(), 2, "n8n 1 refused before it did anything");
            }
        }
        let mut other = export();
        other["name"] = json!("Replaced");
        other["nodes"] = json!([node("Only", "t")]);
        other["connections"] = json!({});
        std::fs::write(folder.path().join("other.json"), other.to_string()).unwrap();
        let replaced = call(&mut client, "replace_workflow_from_file", json!({"id": id, "filePath": "./other.json"}));
        assert_eq!(replaced["data"], json!({"id": id, "name": "Replaced"}));
        assert!(replaced["message"].as_str().unwrap().starts_with("ファイルからワークフローを置き換えました"));
        assert_eq!(store.get(&id).unwrap()["nodes"][0]["name"], "Only");
    }
}

#[test]
fn files_that_are_not_workflows_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("broken.json", "{\n  \"name\": \"x\",\n  \"nodes\": [,]\n}");
    write("cut.json", "{\"name\": \"x\"");
    write("list.json", "[{}]");
    write("text.json", "\"hello\"");
    write("rest.json", "12x");
    write("deep.json", &"[".repeat(300_000));
    write("nameless.json", r#"{"nodes":[],"connections":{}}"#);
    write("nodeless.json", r#"{"name":"x","connections":{}}"#);
    write("nodes.json", r#"{"name":"x","nodes":{},"connections":{}}"#);
    write("node.json", r#"{"name":"x","nodes":[{"name":"A","type":"t"},{"name":"B"}],"connections":{}}"#);
    write("connections.json", r#"{"name":"x","nodes":[],"connections":[]}"#);
    write("settings.json", r#"{"name":"x","nodes":[],"connections":{},"settings":"no"}"#);
    write("long.json", &json!({"name": "n".repeat(129), "nodes": [], "connections": {}}).to_string());
    std::fs::create_dir(folder.path().join("folder.json")).unwrap();
    let huge = std::fs::File::create(folder.path().join("huge.json")).unwrap();
    huge.set_len(64 * 1024 * 1024 + 1).unwrap();
    let (n8n, mut client) =
        start_with(&WorkflowStore::new(Flavour::V2), &["--files-root", folder.path().to_str().unwrap()]);
    let cases = [
        ("broken.json", "it is not JSON: expected value at line 3, column 13."),
        ("cut.json", "it is not JSON: EOF while parsing an object at line 1, column 12."),
        ("list.json", "it is not a workflow: it is a list; give one workflow."),
        ("text.json", "it is not a workflow: it is not an object."),
        ("rest.json", "it is not JSON: trailing characters at line 1, column 3."),
        ("deep.json", "it is not JSON: EOF while parsing a list at line 1, column 300000."),
        ("nameless.json", "it is not a workflow: name is missing."),
        ("nodeless.json", "it is not a workflow: nodes is missing."),
        ("nodes.json", "it is not a workflow: nodes must be a list of objects."),
        ("node.json", "it is not a workflow: nodes[1].type is missing."),
        ("connections.json", "it is not a workflow: connections must be an object."),
        ("settings.json", "it is not a workflow: settings must be an object."),
        ("long.json", "it is not a workflow: name must have 1 to 128 characters."),
        ("folder.json", "'folder.json' is not a file."),
        ("huge.json", "File 'huge.json' is larger than 64 MiB, which no workflow is."),
        ("none.json", "File 'none.json' does not exist. Relative paths start at the folder for workflow files."),
    ];
    for (file, why) in cases {
        for (tool, arguments) in [
            ("create_workflow_from_file", json!({"filePath": file})),
            ("replace_workflow_from_file", json!({"id": "w", "filePath": file})),
        ] {
            let refused = client.call(tool, arguments).unwrap_err();
            assert!(refused.ends_with(why), "{file}: {refused}");
        }
    }
    assert!(n8n.requests().is_empty());
}

#[test]
#[cfg(unix)]
fn files_outside_the_root_are_refused_however_they_are_named() {
    let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let flow = json!({"name": "F", "nodes": [], "connections": {}}).to_string();
    std::fs::write(outside.path().join("secret.json"), &flow).unwrap();
    std::fs::write(root.path().join("inside.json"), &flow).unwrap();
    std::fs::create_dir(root.path().join("sub")).unwrap();
    let link = |to: &Path, name: &str| std::os::unix::fs::symlink(to, root.path().join(name)).unwrap();
    link(&outside.path().join("secret.json"), "link.json");
    link(outside.path(), "linked");
    link(&root.path().join("inside.json"), "good.json");
    let pipe = root.path().join("pipe.json");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let (_n8n, mut client) =
        start_with(&WorkflowStore::new(Flavour::V2), &["--files-root", root.path().to_str().unwrap()]);
    let name = outside.path().file_name().unwrap().to_str().unwrap();
    let absolute = outside.path().join("secret.json");
    let outside = [
        format!("../{name}/secret.json"),
        format!("sub/../../{name}/secret.json"),
        absolute.to_str().unwrap().to_owned(),
        "link.json".to_owned(),
        "linked/secret.json".to_owned(),
        // Whether it exists is not revealed.
        format!("../{name}/nothing.json"),
        "linked/nothing.json".to_owned(),
        "/etc/no-such-file".to_owned(),
    ];
    for path in outside {
        let refused = client.call("create_workflow_from_file", json!({"filePath": path})).unwrap_err();
        assert!(refused.contains("is outside the folder for workflow files"), "{path}: {refused}");
    }
    let refused = client.call("create_workflow_from_file", json!({"filePath": "pipe.json"})).unwrap_err();
    assert_eq!(refused, "'pipe.json' is not a file.");
    for path in ["inside.json", "sub/../inside.json", "good.json", root.path().join("inside.json").to_str().unwrap()] {
        assert!(client.call("create_workflow_from_file", json!({"filePath": path})).is_ok(), "{path}");
    }
}

#[test]
fn a_change_is_never_sent_twice_when_it_may_have_been_made() {
    let broken: [fn(&Request) -> Reply; 4] = [
        |_| Reply::json(500, r#"{"message":"Internal server error"}"#),
        |_| Reply::json(503, "<html>").header("retry-after", "1"),
        |_| Reply::raw(""),
        |_| Reply::json(200, r#"{"id":"w","name":"W","active":false,"nodes":[]}"#).cut_after(20),
    ];
    for answer in broken {
        let n8n = Server::start(move |request| match request.method.as_str() {
            "GET" => Reply::json(200, r#"{"id":"w","name":"W","nodes":[],"connections":{},"settings":{}}"#),
            _ => answer(request),
        });
        let mut client = McpClient::start(&n8n.url());
        let calls = [
            ("POST", "create_workflow", json!({"name": "W", "nodes": [], "connections": {}})),
            ("PUT", "update_workflow", json!({"id": "w", "name": "N"})),
        ];
        for (method, tool, arguments) in calls {
            let unsure = client.call(tool, arguments).unwrap_err();
            assert!(unsure.starts_with("n8n did not confirm the change"), "{unsure}");
            assert!(unsure.contains("it may have been made. Look at the workflow"), "{unsure}");
            assert_eq!(n8n.requests().iter().filter(|request| request.method == method).count(), 1, "{unsure}");
        }
    }
}

#[test]
fn a_change_is_sent_again_if_there_was_no_connection() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut client = McpClient::start(&format!("http://{free}"));
    let refused = client.call("delete_workflow", json!({"id": "w"})).unwrap_err();
    assert!(refused.contains("could not be reached") && refused.contains("3 times"), "{refused}");
}

#[test]
fn a_redirected_change_does_not_count_as_made() {
    let n8n = Server::start(|request| match request.path.as_str() {
        "/api/v1/workflows" if request.method == "POST" => {
            Reply::json(301, "{}").header("location", "/api/v1/workflows/")
        }
        _ => Reply::json(200, r#"{"data":[]}"#),
    });
    let mut client = McpClient::start(&n8n.url());
    let refused = client.call("create_workflow", json!({"name": "W", "nodes": [], "connections": {}})).unwrap_err();
    assert!(refused.contains("redirects"), "{refused}");
}

#[test]
fn a_change_does_not_follow_a_redirect() {
    for status in [301, 302, 307, 308] {
        let n8n = Server::start(move |request| {
            if request.path.ends_with("elsewhere") {
                return Reply::json(200, r#"{"id":"w","name":"W","nodes":[]}"#);
            }
            Reply::json(status, "{}").header("location", "/api/v1/elsewhere")
        });
        let mut client = McpClient::start(&n8n.url());
        let create = json!({"name": "W", "nodes": [], "connections": {}});
        for (tool, arguments) in [("create_workflow", create), ("delete_workflow", json!({"id": "w"}))] {
            assert!(client.call(tool, arguments).unwrap_err().contains("redirects"));
        }
        assert!(n8n.requests().iter().all(|request| !request.path.ends_with("elsewhere")), "{status}");
        assert_eq!(n8n.requests().len(), 2);
    }
}

#[test]
fn an_address_can_contain_a_user() {
    let store = WorkflowStore::new(Flavour::V2);
    let (n8n, _) = start(&store);
    let mut client = McpClient::start(&n8n.url().replace("http://", "http://user:pa%20ss@"));
    let made = call(&mut client, "create_workflow", json!({"name": "W", "nodes": [], "connections": {}}));
    assert_eq!(store.ids(), [made["data"]["id"].as_str().unwrap()]);
    call(&mut client, "delete_workflow", json!({"id": made["data"]["id"]}));
    assert!(store.ids().is_empty());
}

#[test]
fn a_response_without_a_workflow_is_an_error() {
    for body in ["{}", "null", "[]", "\"x\"", r#"{"status":"ok"}"#] {
        let n8n = Server::start(move |_| Reply::json(200, body));
        let mut client = McpClient::start(&n8n.url());
        for arguments in [json!({"id": "w"}), json!({"id": "w", "raw": true}), json!({"id": "w", "node": "A"})] {
            let refused = client.call("get_workflow", arguments).unwrap_err();
            assert_eq!(refused, "n8n's response contains no workflow. Check N8N_URL.", "{body}");
        }
        assert!(client.call("get_workflow_connections", json!({"id": "w"})).is_err());
        for raw in [false, true] {
            let create = json!({"name": "W", "nodes": [], "connections": {}, "raw": raw});
            let unsure = client.call("create_workflow", create).unwrap_err();
            assert!(unsure.contains("contains no workflow") && unsure.contains("may have been made"), "{unsure}");
        }
    }
    let page = Server::start(|_| Reply::bytes(200, "text/html", b"<html>Log in</html>".as_slice()));
    let mut client = McpClient::start(&page.url());
    let unsure = client.call("delete_workflow", json!({"id": "w"})).unwrap_err();
    assert!(unsure.contains("text/html") && unsure.contains("may have been made"), "{unsure}");
}

#[test]
fn two_updates_of_one_workflow_lose_nothing() {
    let store = WorkflowStore::new(Flavour::V2);
    store.put(json!({"id": "w", "name": "W", "nodes": [node("A", "t")], "connections": {}, "settings": {}}));
    let answering = store.clone();
    let n8n = Server::start(move |request| {
        let reply = answering.answer(request).unwrap();
        if request.method == "GET" { reply.delay_first_byte(std::time::Duration::from_millis(200)) } else { reply }
    });
    let mut client = McpClient::start(&n8n.url());
    let changes = [
        json!({"id": "w", "name": "renamed"}),
        json!({"id": "w", "nodes": [node("B", "t")]}),
        json!({"id": "w", "settings": {"timezone": "UTC"}}),
    ];
    let calls: Vec<_> = changes.into_iter().map(|change| client.begin("update_workflow", change)).collect();
    for id in calls {
        assert!(crate::mcp_client::text(&client.answer(id)).is_ok());
    }
    let after = store.get("w").unwrap();
    assert_eq!((&after["name"], &after["nodes"][0]["name"]), (&json!("renamed"), &json!("B")));
    assert_eq!(after["settings"]["timezone"], "UTC");
}

#[test]
fn settings_that_cannot_be_unset_are_reported() {
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
fn what_n8n_sets_itself_is_accepted_and_reported_as_not_sent() {
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
fn settings_missing_from_a_file_are_reported_as_kept() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("f.json");
    std::fs::write(&file, json!({"name": "F", "nodes": [], "connections": {}, "settings": {}}).to_string()).unwrap();
    let store = WorkflowStore::new(Flavour::V2);
    store.put(json!({"id": "w", "name": "W", "nodes": [], "connections": {}, "settings": {"timezone": "UTC"}}));
    let (_n8n, mut client) = start(&store);
    let replaced = call(&mut client, "replace_workflow_from_file", json!({"id": "w", "filePath": file}));
    assert_eq!(replaced["message"], "ファイルからワークフローを置き換えました（n8n に残った設定: timezone）");
}

#[test]
fn names_count_in_characters() {
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
fn pinned_data_is_named_among_what_raw_leaves_out() {
    for flavour in FLAVOURS {
        let store = WorkflowStore::new(flavour);
        store.put(agent());
        let (_n8n, mut client) = start(&store);
        let raw = call(&mut client, "get_workflow", json!({"id": "agent1", "raw": true}));
        assert!(raw["leftOut"]["members"].as_array().unwrap().contains(&json!("pinData")), "{}", raw["leftOut"]);
    }
}

#[test]
fn cut_keys_count_as_clipped() {
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
fn cursors_and_tags_are_checked() {
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
fn tags_of_any_kind_fit_the_budget() {
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
fn a_response_without_a_list_is_not_an_empty_list() {
    let n8n = Server::start(|_| Reply::json(200, r#"{"status":"ok"}"#));
    let mut client = McpClient::start(&n8n.url());
    let refused = client.call("list_workflows", json!({})).unwrap_err();
    assert_eq!(refused, "n8n's response contains no list of workflows. Check N8N_URL.");
}

/// The workflows of all executions that were saved from real n8ns.
pub fn real_workflows() -> Vec<Value> {
    let bodies = fixtures::executions().into_iter().map(|(_, body)| fixtures::parse(&body)["workflowData"].clone());
    let workflows: Vec<_> = bodies.filter(|workflow| workflow["nodes"].is_array()).collect();
    assert!(workflows.len() > 15);
    workflows
}

#[test]
fn every_real_workflow_comes_back_unchanged() {
    for flavour in FLAVOURS {
        let store = WorkflowStore::new(flavour);
        let (_n8n, mut client) = start(&store);
        for (at, mut workflow) in real_workflows().into_iter().enumerate() {
            let id = format!("w{at}");
            workflow["id"] = json!(id);
            workflow["active"] = json!(false);
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
    fn numbers_stay_unchanged(numbers in proptest::collection::vec(any::<f64>(), 1..200)) {
        use n8n_lens::workflow::{Change, Document};
        let numbers: Vec<_> = numbers.into_iter().filter(|number| number.is_finite()).collect();
        // As an agent's call comes in, and a body goes out.
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
    fn no_file_breaks_the_reader(text in ".{0,200}", at in 0usize..200, byte in any::<u8>()) {
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
