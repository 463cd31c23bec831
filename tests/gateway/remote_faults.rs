//! A remote server that breaks every rule, through the real binary: each call returns the right error within its timeout,
//! no secret is shown, memory stays bounded, and other calls and servers are not affected.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::gateway::{Gateway, child};
use crate::server::{Reply, Request, Server};
use crate::support::memory::peak;
use crate::wait::eventually;

/// In a header for the remote server, and echoed by it.
const HEADER: &str = "h3ader-Wm6Rx1Qz8Bt4";
/// In the server's address.
const PASSWORD: &str = "p4ssword-Lc9Dn5Sg3Fv0";
const QUERY: &str = "qu3ry-Ea2Yh7Ji4Ok6";

const TIMEOUT_MS: u64 = 2000;
/// For calls that succeed, even on a busy machine.
const LONG_TIMEOUT_MS: u64 = 30_000;

/// The most memory that the gateway may use, in bytes: twice the largest event.
const MEMORY: u64 = 400_000_000;

const INTERNAL: &str = "INTERNAL_ERROR";
const TIMEOUT: &str = "TIMEOUT_ERROR";
const EXECUTION: &str = "TOOL_EXECUTION_ERROR";
const NONE: &str = "";

/// A tool, how its calls are answered, and the code of the error; no code for a result.
type Fault = (&'static str, fn(&Value) -> Reply, &'static str);

