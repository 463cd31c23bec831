//! Calls in progress when a server over HTTP is shut down, through the real binary.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::http_client::{Answer, HttpServer, json_headers};
use crate::mcp_client::text;
use crate::server::{Reply, Server};

const SHUTTING_DOWN: &str = "The server is shutting down; try again.";

const UNCERTAIN: &str = "The server is shutting down, and update_workflow may already have changed something in n8n. \
                         Check before you call it again.";

/// An n8n that accepts requests and does not respond while a test runs.
fn silent_n8n() -> Server {
    Server::start(|_| Reply::json(200, "{}").delay_first_byte(Duration::from_secs(60)))
}

fn wait_for_request(n8n: &Server) {
    let end = Instant::now() + Duration::from_secs(60);
    while n8n.requests().is_empty() {
        assert!(Instant::now() < end, "no request reached n8n within a minute");
        thread::sleep(Duration::from_millis(5));
    }
}

/// The response to a request that is in progress when SIGTERM arrives.
fn interrupted(n8n: &Server, server: &mut HttpServer, send: impl FnOnce(&HttpServer) -> Answer + Send) -> Answer {
    let answer = thread::scope(|scope| {
        let calling = scope.spawn(|| send(server));
        wait_for_request(n8n);
        let pid = server.pid().to_string();
        assert!(Command::new("kill").args(["-s", "TERM", &pid]).status().unwrap().success());
        calling.join().unwrap()
    });
    let (code, took) = server.wait();
    assert_eq!(code, Some(0));
    assert!(took < Duration::from_secs(2), "{took:?}");
    answer
}

#[test]
fn an_interrupted_rest_call_gets_503() {
    let json = [("content-type", "application/json")];
    let write = json!({"name": "update_workflow", "parameters": {"id": "1", "name": "W"}});
    for (body, message) in [
        (json!({"name": "get_execution", "parameters": {"id": "1"}}), SHUTTING_DOWN),
        (json!({"name": "list_workflows"}), SHUTTING_DOWN),
        (write, UNCERTAIN),
    ] {
        let n8n = silent_n8n();
        let mut server = HttpServer::start(&n8n.url(), &[]);
        let send = |server: &HttpServer| server.send("POST", "/mcp/execute", &json, &body.to_string());
        let answer = interrupted(&n8n, &mut server, send);
        assert_eq!(answer.status, 503, "{answer:?}");
        let error = json!({"error": {"message": message, "code": "UNAVAILABLE", "details": {}}});
        assert_eq!(answer.message(), error);
    }
}

#[test]
fn an_interrupted_mcp_call_gets_a_tool_error() {
    let calls = [
        ("get_execution", json!({"id": "1"}), SHUTTING_DOWN),
        ("update_workflow", json!({"id": "1", "name": "W"}), UNCERTAIN),
    ];
    for (tool, arguments, message) in calls {
        let n8n = silent_n8n();
        let mut server = HttpServer::start(&n8n.url(), &[]);
        let params = json!({"name": tool, "arguments": arguments});
        let answer = interrupted(&n8n, &mut server, |server| server.request("tools/call", params, &[]));
        assert_eq!((answer.status, text(&answer.message())), (200, Err(message.to_owned())), "{answer:?}");
    }
}

#[test]
fn an_interrupted_mcp_call_of_a_session_gets_a_tool_error() {
    let n8n = silent_n8n();
    let mut server = HttpServer::start(&n8n.url(), &[]);
    let client = json!({"name": "test", "version": "0"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let send = |server: &HttpServer, session: Option<&str>, message: Value| {
        let mut headers = json_headers();
        headers.extend(session.map(|session| ("mcp-session-id", session)));
        server.send("POST", "/mcp", &headers, &message.to_string())
    };
    let answer = send(&server, None, json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}));
    let session = answer.header("mcp-session-id").expect("a session").to_owned();
    send(&server, Some(&session), json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let params = json!({"name": "get_execution", "arguments": {"id": "1"}});
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
    let answer = interrupted(&n8n, &mut server, |server| send(server, Some(&session), call));
    assert_eq!((answer.status, text(&answer.message())), (200, Err(SHUTTING_DOWN.to_owned())), "{answer:?}");
}
