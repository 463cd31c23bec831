//! The URL that `test_workflow` calls, whatever path a workflow's trigger has.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use serde_json::{Value, json};

use crate::mcp_client::McpClient;
use crate::server::{Reply, Server};
use crate::workflow_store::{Flavour, WorkflowStore};

fn webhook(path: &str, method: &str) -> Value {
    json!([{"id": "1", "name": "Hook", "type": "n8n-nodes-base.webhook", "typeVersion": 2, "position": [0, 0],
        "webhookId": "h", "parameters": {"path": path, "httpMethod": method}}])
}

fn form(path: &str) -> Value {
    json!([{"id": "1", "name": "Form", "type": "n8n-nodes-base.formTrigger", "typeVersion": 2, "position": [0, 0],
        "webhookId": "h", "parameters": {"path": path}}])
}

fn chat(id: &str) -> Value {
    json!([{"id": "1", "name": "Chat", "type": "@n8n/n8n-nodes-langchain.chatTrigger", "typeVersion": 1,
        "position": [0, 0], "webhookId": id, "parameters": {"public": true}}])
}

/// Tests a workflow with this trigger; returns the tool's error, and the calls outside n8n's API.
fn test(base: &str, trigger: Value) -> (String, Vec<String>) {
    let store = WorkflowStore::new(Flavour::V2);
    store.put(json!({"id": "w", "name": "W", "active": true, "connections": {}, "settings": {}, "nodes": trigger}));
    // Every list of executions has a new one, which cannot be read: the tool does not wait for it.
    let listed = AtomicU64::new(0);
    let prefix = base.to_owned();
    let n8n = Server::start(move |request| {
        let mut request = request.clone();
        request.path = request.path.strip_prefix(&prefix).unwrap_or(&request.path).to_owned();
        match request.path.as_str() {
            "/api/v1/executions" if request.query("status").is_some() => {
                Reply::json(200, r#"{"data":[],"nextCursor":null}"#)
            }
            "/api/v1/executions" => {
                let id = listed.fetch_add(1, SeqCst).to_string();
                Reply::json(200, json!({"data": [{"id": id}], "nextCursor": null}).to_string())
            }
            _ => store.answer(&request).unwrap_or_else(|| Reply::json(404, r#"{"message":"not found"}"#)),
        }
    });
    let mut client = McpClient::start_with(&format!("{}{base}", n8n.url()), &["--toolsets", "builder"]);
    let refused = client.call("test_workflow", json!({"workflowId": "w"})).unwrap_err();
    let called = n8n.requests().into_iter().filter(|request| !request.path.starts_with(&format!("{base}/api/v1/")));
    (refused, called.map(|request| format!("{} {}", request.method, request.path)).collect())
}

#[test]
fn a_path_that_leads_out_of_the_webhooks_is_not_called() {
    for path in [
        ".\t./x",
        "..\n/x",
        ".\r\n./x",
        "\t../x",
        "../x",
        "a/../../x",
        "a/./b",
        "a\tb",
        "..",
        "a/..\n",
        "../../api/v1/workflows",
        ".\t./.\n./api/v1/workflows/w",
    ] {
        let chat = chat(&format!("{path}/.\t./.\n./x"));
        for (base, trigger) in
            [("", webhook(path, "POST")), ("/base", webhook(path, "GET")), ("", form(path)), ("", chat)]
        {
            let (refused, called) = test(base, trigger);
            assert!(called.is_empty(), "{path:?} called {called:?}");
            assert!(refused.contains("leads elsewhere, so it was not called"), "{path:?}: {refused}");
        }
    }
}

#[test]
fn an_encoded_path_stays_below_the_webhooks() {
    for (path, called_as) in [
        ("%2e%2e/x", "/webhook/%252e%252e/x"),
        ("%2E%2e%2Fx", "/webhook/%252E%252e%252Fx"),
        (".%2e/x", "/webhook/.%252e/x"),
        ("..\\x", "/webhook/..%5Cx"),
        ("\\\\other.example\\x", "/webhook/%5C%5Cother.example%5Cx"),
        ("//other.example/x", "/webhook/other.example/x"),
        ("a//other.example/x", "/webhook/a//other.example/x"),
        ("http://other.example/x", "/webhook/http://other.example/x"),
        ("x?y=../z", "/webhook/x%3Fy=../z"),
        ("x#../z", "/webhook/x%23../z"),
        ("user:word@other.example/x", "/webhook/user:word@other.example/x"),
        ("@other.example", "/webhook/@other.example"),
        ("x;y", "/webhook/x;y"),
        ("...", "/webhook/..."),
        ("ü/\u{202e}", "/webhook/%C3%BC/%E2%80%AE"),
    ] {
        let (refused, called) = test("", webhook(path, "POST"));
        // A refused path is refused before it is called.
        let is_refused = refused.contains("leads elsewhere, so it was not called");
        assert_eq!(is_refused, called.is_empty(), "{path:?} called {called:?}: {refused}");
        let expected = if is_refused { Vec::new() } else { vec![format!("POST {called_as}")] };
        assert_eq!(called, expected, "{path:?}");
    }
}

#[test]
fn a_webhook_is_called_with_no_method_but_those_of_n8n() {
    for (method, called_as) in [("PUT", "PUT"), ("CONNECT", "POST"), ("TRACE", "POST"), ("GET /x HTTP/1.1\r\n", "POST")]
    {
        let (_, called) = test("", webhook("x", method));
        assert_eq!(called, [format!("{called_as} /webhook/x")], "{method:?}");
    }
}