/// Faults of one response.
const FAULTS: &[Fault] = &[
    ("good", |id| Reply::json(200, result(id)), NONE),
    ("good_stream", |id| stream(event(&result(id))), NONE),
    ("progress_first", |id| stream(format!(": hello\n\n{}{}", event(PROGRESS), event(&result(id)))), NONE),
    ("closed_at_once", |_| Reply::raw(""), INTERNAL),
    ("reset_at_once", |_| Reply::raw("").reset_after(0), INTERNAL),
    ("reset_in_the_body", |id| Reply::json(200, result(id)).reset_after(20), INTERNAL),
    ("cut_in_the_body", |id| Reply::json(200, result(id)).cut_after(20), INTERNAL),
    ("cut_in_an_event", |id| stream(event(&result(id))).cut_after(20), INTERNAL),
    ("stream_that_ends", |_| stream(String::new()), INTERNAL),
    ("stream_that_ends_after_progress", |_| stream(event(PROGRESS)), INTERNAL),
    ("stalled_head", |_| Reply::raw("HTTP/1.1 200 OK\r\ncontent-").stall_after(20), TIMEOUT),
    ("stalled_body", |id| Reply::json(200, result(id)).stall_after(20), TIMEOUT),
    ("stalled_event", |id| stream(event(&result(id))).stall_after(20), TIMEOUT),
    ("late", |id| Reply::json(200, result(id)).delay_first_byte(Duration::from_millis(2 * TIMEOUT_MS)), TIMEOUT),
    ("slow_body", |id| Reply::json(200, result(id)).pace(1, Duration::from_millis(50)), TIMEOUT),
    // The answer may still come on another stream.
    ("accepted", |_| Reply::json(202, ""), TIMEOUT),
    ("no_content", |_| Reply::json(204, ""), TIMEOUT),
    ("too_large_by_its_length", |id| Reply::json(200, result(id)).content_length(1 << 40), EXECUTION),
    ("gzip", |id| Reply::json(200, result(id)).gzip(), INTERNAL),
    ("gzip_bomb", |_| Reply::json(200, " ".repeat(10_000_000)).gzip(), INTERNAL),
    ("bad_chunk_size", |_| raw("transfer-encoding: chunked", "xyz\r\n{}\r\n0\r\n\r\n"), INTERNAL),
    ("unended_chunks", |_| raw("transfer-encoding: chunked", "5\r\n{\"js\r\n"), INTERNAL),
    ("bad_length", |_| raw("content-length: many", "{}"), INTERNAL),
    ("two_lengths", |_| raw("content-length: 2\r\ncontent-length: 3", "{}"), INTERNAL),
    ("not_http", |_| Reply::raw("SSH-2.0-OpenSSH_9.6\r\n"), INTERNAL),
    ("large_header", |id| Reply::json(200, result(id)).header("x-large", &"a".repeat(10_000_000)), INTERNAL),
    ("redirect_to_itself", |_| Reply::json(307, "").header("location", "/mcp"), INTERNAL),
    ("redirect_elsewhere", |_| Reply::json(307, "").header("location", "http://127.0.0.1:1/?a=b"), INTERNAL),
    ("html", |_| Reply::bytes(200, "text/html", echo("<!doctype html>").into_bytes()), INTERNAL),
    ("html_as_json", |_| Reply::json(200, echo("<!doctype html>")), INTERNAL),
    ("no_content_type", |id| Reply::raw(format!("HTTP/1.1 200 OK\r\n\r\n{}", result(id))), INTERNAL),
    ("empty", |_| Reply::json(200, ""), INTERNAL),
    ("null", |_| Reply::json(200, "null"), INTERNAL),
    ("not_an_answer", |_| Reply::json(200, json!({"echo": HEADER}).to_string()), INTERNAL),
    ("not_utf8", |id| Reply::json(200, [b"\xff", result(id).as_bytes()].concat()), INTERNAL),
    ("not_json_in_an_event", |_| stream(event(&echo("no json"))), INTERNAL),
    ("deep", |_| Reply::json(200, "[".repeat(1_000_000)), INTERNAL),
    ("no_result", |id| Reply::json(200, json!({"jsonrpc": "2.0", "id": id}).to_string()), INTERNAL),
    ("another_id", |_| Reply::json(200, result(&json!(987_654))), INTERNAL),
    ("text_id", |_| Reply::json(200, result(&json!("no such call"))), INTERNAL),
    ("no_id", |_| Reply::json(200, error(&Value::Null)), EXECUTION),
    ("another_id_in_an_event", |_| stream(event(&result(&json!(987_654)))), INTERNAL),
    ("two_answers", |id| stream(event(&result(id)).repeat(2)), NONE),
    ("batch", |id| Reply::json(200, format!("[{}]", result(id))), INTERNAL),
    ("tool_error", |id| Reply::json(200, tool_error(id)), EXECUTION),
    ("json_rpc_error", |id| Reply::json(200, error(id)), EXECUTION),
    ("http_400", |_| Reply::json(400, echo("bad request")), INTERNAL),
    ("http_401", |_| Reply::json(401, echo("denied")), INTERNAL),
    ("http_401_challenge", |_| Reply::json(401, "").header("www-authenticate", HEADER), INTERNAL),
    ("http_403", |_| Reply::json(403, echo("denied")), INTERNAL),
    ("http_403_challenge", |_| Reply::json(403, "").header("www-authenticate", &format!("x scope={HEADER}")), INTERNAL),
    ("http_404", |_| Reply::json(404, echo("no such session")), INTERNAL),
    ("http_429", |_| Reply::json(429, echo("slow down")).header("retry-after", "60"), INTERNAL),
    ("http_500", |_| Reply::json(500, echo("broken")), INTERNAL),
    ("http_500_json_rpc", |id| Reply::json(500, error(id)), EXECUTION),
    ("http_503_html", |_| Reply::bytes(503, "text/html", echo("<html>").into_bytes()), INTERNAL),
    ("http_999", |_| Reply::json(999, echo("what")), INTERNAL),
];

