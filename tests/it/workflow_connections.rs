//! `get_workflow_connections`, through the real binary: which output leads where, and pages of neighbours.

use n8n_lens::budget;
use serde_json::{Value, json};

use crate::mcp_client::McpClient;
use crate::server::Server;
use crate::workflow_store::{Flavour, WorkflowStore};

fn start(workflow: Value) -> (Server, McpClient) {
    let store = WorkflowStore::new(Flavour::V2);
    store.put(workflow);
    let n8n = Server::start(move |request| store.answer(request).unwrap());
    let client = McpClient::start(&n8n.url());
    (n8n, client)
}

fn show(client: &mut McpClient, more: Value) -> Value {
    let mut arguments = json!({"id": "w"});
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let text = client.call("get_workflow_connections", arguments).unwrap();
    assert!(budget::count(&text) <= 20_000);
    serde_json::from_str::<Value>(&text).unwrap()["data"].clone()
}

fn node(name: &str, kind: &str, version: f64, more: Value) -> Value {
    let mut node = json!({"id": format!("id {name}"), "name": name, "type": kind, "typeVersion": version, "position": [0, 0],
        "parameters": {}});
    node.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    node
}

fn to(node: &str) -> Value {
    json!([{"node": node, "type": "main", "index": 0}])
}

fn workflow(nodes: Vec<Value>, connections: Value) -> Value {
    json!({"id": "w", "name": "W", "nodes": nodes, "connections": connections, "settings": {}})
}

/// The neighbours of each node: its inputs and its outputs.
fn neighbours(data: &Value) -> Vec<(String, Value, Value)> {
    let graph = data["graph"].as_array().unwrap();
    let of =
        |node: &Value| (node["node"].as_str().unwrap().to_owned(), node["inputs"].clone(), node["outputs"].clone());
    graph.iter().map(of).collect()
}

#[test]
fn the_branches_of_a_node_are_told_apart() {
    let rules = json!({"parameters": {"rules": {"values": [
        {"conditions": {"secret": "x".repeat(5000)}, "renameOutput": true, "outputKey": "Urgent"},
        {"outputKey": "not shown by n8n"}]}, "options": {"fallbackOutput": "extra"}}});
    let on_error = json!({"onError": "continueErrorOutput"});
    let nodes = vec![
        node("Large?", "n8n-nodes-base.if", 2.2, json!({})),
        node("Route", "n8n-nodes-base.switch", 3.2, rules),
        node("Each", "n8n-nodes-base.splitInBatches", 3.0, json!({})),
        node("Fetch", "n8n-nodes-base.httpRequest", 4.2, on_error),
        node("Plain", "n8n-nodes-base.set", 3.4, json!({})),
    ];
    let connections = json!({
        "Large?": {"main": [to("Route"), to("Plain")]},
        "Route": {"main": [to("Each"), to("Each"), to("Plain")]},
        "Each": {"main": [null, to("Fetch")]},
        "Fetch": {"main": [to("Plain"), to("Large?")]},
        "Plain": {"main": [to("Each")]},
    });
    let (_n8n, mut client) = start(workflow(nodes, connections));
    let shown = neighbours(&show(&mut client, json!({})));
    let expected = [
        ("Large?", json!(["Fetch (output 1: error)"]), json!(["Route (output 0: true)", "Plain (output 1: false)"])),
        (
            "Route",
            json!(["Large? (output 0: true)"]),
            json!(["Each (output 0: Urgent)", "Each (output 1)", "Plain (output 2: Fallback)"]),
        ),
        ("Each", json!(["Route (output 0: Urgent)", "Route (output 1)", "Plain"]), json!(["Fetch (output 1: loop)"])),
        ("Fetch", json!(["Each (output 1: loop)"]), json!(["Plain (output 0)", "Large? (output 1: error)"])),
        (
            "Plain",
            json!(["Large? (output 1: false)", "Route (output 2: Fallback)", "Fetch (output 0)"]),
            json!(["Each"]),
        ),
    ];
    assert_eq!(shown, expected.map(|(name, inputs, outputs)| (name.to_owned(), inputs, outputs)));
}

