//! A node whose type is replaced, with another or its own, through the real binary.

use serde_json::{Value, json};

use crate::builder::{Harness, harness};

/// A workflow of one node, in memory. A file contains what node_add cannot create: older versions, credentials.
fn of_node(harness: &Harness, node: &Value) -> &'static str {
    let workflow = json!({"name": "W", "nodes": [node], "connections": {}});
    std::fs::write(harness.root.path().join("w.json"), workflow.to_string()).unwrap();
    "w.json"
}

fn replaced(node: &Value, new_type: &str, more: Value) -> Result<Value, String> {
    let mut harness = harness();
    let id = of_node(&harness, node);
    let mut arguments = json!({"workflowId": id, "targetNodeId": "A", "newNodeType": new_type});
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    harness.client.call("node_replace", arguments)?;
    Ok(harness.file("w.json")["nodes"][0].clone())
}

#[test]
fn a_node_that_keeps_its_type_keeps_its_version() {
    let switch = |version: &str| {
        let text = format!(
            r#"{{"id":"a","name":"A","type":"n8n-nodes-base.switch","typeVersion":{version},"position":[0,0],"parameters":{{"mode":"rules"}}}}"#
        );
        serde_json::from_str::<Value>(&text).unwrap()
    };
    let (own, parameters) = ("n8n-nodes-base.switch", json!({"parameters": {"mode": "expression"}}));
    for version in ["3", "2", "1", "3.1"] {
        let after = replaced(&switch(version), own, parameters.clone()).unwrap();
        let mut expected = switch(version);
        expected["parameters"] = parameters["parameters"].clone();
        assert_eq!(after, expected);
    }
    // By its display name, too; another version only if it is requested, and if there is one.
    assert_eq!(replaced(&switch("3"), "Switch", json!({})).unwrap()["typeVersion"], 3);
    let newer = replaced(&switch("3"), own, json!({"typeVersion": 3.2})).unwrap();
    assert_eq!(newer["typeVersion"], json!(3.2));
    let refused = replaced(&switch("3"), own, json!({"typeVersion": 4})).unwrap_err();
    assert!(refused.contains("Switch has no version 4; it has 1, 2, 3, 3.2"), "{refused}");
    // A node of another type is of the newest version.
    assert_eq!(replaced(&switch("3"), "n8n-nodes-base.if", json!({})).unwrap()["typeVersion"], json!(2.2));
    assert_eq!(replaced(&switch("3"), "n8n-nodes-base.if", json!({"typeVersion": 2})).unwrap()["typeVersion"], 2);
    let mut without = switch("3");
    without.as_object_mut().unwrap().remove("typeVersion");
    assert_eq!(replaced(&without, own, json!({})).unwrap()["typeVersion"], json!(3.2));
}

#[test]
fn what_belongs_to_a_type_stays_with_it() {
    let hook = json!({"id": "a", "name": "A", "type": "n8n-nodes-base.webhook", "typeVersion": 1, "position": [0, 0],
        "parameters": {}, "webhookId": "1-2", "credentials": {"httpHeaderAuth": {"id": "c", "name": "Mine"}}});
    let same = replaced(&hook, "n8n-nodes-base.webhook", json!({"parameters": {"path": "orders"}})).unwrap();
    assert_eq!((&same["webhookId"], &same["credentials"]), (&hook["webhookId"], &hook["credentials"]));
    let other = replaced(&hook, "n8n-nodes-base.set", json!({})).unwrap();
    assert_eq!((other.get("webhookId"), other.get("credentials")), (None, None));
    let set = json!({"id": "a", "name": "A", "type": "n8n-nodes-base.set", "position": [0, 0], "parameters": {}});
    assert!(replaced(&set, "n8n-nodes-base.webhook", json!({})).unwrap()["webhookId"].is_string());
}