/// Responses without an end.
const FLOODS: &[Fault] = &[
    ("endless_body", |_| Reply::json(200, "").endless(b"[1,2],"), EXECUTION),
    ("endless_spaces", |_| Reply::json(200, "").endless(b"  "), EXECUTION),
    ("endless_event", |_| stream("data: ".to_owned()).endless(b"[1,2],"), EXECUTION),
    ("endless_comments", |_| stream(String::new()).endless(b": ping\n\n"), TIMEOUT),
    ("endless_progress", |_| stream(String::new()).endless(event(PROGRESS).as_bytes()), TIMEOUT),
    ("endless_requests", |_| stream(String::new()).endless(event(PING).as_bytes()), TIMEOUT),
    ("endless_list_changes", |_| stream(String::new()).endless(event(CHANGED).as_bytes()), TIMEOUT),
    ("endless_strangers", |_| stream(String::new()).endless(event(STRANGER).as_bytes()), TIMEOUT),
    ("endless_header", |_| Reply::raw("HTTP/1.1 200 OK\r\n").endless_raw(b"x-flood: and another\r\n"), INTERNAL),
];

const PROGRESS: &str =
    r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":0,"progress":1}}"#;
const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
const PING: &str = r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#;
const STRANGER: &str = r#"{"jsonrpc":"2.0","id":987654,"result":{"content":[]}}"#;

fn result(id: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": "fine"}]}}).to_string()
}

fn error(id: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32000, "message": echo("refused")}}).to_string()
}

fn tool_error(id: &Value) -> String {
    let content = json!([{"type": "text", "text": echo("refused")}]);
    json!({"jsonrpc": "2.0", "id": id, "result": {"isError": true, "content": content}}).to_string()
}

/// What a server may quote from a request.
fn echo(words: &str) -> String {
    format!("{words}: x-api-key: {HEADER} for /mcp?token={QUERY}, password {PASSWORD}")
}

fn event(data: &str) -> String {
    format!("event: message\ndata: {data}\n\n")
}

fn stream(events: String) -> Reply {
    Reply::stream(std::io::Cursor::new(events)).header("content-type", "text/event-stream")
}

fn raw(header: &str, body: &str) -> Reply {
    Reply::raw(format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n{header}\r\n\r\n{body}"))
}

/// An MCP server with a tool for each fault.
fn remote(request: &Request) -> Reply {
    if request.method != "POST" {
        return Reply::json(405, "");
    }
    let message = message(request);
    let id = &message["id"];
    let answer = |result: Value| Reply::json(200, json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string());
    match message["method"].as_str().unwrap_or_default() {
        "initialize" => answer(json!({
            "protocolVersion": "2025-06-18", "capabilities": {"tools": {"listChanged": true}},
            "serverInfo": {"name": "far", "version": "0"},
        }))
        .header("mcp-session-id", "one"),
        "tools/list" => {
            let described = |name| json!({"name": name, "inputSchema": {"type": "object"}});
            let names = FAULTS.iter().chain(FLOODS).map(|fault| fault.0).chain(["cut"]);
            answer(json!({"tools": names.map(described).collect::<Vec<_>>()}))
        }
        "tools/call" if message["params"]["name"] == "cut" => cut(id, &message["params"]["arguments"]),
        "tools/call" => {
            let name = message["params"]["name"].as_str().unwrap();
            FAULTS.iter().chain(FLOODS).find(|fault| fault.0 == name).unwrap().1(id)
        }
        _ => Reply::json(202, ""),
    }
}

fn message(request: &Request) -> Value {
    serde_json::from_slice(&request.body).unwrap_or_default()
}

fn is_list(request: &Request) -> bool {
    message(request)["method"] == "tools/list"
}

/// An answer that is cut off, in one of several framings.
fn cut(id: &Value, arguments: &Value) -> Reply {
    let reply = match arguments["framing"].as_str().unwrap() {
        "length" => Reply::json(200, result(id)),
        "chunks" => Reply::stream(std::io::Cursor::new(result(id))),
        "until_close" => Reply::json(200, result(id)).until_close(),
        _ => stream(event(&result(id))),
    };
    reply.cut_after(arguments["at"].as_u64().unwrap())
}

fn elsewhere(server: &Server, timeout_ms: u64) -> Value {
    let authority = server.url().replace("http://", "");
    let url = format!("http://lens:{PASSWORD}@{authority}/mcp?token={QUERY}");
    json!({"url": url, "headers": {"X-API-Key": HEADER}, "timeoutMs": timeout_ms})
}

fn secrets_in(text: &str) -> Vec<&'static str> {
    [HEADER, PASSWORD, QUERY].into_iter().filter(|secret| text.contains(secret)).collect()
}