#[test]
fn the_inputs_of_a_merge_are_told_apart() {
    let names = ["A", "B", "Merge"];
    let nodes = names.map(|name| node(name, "my.node", 1.0, json!({}))).to_vec();
    let into = |index: usize| json!({"main": [[{"node": "Merge", "type": "main", "index": index}]]});
    let (_n8n, mut client) = start(workflow(nodes, json!({"A": into(0), "B": into(1)})));
    let shown = neighbours(&show(&mut client, json!({})));
    assert_eq!(shown[0].2, json!(["Merge (input 0)"]));
    assert_eq!(shown[2].1, json!(["A (input 0)", "B (input 1)"]));
}

/// A node with many neighbours on both sides, whose names are long.
fn hub() -> Value {
    let name = |at: usize| format!("{at:04} {}", "長い名前".repeat(20));
    let mut nodes = vec![node("Hub", "my.hub", 1.0, json!({}))];
    nodes.extend((0..300).map(|at| node(&name(at), "my.node", 1.0, json!({}))));
    let mut connections: serde_json::Map<_, _> = (0..150).map(|at| (name(at), json!({"main": [to("Hub")]}))).collect();
    let targets: Vec<_> = (150..300).map(|at| to(&name(at))[0].clone()).collect();
    connections.insert("Hub".to_owned(), json!({"main": [targets]}));
    workflow(nodes, Value::Object(connections))
}

#[test]
fn the_neighbours_of_one_node_are_paged() {
    let (_n8n, mut client) = start(hub());
    let (mut inputs, mut outputs, mut pages) = (Vec::new(), Vec::new(), 0);
    let mut offset = Some(0);
    while let Some(from) = offset {
        let data = show(&mut client, json!({"node": "Hub", "offset": from}));
        let node = &data["graph"][0];
        assert_eq!((&node["node"], &node["id"], &node["type"]), (&json!("Hub"), &json!("id Hub"), &json!("my.hub")));
        inputs.extend(node["inputs"].as_array().unwrap().clone());
        outputs.extend(node["outputs"].as_array().unwrap().clone());
        offset = data["truncated"]["nextOffset"].as_u64();
        pages += 1;
    }
    assert_eq!((inputs.len(), outputs.len()), (150, 150));
    let number = |name: &Value| name.as_str().unwrap()[..4].parse::<u32>().unwrap();
    let numbers = |names: &[Value]| names.iter().map(number).collect::<Vec<_>>();
    assert_eq!([numbers(&inputs), numbers(&outputs)].concat(), (0..300).collect::<Vec<u32>>());
    assert!(pages < 10);

    let page = show(&mut client, json!({"node": "id Hub", "offset": 149, "limit": 2}));
    let node = &page["graph"][0];
    assert_eq!((node["inputs"].as_array().unwrap().len(), node["outputs"].as_array().unwrap().len()), (1, 1));
    assert_eq!(page["truncated"]["nextOffset"], 151);
    assert!(page["truncated"]["reason"].as_str().unwrap().starts_with("149 more neighbours"));
}

#[test]
fn nodes_are_paged_with_a_limit_and_an_offset_beyond_the_end_says_so() {
    let (_n8n, mut client) = start(hub());
    let page = show(&mut client, json!({"offset": 299, "limit": 1}));
    assert_eq!(page["graph"].as_array().unwrap().len(), 1);
    assert_eq!((&page["truncated"]["nextOffset"], &page["graph"][0]["inputs"]), (&json!(300), &json!(["Hub"])));
    let last = show(&mut client, json!({"offset": 300, "limit": 9}));
    assert!(last["truncated"].is_null() && last["graph"].as_array().unwrap().len() == 1);
    let beyond = show(&mut client, json!({"offset": 301}));
    assert_eq!(beyond["truncated"]["reason"], "offset 301 is beyond the end: there are 301 nodes");
    assert!(beyond["graph"].as_array().unwrap().is_empty());
    let unknown = client.call("get_workflow_connections", json!({"id": "w", "node": "Hob"})).unwrap_err();
    assert!(unknown.starts_with("Node 'Hob' not found in workflow 'w'. Did you mean 'Hub'?"), "{unknown}");
}
