//! The tools over plain REST, through the real binary.

use serde_json::{Value, json};

use crate::http_client::{Answer, HttpServer};
use crate::server::{Reply, Server};
use crate::tools;
use crate::workflow_store::{Flavour, WorkflowStore};

fn start(store: &WorkflowStore, arguments: &[&str]) -> (Server, HttpServer) {
    let answering = store.clone();
    let n8n = Server::start(move |request| {
        answering.answer(request).unwrap_or_else(|| Reply::json(404, r#"{"message":"not found"}"#))
    });
    let server = HttpServer::start(&n8n.url(), arguments);
    (n8n, server)
}

fn execute(server: &HttpServer, body: &str) -> Answer {
    server.send("POST", "/mcp/execute", &[("content-type", "application/json")], body)
}

fn error(answer: &Answer) -> (u16, String, String) {
    let error = answer.message()["error"].clone();
    let text = |member: &str| error[member].as_str().unwrap().to_owned();
    assert!(error["details"].is_object());
    (answer.status, text("code"), text("message"))
}

#[test]
fn tools_are_listed_with_their_schemas() {
    let (_n8n, server) = start(&WorkflowStore::new(Flavour::V2), &["--toolsets", &tools::all_toolsets()]);
    for method in ["GET", "POST"] {
        let listed = server.send(method, "/mcp/tools", &[], "");
        assert_eq!(listed.status, 200);
        let listed = listed.message()["tools"].clone();
        let listed = listed.as_array().unwrap();
        let names: Vec<_> = listed.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names, tools::names(&tools::all()));
        for tool in listed {
            assert!(tool["name"].is_string() && tool["description"].is_string());
            assert_eq!(tool["inputSchema"]["type"], "object");
            assert!(tool["outputSchema"]["properties"].as_object().is_some_and(|fields| !fields.is_empty()));
        }
    }
}

#[test]
fn a_tool_gives_the_same_answer_as_over_mcp() {
    let store = WorkflowStore::new(Flavour::V2);
    store.put(json!({"id": "w", "name": "W", "nodes": [], "connections": {}, "settings": {}}));
    let (_n8n, server) = start(&store, &[]);
    let answer = execute(&server, &json!({"name": "get_workflow", "parameters": {"id": "w"}}).to_string());
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/json")));
    let over_mcp: Value = serde_json::from_str(&server.call("get_workflow", json!({"id": "w"}), &[]).unwrap()).unwrap();
    assert_eq!(answer.message(), over_mcp);
    let without = execute(&server, r#"{"name": "list_workflows"}"#);
    assert_eq!(without.message()["data"]["count"], 1);
}

#[test]
fn every_error_has_its_code() {
    let (_n8n, server) = start(&WorkflowStore::new(Flavour::V2), &["--read-only"]);
    let is = |answer: &Answer, status: u16, code: &str, part: &str| {
        let (got, its, message) = error(answer);
        assert!((got, its.as_str()) == (status, code) && message.contains(part), "{got} {its} {message}");
    };
    is(&execute(&server, r#"{"name":"no_such_tool"}"#), 404, "TOOL_NOT_FOUND", "Available: list_executions");
    is(&execute(&server, "{"), 400, "INVALID_REQUEST_FORMAT", "The body must be");
    is(&execute(&server, "[]"), 400, "INVALID_REQUEST_FORMAT", "The body must be");
    is(&execute(&server, r#"["list_workflows", {}]"#), 400, "INVALID_REQUEST_FORMAT", "not an array");
    let other = r#"{"name":"list_workflows","arguments":{"active":true}}"#;
    is(&execute(&server, other), 400, "INVALID_REQUEST_FORMAT", "unknown field");
    is(&execute(&server, r#"{"parameters":{}}"#), 400, "INVALID_REQUEST_FORMAT", "name");
    is(&execute(&server, r#"{"name":"get_workflow","parameters":[]}"#), 400, "INVALID_REQUEST_FORMAT", "map");
    let missing = execute(&server, r#"{"name":"get_workflow"}"#);
    assert_eq!(missing.message()["error"]["details"], json!({"parameter": "id"}));
    is(&missing, 400, "INVALID_TOOL_PARAMETERS", "'id' is missing");
    let wrong = r#"{"name":"get_execution","parameters":{"id":"x"}}"#;
    is(&execute(&server, wrong), 400, "INVALID_TOOL_PARAMETERS", "'id' is \"x\"; it must be digits");
    let unknown = r#"{"name":"get_workflow","parameters":{"id":"abc"}}"#;
    is(&execute(&server, unknown), 500, "TOOL_EXECUTION_ERROR", "Workflow 'abc' not found.");
    let writes = r#"{"name":"delete_workflow","parameters":{"id":"abc"}}"#;
    is(&execute(&server, writes), 500, "TOOL_EXECUTION_ERROR", "--read-only");
    let plain = server.send("POST", "/mcp/execute", &[("content-type", "text/plain")], r#"{"name":"get_workflow"}"#);
    is(&plain, 400, "INVALID_REQUEST_FORMAT", "content-type");
}

#[test]
fn rest_is_access_controlled_like_mcp() {
    let (_n8n, server) = start(&WorkflowStore::new(Flavour::V2), &["--auth-token", "s3cret"]);
    let body = r#"{"name":"list_workflows"}"#;
    let json = ("content-type", "application/json");
    let status = |headers: &[(&str, &str)]| server.send("POST", "/mcp/execute", headers, body).status;
    assert_eq!(status(&[json]), 401);
    assert_eq!(status(&[json, ("authorization", "Bearer s3cret")]), 200);
    assert_eq!(status(&[json, ("authorization", "Bearer s3cret"), ("host", "evil.example")]), 403);
    assert_eq!(status(&[json, ("authorization", "Bearer s3cret"), ("origin", "https://evil.example")]), 403);
    assert_eq!(server.send("GET", "/mcp/tools", &[], "").status, 401);
    let other = [json, ("authorization", "Bearer s3cret"), ("x-n8n-api-key", "another")];
    let refused = server.send("POST", "/mcp/execute", &other, body);
    assert!(error(&refused).2.contains("refused the API key"));
}
