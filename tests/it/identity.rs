//! Responses about something other than what was requested, through the real binary.

use std::sync::Mutex;

use serde_json::{Value, json};

use crate::fixtures;
use crate::mcp_client::McpClient;
use crate::server::{Reply, Request, Server};

/// A name in a body that was not requested.
const CANARY: &str = "of another request";

fn start(handler: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> (Server, McpClient) {
    let n8n = Server::start(handler);
    let client = McpClient::start_with(&n8n.url(), &["--toolsets", "executions,workflows,builder"]);
    (n8n, client)
}

fn execution(id: impl Into<Value>) -> Value {
    let mut execution = fixtures::parse(&fixtures::execution("b_http_500"));
    execution["id"] = id.into();
    execution
}

fn workflow(id: impl Into<Value>) -> Value {
    let node = json!({"id": "1", "name": "A", "type": "n8n-nodes-base.webhook", "typeVersion": 1, "position": [0, 0],
        "parameters": {}});
    json!({"name": CANARY, "active": false, "nodes": [node], "connections": {}, "settings": {}, "id": id.into()})
}

#[test]
fn a_body_about_something_else_is_refused() {
    let (_n8n, mut client) = start(|request| match request.path.contains("/workflows/") {
        true => Reply::json(200, workflow("w2").to_string()),
        false => Reply::json(200, execution("43").to_string()),
    });
    let reads = [
        ("get_execution", json!({"id": "42"}), ["43", "42"]),
        ("get_execution_by_node", json!({"id": "42", "nodeName": "HTTP Request"}), ["43", "42"]),
        ("get_execution", json!({"id": "4"}), ["43", "4"]),
        ("get_workflow", json!({"id": "w1"}), ["w2", "w1"]),
        ("get_workflow", json!({"id": "w1", "raw": true}), ["w2", "w1"]),
        ("get_workflow", json!({"id": "w1", "node": "A"}), ["w2", "w1"]),
        ("get_workflow", json!({"id": "W2"}), ["w2", "W2"]),
        ("get_workflow_connections", json!({"id": "w1"}), ["w2", "w1"]),
        ("workflow_load", json!({"workflowIdOrPath": "w1"}), ["w2", "w1"]),
        ("update_workflow", json!({"id": "w1", "name": "renamed"}), ["w2", "w1"]),
        ("node_add", json!({"workflowId": "w1", "nodeType": "n8n-nodes-base.set"}), ["w2", "w1"]),
        ("test_workflow", json!({"workflowId": "w1"}), ["w2", "w1"]),
        ("set_workflow_active", json!({"id": "w1", "active": true}), ["w2", "w1"]),
    ];
    for (tool, arguments, [received, requested]) in reads {
        let refused = client.call(tool, arguments.clone()).expect_err(tool);
        let said =
            format!("n8n's response is about '{received}', but '{requested}' was requested. None of it is shown");
        assert!(refused.starts_with(&said) && !refused.contains(CANARY), "{tool} {arguments}: {refused}");
    }
    let changes =
        [("set_workflow_active", json!({"id": "w1", "active": false})), ("delete_workflow", json!({"id": "w1"}))];
    for (tool, arguments) in changes {
        let unsure = client.call(tool, arguments).expect_err(tool);
        let said = "n8n did not confirm the change (n8n's response is about 'w2', but 'w1' was requested): it may have \
                    been made. Check the workflow before you try again.";
        assert_eq!(unsure, said, "{tool}");
    }
}

#[test]
fn a_connection_that_is_one_answer_behind_never_answers_for_another_call() {
    let last = Mutex::new("0".to_owned());
    let (_n8n, mut client) = start(move |request| {
        let id = request.path.rsplit('/').next().unwrap_or_default().to_owned();
        let late = std::mem::replace(&mut *last.lock().unwrap(), id);
        Reply::json(200, execution(late).to_string())
    });
    for id in 1..20 {
        let refused = client.call("get_execution", json!({"id": id.to_string()})).unwrap_err();
        assert!(refused.contains(&format!("is about '{}', but '{id}' was requested", id - 1)), "{refused}");
    }
    client.call("get_execution", json!({"id": "19"})).unwrap();
}

#[test]
fn the_same_id_is_recognized_however_it_is_written() {
    let (_n8n, mut client) = start(|request| {
        let id = request.path.rsplit('/').next().unwrap_or_default();
        let body = match (id, request.path.contains("/workflows/")) {
            ("1" | "01", true) => workflow(1),
            (id, true) => workflow(id.replace("%20", " ").replace("%2F", "/")),
            ("7", false) => fixtures::parse(br#"{"status": "success", "data": {"resultData": {"runData": {}}}}"#),
            ("9007199254740993", false) => execution("9007199254740993"),
            (id, false) if id.len() % 2 == 0 => execution(id.trim_start_matches('0').parse::<u64>().unwrap()),
            (id, false) => execution(id.trim_start_matches('0')),
        };
        Reply::json(200, body.to_string())
    });
    for id in ["42", "042", "0042", "7", "123", "9007199254740993"] {
        client.call("get_execution", json!({ "id": id })).expect(id);
    }
    client.call("get_execution", json!({"id": 42})).unwrap();
    for id in ["1", "01", "a/b", "a b", "t24W9S2Lc2l1mxAb"] {
        client.call("get_workflow", json!({ "id": id })).expect(id);
    }
}

#[test]
fn the_name_of_another_workflow_is_not_shown_in_a_list() {
    let (_n8n, mut client) = start(|request| match request.path.as_str() {
        "/api/v1/executions" => {
            let row = |id: &str, workflow: &str| json!({"id": id, "status": "success", "workflowId": workflow});
            Reply::json(200, json!({"data": [row("2", "w1"), row("1", "w2")], "nextCursor": null}).to_string())
        }
        _ => {
            // The id comes before the name, as n8n sends it.
            Reply::json(200, format!(r#"{{"id":"w2","name":"{CANARY}","nodes":[]}}"#))
        }
    });
    let list: Value = serde_json::from_str(&client.call("list_executions", json!({})).unwrap()).unwrap();
    let names: Vec<_> = list["data"]["executions"].as_array().unwrap().iter().map(|row| &row["workflowName"]).collect();
    assert_eq!(names, ["Unknown Workflow", CANARY]);
}
