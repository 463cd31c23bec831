//! How many requests wait for n8n, and how many bodies are read, at the same time, through the real binary.

use std::io::Read;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::fixtures;
use crate::http_client::{HttpServer, json_headers, stateless_meta};
use crate::mcp_client::{McpClient, text};
use crate::server::{Reply, Request, Server};
use crate::wait::eventually;
use crate::workflow_store::{Flavour, WorkflowStore};

/// Longer than any test runs.
const HANGS: Duration = Duration::from_secs(300);

/// How long a call may take while others hang: it waits for none of them.
const SOON: Duration = Duration::from_secs(4);

/// An n8n whose executions all hang, except execution 42.
fn hanging_n8n(hang: fn(Reply) -> Reply) -> Server {
    let store = WorkflowStore::new(Flavour::V2);
    store.put(json!({"id": "w", "name": "W", "active": false, "connections": {}, "settings": {}, "nodes": []}));
    Server::start(move |request| match request.path.as_str() {
        "/api/v1/executions" => Reply::json(200, r#"{"data":[{"id":"42","workflowId":"w"}],"nextCursor":null}"#),
        "/api/v1/executions/42" => Reply::json(200, fixtures::execution("b_http_500")),
        path if path.starts_with("/api/v1/executions/") => hang(Reply::json(200, fixtures::execution("b_http_500"))),
        _ => store.answer(request).unwrap_or_else(|| Reply::json(404, "{}")),
    })
}

fn hang(client: &mut McpClient, calls: u64) {
    for id in 0..calls {
        client.send("tools/call", json!({"name": "get_execution", "arguments": {"id": (100 + id).to_string()}}));
    }
}

/// The requests for bodies of executions so far.
fn waiting(n8n: &Server) -> usize {
    let is_body = |request: &&Request| request.query("includeData").is_some();
    n8n.requests().iter().filter(is_body).count()
}

#[test]
fn executions_that_hang_delay_no_other_call() {
    let before_the_head = |reply: Reply| reply.delay_first_byte(HANGS);
    let after_the_head = |reply: Reply| reply.stall_after(0);
    for hangs in [before_the_head as fn(Reply) -> Reply, after_the_head] {
        let n8n = hanging_n8n(hangs);
        let mut client = McpClient::start_with(&n8n.url(), &["--toolsets", "executions,workflows,builder"]);
        hang(&mut client, 4);
        eventually("four executions hang", || waiting(&n8n) == 4);
        let calls = [
            ("list_workflows", json!({})),
            ("get_workflow", json!({"id": "w"})),
            ("workflow_load", json!({"workflowIdOrPath": "w"})),
            ("update_workflow", json!({"id": "w", "name": "renamed"})),
            ("list_executions", json!({})),
            ("get_execution", json!({"id": "42"})),
        ];
        for (tool, arguments) in calls {
            let begun = Instant::now();
            let call = client.send("tools/call", json!({"name": tool, "arguments": arguments}));
            let answer = client.find(SOON, |message| message["id"] == call);
            let answer = text(&answer.unwrap_or_else(|| panic!("{tool} waits for the executions that hang")));
            assert!(answer.is_ok(), "{tool}: {answer:?}");
            println!("{tool} alongside four executions that hang: {:?}", begun.elapsed());
        }
    }
}

#[test]
fn a_body_that_stalls_delays_no_workflow() {
    let n8n = hanging_n8n(|reply| reply.stall_after(1000));
    let mut client = McpClient::start(&n8n.url());
    hang(&mut client, 20);
    eventually("sixteen requests wait, and four bodies stall", || waiting(&n8n) == 20);
    for (tool, arguments) in [("list_workflows", json!({})), ("list_executions", json!({}))] {
        let call = client.send("tools/call", json!({"name": tool, "arguments": arguments}));
        let answer = client.find(SOON, |message| message["id"] == call);
        text(&answer.unwrap_or_else(|| panic!("{tool} waits for the bodies that stall"))).unwrap();
    }
}

#[test]
fn at_most_sixteen_requests_wait_on_n8n() {
    let n8n = hanging_n8n(|reply| reply.delay_first_byte(HANGS));
    let mut client = McpClient::start(&n8n.url());
    hang(&mut client, 30);
    eventually("sixteen requests", || waiting(&n8n) >= 16);
    thread::sleep(Duration::from_millis(300));
    assert_eq!(waiting(&n8n), 16);
    client.call("list_workflows", json!({})).unwrap();

    // Lists have their own, equally many slots.
    let n8n = Server::start(|_| Reply::json(200, r#"{"data":[],"nextCursor":null}"#).delay_first_byte(HANGS));
    let mut client = McpClient::start(&n8n.url());
    for at in 0..30 {
        let tool = ["list_executions", "list_workflows"][at % 2];
        client.send("tools/call", json!({"name": tool, "arguments": {}}));
    }
    eventually("sixteen lists", || n8n.requests().len() >= 16);
    thread::sleep(Duration::from_millis(300));
    assert_eq!(n8n.requests().len(), 16);
}

/// An endless body, which counts the bytes read from it.
struct Endless {
    begin: &'static [u8],
    sent: Arc<AtomicU64>,
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = match self.begin.len() {
            0 => std::io::repeat(b' ').read(buffer)?,
            _ => self.begin.read(buffer)?,
        };
        self.sent.fetch_add(read as u64, SeqCst);
        Ok(read)
    }
}

#[test]
fn clients_share_the_limit_of_bodies_that_are_read() {
    /// More than the buffers between two processes hold.
    const READ: u64 = 60_000_000;
    let counters: Arc<Mutex<Vec<Arc<AtomicU64>>>> = Arc::default();
    let sent = counters.clone();
    let n8n = Server::start(move |_| {
        let counter = Arc::new(AtomicU64::new(0));
        sent.lock().unwrap().push(counter.clone());
        Reply::stream(Endless { begin: br#"{"status":"success","data":{"#, sent: counter })
    });
    let server = HttpServer::start(&n8n.url(), &["--max-downloads", "3"]);
    // Identical calls would share one body.
    let ids = (1..13).map(|id: u64| json!({ "id": id.to_string() }));
    let _connections: Vec<_> = ids.map(|id| open(&server, "get_execution", id)).collect();
    let read = || counters.lock().unwrap().iter().filter(|sent| sent.load(SeqCst) > READ).count();
    eventually("three bodies are read", || read() >= 3);
    eventually("all bodies have begun", || counters.lock().unwrap().len() == 12);
    // Another body that is being read would be noticed in the time in which three bodies were read.
    let goal = counters.lock().unwrap().iter().map(|sent| sent.load(SeqCst)).max().unwrap() + READ;
    let most = || counters.lock().unwrap().iter().map(|sent| sent.load(SeqCst)).max().unwrap();
    eventually("they are read on", || most() > goal);
    assert_eq!(read(), 3);
}

fn open(server: &HttpServer, tool: &str, arguments: Value) -> std::net::TcpStream {
    let params = json!({"name": tool, "arguments": arguments, "_meta": stateless_meta()});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    let mut headers = json_headers();
    headers.extend([("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", tool)]);
    server.open("POST", "/mcp", &headers, &body)
}