/// Makes a call that must fail; returns the problem with its answer.
fn wrong(gateway: &Gateway, server: &str, (tool, _, expected): &Fault, timeout_ms: u64) -> Option<String> {
    let begun = Instant::now();
    let called = gateway.call(server, tool, json!({}));
    let (took, answer) = (begun.elapsed(), called.json());
    let is_late = took > Duration::from_millis(timeout_ms + 2500);
    let is_right = answer["error"]["code"].as_str().unwrap_or(NONE) == *expected;
    let shown = secrets_in(&called.text);
    (is_late || !is_right || !shown.is_empty())
        .then(|| format!("{tool}: {took:?} {:.300}, expected {expected:?}, {shown:?}", called.text))
}

/// Stops the gateway, and searches everything that it logged.
fn assert_no_secret_is_logged(gateway: &Gateway) {
    let has_secret = |line: &str| (!secrets_in(line).is_empty()).then(|| line.to_owned());
    gateway.signal("TERM");
    assert_eq!(gateway.http.stderr.find(Duration::from_secs(30), has_secret), None);
}

/// Each fault on its own connection, all at once.
#[test]
fn every_fault_is_the_right_error_in_time() {
    let server = Server::start(remote);
    let timeout = |fault: &Fault| if fault.2 == TIMEOUT { TIMEOUT_MS } else { LONG_TIMEOUT_MS };
    let entries = FAULTS.iter().map(|fault| (fault.0.to_owned(), elsewhere(&server, timeout(fault))));
    let mut servers: serde_json::Map<_, _> = entries.collect();
    servers.insert("near".to_owned(), child(&[]));
    let gateway = Gateway::begin(servers.into(), &[], &[("LOG_LEVEL", "trace")]);
    gateway.wait_for("all servers are available", |health| health["status"] == "ok");
    let wrong = std::thread::scope(|scope| {
        let calls: Vec<_> =
            FAULTS.iter().map(|fault| scope.spawn(|| wrong(&gateway, fault.0, fault, timeout(fault)))).collect();
        for _ in 0..50 {
            assert_eq!(gateway.call("near", "sleep", json!({"ms": 20})).result(), "slept");
        }
        calls.into_iter().filter_map(|call| call.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(wrong.is_empty(), "{} of {} are wrong:\n{}", wrong.len(), FAULTS.len(), wrong.join("\n"));
    for fault in FAULTS {
        assert_eq!(gateway.call(fault.0, "good", json!({})).result(), "fine", "{} recovers", fault.0);
        let detail = gateway.detail(fault.0);
        assert_eq!((&detail["restarts"], &detail["pending"]), (&json!(0), &json!(0)), "{}", fault.0);
    }
    eventually("all connections are closed", || server.open() == 0);
    for path in ["/health?detail=true", "/mcp/tools", "/openapi.json", "/metrics"] {
        assert_eq!(secrets_in(&gateway.get(path).text), Vec::<&str>::new(), "{path}");
    }
    assert_no_secret_is_logged(&gateway);
}

/// One after the other: each uses the whole machine.
#[test]
fn floods_stay_with_their_call() {
    const FLOOD_TIMEOUT_MS: u64 = 200;
    let server = Server::start(remote);
    let servers = json!({
        "far": elsewhere(&server, FLOOD_TIMEOUT_MS), "patient": elsewhere(&server, LONG_TIMEOUT_MS), "near": child(&[]),
    });
    let gateway = Gateway::begin(servers, &[], &[]);
    gateway.wait_for("all servers are available", |health| health["status"] == "ok");
    let mut seen = Vec::new();
    for flood in FLOODS {
        let (far, timeout_ms) =
            if flood.2 == TIMEOUT { ("far", FLOOD_TIMEOUT_MS) } else { ("patient", LONG_TIMEOUT_MS) };
        let near = std::thread::scope(|scope| {
            let near = scope.spawn(|| gateway.call("near", "echo", json!({})).status);
            seen.extend(wrong(&gateway, far, flood, timeout_ms));
            near.join().unwrap()
        });
        assert_eq!(near, 200, "{}", flood.0);
        eventually("the flood has ended", || server.open() == 0);
        let lists = server.requests().iter().filter(|request| is_list(request)).count();
        assert!(lists < 100, "{lists} lists of tools after {}", flood.0);
    }
    assert!(seen.is_empty(), "{} of {} are wrong:\n{}", seen.len(), FLOODS.len(), seen.join("\n"));
    for far in ["far", "patient", "near"] {
        let tool = if far == "near" { "echo" } else { "good" };
        eventually("it recovers", || gateway.call(far, tool, json!({})).status == 200);
        assert_eq!(gateway.detail(far)["restarts"], 0, "{far}");
    }
    let peak = peak(gateway.http.pid());
    assert!(peak < MEMORY, "{peak} bytes");
}

/// A list whose every page has a successor.
#[test]
fn a_flood_of_tools_takes_little_memory() {
    let server = Server::start(|request| {
        if !is_list(request) {
            return remote(request);
        }
        let message = message(request);
        let tool = json!({"name": message["id"].to_string(), "description": "x".repeat(1_000_000), "inputSchema": {}});
        let result = json!({"tools": [tool], "nextCursor": message["id"].to_string()});
        Reply::json(200, json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string())
    });
    let gateway = Gateway::begin(json!({"far": elsewhere(&server, TIMEOUT_MS), "near": child(&[])}), &[], &[]);
    gateway.wait_for_status("near", "available");
    gateway.wait_for_status("far", "crashed");
    assert_eq!(gateway.call("far", "good", json!({})).code(), (502, "SERVER_CRASHED".to_owned()));
    assert_eq!(gateway.call("near", "echo", json!({})).status, 200);
    let peak = peak(gateway.http.pid());
    assert!(peak < 150_000_000, "{peak} bytes");
}

/// Answers that are not cut are correct.
#[test]
fn an_answer_cut_at_any_byte_is_an_error() {
    let server = Server::start(remote);
    let gateway = Gateway::start(json!({"far": elsewhere(&server, 20_000)}));
    let cases: Vec<_> = ["length", "chunks", "until_close", "events"]
        .into_iter()
        .flat_map(|framing| (0..150).step_by(3).map(move |at| (framing, at)))
        .collect();
    let right = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for cases in cases.chunks(cases.len() / 8) {
            let (gateway, right) = (&gateway, &right);
            scope.spawn(move || {
                for (framing, at) in cases {
                    let called = gateway.call("far", "cut", json!({"framing": framing, "at": at}));
                    match called.status {
                        200 => assert_eq!(called.result(), "fine", "{framing} {at}"),
                        _ => assert_eq!(called.code(), (500, INTERNAL.to_owned()), "{framing} {at}"),
                    }
                    right.fetch_add(usize::from(called.status == 200), SeqCst);
                }
            });
        }
    });
    let right = right.into_inner();
    assert!(right > 20 && right < cases.len() / 2, "{right} of {} are right", cases.len());
    assert_eq!(gateway.detail("far")["restarts"], 0);
}

/// A server that answers one call with the id of another.
#[test]
fn an_answer_reaches_only_the_call_that_it_answers() {
    for is_event in [false, true] {
        let (id, is_released) = (Arc::<Mutex<Value>>::default(), Arc::<AtomicBool>::default());
        let (victims_id, may_answer) = (id.clone(), is_released.clone());
        let server = Server::start(move |request| {
            let message = message(request);
            match message["params"]["arguments"]["part"].as_str() {
                Some("victim") => {
                    *victims_id.lock().unwrap() = message["id"].clone();
                    eventually("the thief has been answered", || may_answer.load(SeqCst));
                    remote(request)
                }
                Some(_) => {
                    let stolen = result(&victims_id.lock().unwrap()).replace("fine", "stolen");
                    if is_event { stream(event(&stolen)) } else { Reply::json(200, stolen) }
                }
                None => remote(request),
            }
        });
        let gateway = Gateway::start(json!({"far": elsewhere(&server, 20_000)}));
        std::thread::scope(|scope| {
            let victim = scope.spawn(|| gateway.call("far", "good", json!({"part": "victim"})).result());
            eventually("the call is under way", || !id.lock().unwrap().is_null());
            assert_eq!(gateway.call("far", "good", json!({"part": "thief"})).code(), (500, INTERNAL.to_owned()));
            is_released.store(true, SeqCst);
            assert_eq!(victim.join().unwrap(), "fine");
        });
    }
}

/// A server that has restarted knows no session. Calls begin a new one, and none is lost.
#[test]
fn an_expired_session_is_renewed() {
    let session = Arc::new(AtomicUsize::new(0));
    let current = session.clone();
    let server = Server::start(move |request| {
        let current = current.load(SeqCst).to_string();
        match message(request)["method"] == "initialize" {
            true => remote(request).header("mcp-session-id", &current),
            false if request.header("mcp-session-id") != Some(&current) => Reply::json(404, echo("no such session")),
            false => remote(request),
        }
    });
    let gateway = Gateway::start(json!({"far": elsewhere(&server, 20_000)}));
    for _ in 0..3 {
        session.fetch_add(1, SeqCst);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| assert_eq!(gateway.call("far", "good", json!({})).result(), "fine"));
            }
        });
    }
    assert_eq!(gateway.detail("far")["restarts"], 0);
}

