//! A change is sent once, and reported as made only if it was made.

use serde_json::json;

use super::{call, node, start};
use crate::mcp_client::McpClient;
use crate::server::{Reply, Request, Server};
use crate::workflow_store::{Flavour, WorkflowStore};

#[test]
fn a_change_that_may_have_been_made_is_never_sent_again() {
    let broken: [fn(&Request) -> Reply; 4] = [
        |_| Reply::json(500, r#"{"message":"Internal server error"}"#),
        |_| Reply::json(503, "<html>").header("retry-after", "1"),
        |_| Reply::raw(""),
        |_| Reply::json(200, r#"{"id":"w","name":"W","active":false,"nodes":[]}"#).cut_after(20),
    ];
    for answer in broken {
        let rename = json!([{"type": "setWorkflowMetadata", "name": "N"}]);
        let calls = [
            ("POST", "create_workflow", json!({"name": "W", "nodes": [], "connections": {}})),
            ("PUT", "update_workflow", json!({"id": "w", "name": "N"})),
            ("PUT", "edit_workflow", json!({"workflowId": "w", "operations": rename})),
        ];
        for (method, tool, arguments) in calls {
            let n8n = Server::start(move |request| match request.method.as_str() {
                "GET" => Reply::json(200, r#"{"id":"w","name":"W","nodes":[],"connections":{},"settings":{}}"#),
                _ => answer(request),
            });
            let mut client = McpClient::start(&n8n.url());
            let unsure = client.call(tool, arguments).unwrap_err();
            assert!(unsure.starts_with("n8n did not confirm the change"), "{unsure}");
            assert!(unsure.contains("it may have been made. Check the workflow"), "{unsure}");
            assert_eq!(unsure.to_lowercase().matches("try again").count(), 1, "contradictory advice: {unsure}");
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
fn a_redirected_change_is_not_reported_as_made() {
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
fn a_change_does_not_follow_redirects() {
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
    assert!(unsure.contains("HTML") && unsure.contains("may have been made"), "{unsure}");
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
