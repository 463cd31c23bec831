//! Streamable HTTP through the real binary: sessions, stateless requests, and access control.

use std::collections::HashMap;
use std::io::Read;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use crate::fixtures;
use crate::http_client::{HttpServer, json_headers};
use crate::server::{self, Reply, Server};

fn n8n() -> Server {
    let executions = fixtures::executions().into_iter().filter(|(name, _)| name != "a_small_success.nodata");
    let by_id: HashMap<_, _> =
        executions.map(|(_, body)| (fixtures::parse(&body)["id"].as_str().unwrap().to_owned(), body)).collect();
    server::n8n(by_id)
}

fn legacy(server: &HttpServer, session: Option<&str>, message: Value) -> crate::http_client::Answer {
    let mut headers = json_headers();
    headers.extend(session.map(|session| ("mcp-session-id", session)));
    server.send("POST", "/mcp", &headers, &message.to_string())
}

#[test]
fn sessions_of_2025_and_stateless_requests_of_2026_get_the_same_answers() {
    let n8n = n8n();
    let server = HttpServer::start(&n8n.url(), &[]);
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}}});
    let answer = legacy(&server, None, hello);
    let session = answer.header("mcp-session-id").expect("a session").to_owned();
    assert_eq!(answer.message()["result"]["protocolVersion"], "2025-11-25");
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(legacy(&server, Some(&session), ready).status, 202);
    // A stateless call works while the session is open.
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": "get_execution", "arguments": {"id": "42"}}});
    let old = crate::mcp_client::text(&legacy(&server, Some(&session), call.clone()).message()).unwrap();
    let new = server.call("get_execution", json!({"id": "42"}), &[]).unwrap();
    assert_eq!(old, new);
    assert_eq!(serde_json::from_str::<Value>(&new).unwrap()["data"]["error"]["httpCode"], "500");
    let discovered = server.request("server/discover", json!({}), &[]).message();
    assert!(discovered["result"]["supportedVersions"].to_string().contains("2026-07-28"), "{discovered}");
    // The client can end its session.
    let ended = server.send("DELETE", "/mcp", &[("mcp-session-id", session.as_str())], "");
    assert!(ended.status < 300, "{ended:?}");
    assert_eq!(legacy(&server, Some(&session), call).status, 404);
}

#[test]
fn health_is_reported_with_and_without_n8n() {
    let n8n = n8n();
    let server = HttpServer::start(&n8n.url(), &[]);
    let health = server.send("GET", "/health", &[], "");
    assert_eq!(health.status, 200);
    assert_eq!(health.message()["status"], "ok");
    assert_eq!(health.message()["version"], env!("CARGO_PKG_VERSION"));
    assert!(health.message()["uptime"].is_u64());
    assert!(n8n.requests().is_empty(), "no request to n8n");
    let deep = server.send("GET", "/health?deep=true", &[], "");
    assert_eq!((deep.status, deep.message()["n8n"]["status"].as_str()), (200, Some("ok")));
    assert_eq!(n8n.requests().len(), 1);
    drop(n8n);
    // Open connections can still be answered for a moment.
    std::thread::sleep(Duration::from_millis(300));
    let deep = server.send("GET", "/health?deep=true", &[], "");
    assert_eq!((deep.status, deep.message()["n8n"]["status"].as_str()), (503, Some("error")));
    assert_eq!(server.send("GET", "/health", &[], "").status, 200);
}