/// Each fault in the first answer to `initialize`, and to `tools/list`: the server is down, and soon back.
#[test]
fn a_server_recovers_from_every_fault_at_its_start() {
    let seen = Mutex::new(BTreeSet::new());
    let server = Server::start(move |request| {
        let message = message(request);
        let (fault, method) = request.path.trim_start_matches('/').split_once('/').unwrap_or_default();
        if message["method"] == method.replace("list", "tools/list")
            && seen.lock().unwrap().insert(request.path.clone())
        {
            let fault = FAULTS.iter().find(|known| known.0 == fault).unwrap();
            return fault.1(&message["id"]);
        }
        remote(request)
    });
    let quick = FAULTS.iter().filter(|fault| ![TIMEOUT, NONE].contains(&fault.2));
    let names = quick.flat_map(|fault| ["initialize", "list"].map(|method| format!("{}/{method}", fault.0)));
    let entry = |path: String| {
        let mut entry = elsewhere(&server, TIMEOUT_MS);
        entry["url"] = entry["url"].as_str().unwrap().replace("/mcp?", &format!("/{path}?")).into();
        (path.replace('/', "-"), entry)
    };
    let servers: serde_json::Map<_, _> = names.map(entry).collect();
    let count = servers.len();
    let gateway = Gateway::begin(servers.into(), &[], &[("LOG_LEVEL", "trace")]);
    gateway.wait_for("all servers are available", |health| health["status"] == "ok");
    let detail = gateway.get("/health?detail=true");
    let restarted =
        detail.json()["servers"].as_object().unwrap().values().filter(|server| server["restarts"] != 0).count();
    assert!(restarted > count / 2, "{restarted} of {count} were down");
    assert_eq!(secrets_in(&detail.text), Vec::<&str>::new());
    assert_no_secret_is_logged(&gateway);
}