#[test]
fn deep_health_is_access_controlled_and_uses_the_callers_key() {
    let n8n = n8n();
    let server = HttpServer::start(&n8n.url(), &[]);
    let deep = |headers: &[(&str, &str)]| server.send("GET", "/health?deep", headers, "").status;
    assert_eq!(deep(&[("host", "evil.example")]), 403);
    assert_eq!(deep(&[("origin", "https://evil.example")]), 403);
    assert!(n8n.requests().is_empty());
    assert_eq!(deep(&[("origin", &format!("http://{}", server.authority))]), 200);
    assert_eq!(deep(&[("x-n8n-api-key", "another")]), 503, "n8n refuses the key");
    assert_eq!(deep(&[("x-n8n-api-key", "")]), 200);
    let keyless = HttpServer::start_with_key(&n8n.url(), None, &[]);
    let unknown = keyless.send("GET", "/health?deep=1", &[], "");
    assert_eq!((unknown.status, unknown.message()["n8n"]["status"].as_str()), (200, Some("unknown")));
    let forbidden = Server::start(|_| Reply::json(403, r#"{"message":"Forbidden"}"#));
    let server = HttpServer::start(&forbidden.url(), &[]);
    assert_eq!(server.send("GET", "/health?deep=true", &[], "").status, 200, "a key for workflows only");
}

#[test]
fn every_loopback_name_is_accepted() {
    let n8n = n8n();
    for host in ["127.0.0.2", "LOCALHOST", "[::1]", "::1"] {
        if std::net::TcpListener::bind((host.trim_matches(['[', ']']), 0)).is_err() {
            continue;
        }
        let server = HttpServer::start(&n8n.url(), &["--host", host]);
        assert_eq!(server.request("tools/list", json!({}), &[]).status, 200, "{host}");
    }
}

#[test]
fn deep_health_does_not_wait_for_a_slow_n8n() {
    let n8n = Server::start(|_| Reply::json(200, r#"{"data":[]}"#).delay_first_byte(Duration::from_secs(30)));
    let server = HttpServer::start(&n8n.url(), &[]);
    let begun = std::time::Instant::now();
    assert_eq!(server.send("GET", "/health?deep=true", &[], "").status, 503);
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn foreign_hosts_and_origins_are_refused() {
    let n8n = n8n();
    let server = HttpServer::start(&n8n.url(), &["--allowed-hosts", "lens.example.com"]);
    let port = server.authority.rsplit(':').next().unwrap().to_owned();
    let origin = |origin: &str| server.request("tools/list", json!({}), &[("origin", origin)]).status;
    let host = |host: &str| server.request("tools/list", json!({}), &[("host", host)]).status;
    assert_eq!(origin("https://evil.example"), 403);
    assert_eq!(origin("null"), 403);
    assert_eq!(origin(&format!("http://localhost:{port}")), 200);
    assert_eq!(origin("https://lens.example.com"), 200);
    assert_eq!(host("evil.example"), 403);
    assert_eq!(host(&format!("localhost:{port}")), 200);
    assert_eq!(host("lens.example.com"), 200);
}

#[test]
fn a_token_is_required_if_set_and_always_off_loopback() {
    let n8n = n8n();
    let server = HttpServer::start(&n8n.url(), &["--auth-token", "s3cret-token"]);
    let status = |headers: &[(&str, &str)]| server.request("tools/list", json!({}), headers).status;
    let refused = server.request("tools/list", json!({}), &[]);
    assert_eq!((refused.status, refused.header("www-authenticate")), (401, Some("Bearer")));
    assert_eq!(status(&[("authorization", "Bearer wrong")]), 401);
    assert_eq!(status(&[("authorization", "Bearer s3cret-token2")]), 401);
    assert_eq!(status(&[("authorization", "Basic s3cret-token")]), 401);
    assert_eq!(status(&[("authorization", "Bearer s3cret-token")]), 200);
    assert_eq!(status(&[("authorization", "bearer s3cret-token")]), 200);
    assert_eq!(server.send("GET", "/health", &[], "").status, 200, "plain health is public");
    assert_eq!(server.send("GET", "/health?deep=true", &[], "").status, 401);
    assert!(n8n.requests().is_empty());

    let open = std::process::Command::new(crate::support::binary())
        .args(["--transport", "http", "--host", "0.0.0.0", "--port", "0"])
        .env_clear()
        .env("N8N_URL", n8n.url())
        .env("N8N_API_KEY", "test-key")
        .output()
        .unwrap();
    assert_eq!(open.status.code(), Some(2));
    let said = String::from_utf8_lossy(&open.stderr).into_owned();
    assert!(said.contains("0.0.0.0") && said.contains("N8N_LENS_AUTH_TOKEN"), "{said}");
}

#[test]
fn a_request_can_have_its_own_key() {
    let keys = Arc::new(Mutex::new(Vec::new()));
    let seen = keys.clone();
    let n8n = Server::start(move |request| {
        seen.lock().unwrap().push(request.header("x-n8n-api-key").unwrap_or_default().to_owned());
        Reply::json(200, r#"{"data":[],"nextCursor":null}"#)
    });
    let server = HttpServer::start(&n8n.url(), &[]);
    server.call("list_executions", json!({}), &[("x-n8n-api-key", "another-account")]).unwrap();
    server.call("list_executions", json!({}), &[]).unwrap();
    // A list also counts the running executions, with the same key.
    let mut used = keys.lock().unwrap().clone();
    used.dedup();
    assert_eq!(used, ["another-account", "test-key"]);
    let refused = server.call("list_executions", json!({}), &[("x-n8n-api-key", "a b")]).unwrap_err();
    assert!(refused.contains("X-N8N-API-KEY") && !refused.contains("a b"), "{refused}");

    let keyless = HttpServer::start_with_key(&n8n.url(), None, &[]);
    let refused = keyless.call("list_executions", json!({}), &[]).unwrap_err();
    assert_eq!(
        refused,
        "There is no API key for n8n: set N8N_API_KEY, or send the header X-N8N-API-KEY with each request."
    );
    assert!(keyless.call("list_executions", json!({}), &[("x-n8n-api-key", "mine")]).is_ok());
    assert_eq!(keys.lock().unwrap().last().unwrap(), "mine");
}

#[test]
fn a_client_that_disconnects_stops_its_download() {
    let n8n = Server::start(|_| {
        Reply::json(200, r#"{"id":"1","data":{"resultData":{"runData":{"A":["#).endless(b"{\"a\":[1,2,3]},")
    });
    let server = HttpServer::start(&n8n.url(), &[]);
    let params =
        json!({"name": "get_execution", "arguments": {"id": "1"}, "_meta": crate::http_client::stateless_meta()});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    let mut headers = json_headers();
    headers.extend([
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "get_execution"),
    ]);
    let connection = server.open("POST", "/mcp", &headers, &body);
    while n8n.sent() < 5_000_000 {
        std::thread::sleep(Duration::from_millis(10));
    }
    drop(connection);
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(n8n.open(), 0, "the download is closed");
}

#[test]
#[cfg(unix)]
fn signals_stop_the_server_within_two_seconds_and_let_short_calls_finish() {
    for signal in ["TERM", "INT"] {
        let n8n = Server::start(|_| {
            // A list takes two requests, one after the other.
            Reply::json(200, r#"{"data":[],"nextCursor":null}"#).delay_first_byte(Duration::from_millis(250))
        });
        let mut server = HttpServer::start(&n8n.url(), &[]);
        let params = json!({"name": "list_executions", "arguments": {}, "_meta": crate::http_client::stateless_meta()});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
        let mut headers = json_headers();
        headers.extend([
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", "list_executions"),
        ]);
        let mut connection = server.open("POST", "/mcp", &headers, &body);
        while n8n.requests().is_empty() {
            std::thread::sleep(Duration::from_millis(5));
        }
        let pid = server.pid().to_string();
        assert!(std::process::Command::new("kill").args(["-s", signal, &pid]).status().unwrap().success());
        let mut answer = String::new();
        connection.read_to_string(&mut answer).unwrap();
        assert!(answer.contains("実行履歴を取得しました"), "the call is finished: {answer}");
        let (code, took) = server.wait();
        assert_eq!(code, Some(0));
        assert!(took < Duration::from_secs(2), "{took:?}");
    }
}

#[test]
fn responses_are_not_delayed_by_nagle() {
    let n8n = n8n();
    let server = HttpServer::start(&n8n.url(), &[]);
    server.call("get_execution", json!({"id": "42"}), &[]).unwrap();
    // Nagle's algorithm and delayed acknowledgements would add 40 ms to every answer, even the fastest one.
    let times = (0..10).map(|_| {
        let begun = std::time::Instant::now();
        server.call("get_execution", json!({"id": "42"}), &[]).unwrap();
        begun.elapsed()
    });
    assert!(times.min().unwrap() < Duration::from_millis(40));
}
