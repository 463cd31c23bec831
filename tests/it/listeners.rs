//! Connections and bodies that would exhaust the server, through the real binary: a flood harms only its sender.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::http_client::{HttpServer, json_headers};
use crate::mcp_client::KEY;
use crate::server::{Reply, Server};
use crate::support::memory::{anonymous, peak};

/// Much longer than an answer takes, and much shorter than a timeout of the server.
const SOON: Duration = Duration::from_secs(5);

fn n8n() -> Server {
    Server::start(|_| Reply::json(200, r#"{"data":[],"nextCursor":null}"#))
}

/// A body of 19 MiB whose parts are as small as possible.
fn bomb() -> String {
    let list = vec![r#"{"a":0}"#; 19 * 1024 * 1024 / 8].join(",");
    format!(r#"{{"name":"get_execution","parameters":{{"id":[{list}]}}}}"#)
}

#[test]
fn a_body_bomb_is_refused_in_little_memory() {
    let n8n = n8n();
    let server = HttpServer::start(&n8n.url(), &[]);
    let bomb = bomb();
    for path in ["/mcp/execute", "/mcp"] {
        let answer = server.send("POST", path, &json_headers(), &bomb);
        assert_eq!(answer.status, 413, "{answer:?}");
        assert_eq!(answer.message()["error"]["code"], "BODY_TOO_LARGE");
    }
    assert!(peak(server.pid()) < 10 * bomb.len() as u64, "{}", peak(server.pid()));
    let deep = format!(r#"{{"name":"get_execution","parameters":{{"id":{}{}}}}}"#, "[".repeat(1000), "]".repeat(1000));
    assert_eq!(server.send("POST", "/mcp/execute", &json_headers(), &deep).status, 400);
}

#[test]
fn health_answers_while_large_bodies_are_parsed() {
    let n8n = n8n();
    let server = HttpServer::start(&n8n.url(), &[]);
    let list = vec![r#"{"a":0}"#; 90_000].join(",");
    let large = format!(r#"{{"name":"get_execution","parameters":{{"id":[{list}]}}}}"#);
    let open: Vec<_> = (0..8).map(|_| server.open("POST", "/mcp/execute", &json_headers(), &large)).collect();
    let begun = Instant::now();
    assert_eq!(server.send("GET", "/health", &[], "").status, 200);
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    for mut connection in open {
        let mut answer = String::new();
        connection.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 400"), "the argument is refused, the body is not: {answer}");
    }
}

const TOKEN: &str = "authorization: Bearer sesame-sesame\r\n";
const JSON: &str = "content-type: application/json\r\n";

/// A body that is within the limit of a workflow, and one that is within no limit.
const LARGE: usize = 19_000_000;
const TOO_LARGE: usize = 99_000_000;

/// Sends a head, and no body; returns the status of the first response, which is 100 if the body is wanted.
fn status_of_head(server: &HttpServer, path: &str, length: usize, headers: &[&str]) -> String {
    let mut connection = TcpStream::connect(&server.authority).unwrap();
    connection.set_read_timeout(Some(SOON)).unwrap();
    let (host, headers) = (&server.authority, headers.concat());
    let head = format!("POST {path} HTTP/1.1\r\nhost: {host}\r\ncontent-length: {length}\r\n{headers}\r\n");
    connection.write_all(head.as_bytes()).unwrap();
    let mut status = [0; 12];
    connection.read_exact(&mut status).unwrap_or_else(|error| panic!("{path}, {headers:?}: {error}"));
    String::from_utf8_lossy(&status[9..]).into_owned()
}

/// A request that must be refused by its head: its path, the length of its body, its headers, and the status.
type Refusal<'a> = (&'a str, usize, &'a [&'a str], &'a str);

/// The refusals of a listener, with and without a client that waits for permission to send the body.
fn refuses(server: &HttpServer, refusals: &[Refusal<'_>]) {
    for (path, length, headers, status) in refusals {
        for expect in ["", "expect: 100-continue\r\n"] {
            let headers = [headers, &[expect][..]].concat();
            assert_eq!(status_of_head(server, path, *length, &headers), *status, "{path}, {length}, {headers:?}");
        }
    }
}

const EVIL: &str = "origin: http://evil.example\r\n";
const TEXT: &str = "content-type: text/plain\r\n";

#[test]
fn a_head_is_judged_before_its_body_is_read() {
    let n8n = n8n();
    let server = HttpServer::start(&n8n.url(), &["--auth-token", "sesame-sesame"]);
    for path in ["/mcp", "/mcp/execute", "/view/call"] {
        refuses(
            &server,
            &[
                (path, LARGE, &[JSON], "401"),
                (path, LARGE, &[TOKEN, JSON, EVIL], "403"),
                (path, LARGE, &[TOKEN, JSON, "origin: http://localhost:x\r\n"], "403"),
                (path, TOO_LARGE, &[TOKEN, JSON], "413"),
            ],
        );
    }
    refuses(
        &server,
        &[
            ("/mcp", LARGE, &[TOKEN, TEXT], "415"),
            ("/mcp/execute", LARGE, &[TOKEN, TEXT], "400"),
            ("/mcp/tools", LARGE, &[JSON], "401"),
            ("/view/call", LARGE, &[TOKEN, TEXT], "400"),
            ("/view/call", LARGE, &[TOKEN, JSON], "413"),
            ("/view/", LARGE, &[JSON], "405"),
            ("/health", LARGE, &[JSON], "405"),
            ("/nowhere", LARGE, &[JSON], "404"),
        ],
    );
    // The server asks for a body that it wants.
    assert_eq!(status_of_head(&server, "/mcp", LARGE, &[TOKEN, JSON, "expect: 100-continue\r\n"]), "100");
}

#[test]
fn the_gateway_judges_a_head_before_its_body_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.yaml");
    std::fs::write(&config, "servers: {}").unwrap();
    let mut command = Command::new(crate::support::binary());
    command.args(["gateway", "--port", "0", "--auth-token", "sesame-sesame", "--config"]).arg(&config);
    let gateway = HttpServer::spawn(&mut command);
    for path in ["/mcp/call", "/mcp/call/a/b"] {
        refuses(
            &gateway,
            &[
                (path, LARGE, &[JSON], "401"),
                (path, 100, &[JSON], "401"),
                (path, LARGE, &[TOKEN, JSON, EVIL], "403"),
                (path, LARGE, &[TOKEN, JSON], "400"),
                (path, 100, &[TOKEN, TEXT], "400"),
            ],
        );
    }
    refuses(
        &gateway,
        &[("/mcp/tools", LARGE, &[], "405"), ("/health", LARGE, &[], "405"), ("/none", LARGE, &[], "404")],
    );
    assert_eq!(status_of_head(&gateway, "/mcp/call", 100, &[TOKEN, JSON, "expect: 100-continue\r\n"]), "100");
}

#[test]
fn coordination_judges_a_head_before_its_body_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let coordinate = |arguments: &[&str]| {
        let mut command = Command::new(crate::support::binary());
        command.args(["coordinate", "--db"]).arg(folder.path().join("agents.db")).args(arguments);
        command
    };
    let issued = coordinate(&["admin", "token", "issue", "--scope", "admin", "--json"]).output().unwrap();
    let issued: Value = serde_json::from_slice(&issued.stdout).unwrap_or_else(|error| panic!("{error}: {issued:?}"));
    let token = format!("authorization: Bearer {}\r\n", issued["token"].as_str().unwrap());
    let server = HttpServer::spawn(&mut coordinate(&["--transport", "http", "--port", "0"]));
    refuses(
        &server,
        &[
            ("/mcp", LARGE, &[JSON], "401"),
            ("/mcp", LARGE, &[TOKEN, JSON], "401"),
            ("/mcp", LARGE, &[&token, JSON, EVIL], "403"),
            ("/mcp", LARGE, &[&token, TEXT], "415"),
            ("/mcp", LARGE, &[&token, JSON], "413"),
        ],
    );
}

/// A client that sends everything before it reads anything still sees the answer.
#[test]
fn a_refusal_reaches_a_client_that_is_still_sending() {
    let n8n = n8n();
    let server = HttpServer::start(&n8n.url(), &["--auth-token", "sesame-sesame"]);
    let body = " ".repeat(LARGE);
    for path in ["/mcp", "/mcp/execute", "/view/call", "/nowhere"] {
        let answer = server.send("POST", path, &json_headers(), &body);
        assert_eq!(answer.status, if path == "/nowhere" { 404 } else { 401 }, "{path}: {answer:?}");
    }
}

/// A server that may open few files.
fn server_with_descriptors(n8n: &Server, limit: u64) -> HttpServer {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -n {limit} && exec \"$0\" \"$@\""), crate::support::binary()]);
    command.args(["--transport", "http", "--port", "0"]).env_clear().env("N8N_URL", n8n.url()).env("N8N_API_KEY", KEY);
    HttpServer::spawn(command.process_group(0))
}

#[test]
fn half_a_head_does_not_hold_up_a_stop() {
    let n8n = n8n();
    let mut server = HttpServer::start(&n8n.url(), &[]);
    let mut half = TcpStream::connect(&server.authority).unwrap();
    half.write_all(b"GET /health HTTP/1.1\r\nhost: loc").unwrap();
    assert_eq!(server.send("GET", "/health", &[], "").status, 200);
    let pid = rustix::process::Pid::from_raw(server.pid().cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let (code, time) = server.wait();
    assert_eq!(code, Some(0));
    assert!(time < Duration::from_millis(900), "it waits a second for requests in progress only: {time:?}");
}

#[test]
#[ignore = "long: a head has ten seconds"]
fn a_slow_head_is_given_up() {
    let n8n = n8n();
    let server = HttpServer::start(&n8n.url(), &[]);
    let mut half = TcpStream::connect(&server.authority).unwrap();
    half.write_all(b"GET /health HTTP/1.1\r\nhost: loc").unwrap();
    half.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let begun = Instant::now();
    assert_eq!(half.read(&mut [0; 100]).unwrap(), 0, "the connection is closed");
    assert!((9..16).contains(&begun.elapsed().as_secs()), "{:?}", begun.elapsed());
}

#[test]
fn a_connection_is_kept_between_requests() {
    let n8n = n8n();
    let server = HttpServer::start(&n8n.url(), &[]);
    let mut connection = TcpStream::connect(&server.authority).unwrap();
    for _ in 0..3 {
        connection.write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
        let mut answer = vec![0; 4096];
        let read = connection.read(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer[..read]).into_owned();
        let body: Value = serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap();
        assert_eq!(body["status"], "ok");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_server_without_a_token_says_who_can_use_it_and_keeps_to_no_files() {
    let n8n = n8n();
    let server = HttpServer::start(&n8n.url(), &["--toolsets", "builder,workflows"]);
    for (tool, arguments) in [
        (
            "workflow_save",
            json!({"workflowId": "x", "filePath": "x.json", "workflowData": {"name": "x", "nodes": [], "connections": {}}}),
        ),
        ("workflow_load", json!({"workflowIdOrPath": "x.json"})),
        ("workflow_list", json!({})),
        ("create_workflow_from_file", json!({"filePath": "x.json"})),
    ] {
        let refused = server.call(tool, arguments, &[]).unwrap_err();
        assert!(refused.contains("has no folder for workflow files"), "{tool}: {refused}");
    }
    let root = tempfile::tempdir().unwrap();
    let server =
        HttpServer::start(&n8n.url(), &["--toolsets", "builder", "--files-root", root.path().to_str().unwrap()]);
    assert!(server.call("workflow_list", json!({}), &[]).is_ok());
}

/// Opens a session; returns its id.
fn initialize(server: &HttpServer) -> String {
    let params =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).to_string();
    let answer = server.send("POST", "/mcp", &json_headers(), &body);
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.header("mcp-session-id").expect("a session").to_owned()
}

fn ping(server: &HttpServer, session: &str) -> u16 {
    let mut headers = json_headers();
    headers.extend([("mcp-session-id", session), ("mcp-protocol-version", "2025-11-25")]);
    server.send("POST", "/mcp", &headers, r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#).status
}

#[test]
fn a_session_too_many_closes_the_one_that_was_idle_longest() {
    let n8n = n8n();
    let server = HttpServer::start(&n8n.url(), &["--max-sessions", "3"]);
    let sessions: Vec<_> = (0..3).map(|_| initialize(&server)).collect();
    assert_eq!(ping(&server, &sessions[0]), 200);
    let last = initialize(&server);
    assert_eq!(ping(&server, &sessions[1]), 404, "its client begins anew");
    for session in [&sessions[0], &sessions[2], &last] {
        assert_eq!(ping(&server, session), 200);
    }
}

#[test]
#[ignore = "long: 20,000 sessions"]
fn a_flood_of_sessions_takes_little_memory() {
    let n8n = n8n();
    let server = HttpServer::start(&n8n.url(), &[]);
    for _ in 0..20_000 {
        initialize(&server);
    }
    println!("{} bytes at most", peak(server.pid()));
    assert!(peak(server.pid()) < 120_000_000, "{}", peak(server.pid()));
}

/// A reverse proxy may see one request where the server sees two, and let the second one pass unchecked.
#[test]
fn a_request_whose_end_is_ambiguous_is_the_last_of_its_connection() {
    let n8n = n8n();
    let server = HttpServer::start(&n8n.url(), &[]);
    let body = r#"{"name":"x","parameters":{}}"#;
    let (length, chunks) = (body.len(), format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len()));
    let second = "GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let both = chunks.len() + second.len();
    let cases = [
        (format!("content-length: {both}\r\ntransfer-encoding: chunked"), chunks.as_str()),
        (format!("content-length: {length}\r\ncontent-length: 5"), body),
        (format!("content-length: {length}, {length}"), body),
        (format!("content-length: +{length}"), body),
        ("content-length: -1".to_owned(), body),
        (format!("transfer-encoding: xchunked\r\ncontent-length: {length}"), body),
        (format!("transfer-encoding: \u{b}chunked\r\ncontent-length: {length}"), body),
        (format!("transfer-encoding : chunked\r\ncontent-length: {length}"), body),
        (format!("transfer-encoding:\r\n chunked\r\ncontent-length: {length}"), body),
        (format!("x: a\0b\r\ncontent-length: {length}"), body),
        ("transfer-encoding: chunked\r\ntransfer-encoding: identity".to_owned(), chunks.as_str()),
        ("transfer-encoding: chunked".to_owned(), &format!("0x{chunks}")),
        ("transfer-encoding: chunked".to_owned(), &chunks.replace("\r\n", "\n")),
    ];
    for (headers, sent) in cases {
        let mut connection = TcpStream::connect(&server.authority).unwrap();
        connection.set_read_timeout(Some(SOON)).unwrap();
        let head = "POST /mcp/execute HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json";
        connection.write_all(format!("{head}\r\n{headers}\r\n\r\n{sent}{second}").as_bytes()).unwrap();
        let mut answer = String::new();
        // The server may close the connection before it has read everything, which resets it.
        let _ = connection.read_to_string(&mut answer);
        let answers: Vec<_> = answer.lines().filter(|line| line.starts_with("HTTP/1.1 ")).collect();
        assert!(matches!(answers[..], [only] if only.starts_with("HTTP/1.1 4")), "{headers}: {answers:?}");
    }
}

#[test]
fn streams_that_only_listen_make_room_for_a_request() {
    let n8n = n8n();
    let server = server_with_descriptors(&n8n, 128);
    // Each session keeps 32 streams open, so that they come from three.
    let sessions: Vec<_> = (0..3).map(|_| initialize(&server)).collect();
    let stream = |session: &String| {
        let mut connection = TcpStream::connect(&server.authority).unwrap();
        let head = format!("GET /mcp HTTP/1.1\r\nhost: {}\r\naccept: text/event-stream", server.authority);
        let headers = format!("mcp-session-id: {session}\r\nmcp-protocol-version: 2025-11-25\r\n\r\n");
        connection.write_all(format!("{head}\r\n{headers}").as_bytes()).unwrap();
        connection.set_read_timeout(Some(SOON)).unwrap();
        let mut status = [0; 12];
        connection.read_exact(&mut status).map(|()| assert_eq!(&status[9..], b"200")).expect("a stream");
        connection
    };
    let open: Vec<_> = sessions.iter().flat_map(|session| std::iter::repeat_n(session, 30)).map(stream).collect();
    assert_eq!(server.send("GET", "/health", &[], "").status, 200);
    drop(open);
}

/// Floods.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow: 14 s"]
    fn half_open_connections_make_room_for_a_request() {
        let n8n = n8n();
        for (limit, connections) in [(128, 168), (4096, 3000)] {
            let server = server_with_descriptors(&n8n, limit);
            let half = |_| {
                let mut connection = TcpStream::connect(&server.authority).unwrap();
                connection.write_all(b"GET /health HTTP/1.1\r\nhost: loc").unwrap();
                connection
            };
            let open: Vec<_> = (0..connections).map(half).collect();
            let begun = Instant::now();
            assert_eq!(server.send("GET", "/health", &[], "").status, 200);
            assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
            assert_eq!(server.call("list_executions", json!({}), &[]).map(drop), Ok(()), "n8n is reached, too");
            drop(open);
        }
    }

    /// glibc keeps memory that was used once, in as many arenas as threads used it: see limits.md.
    #[test]
    #[ignore = "slow: 12 s"]
    #[cfg(target_env = "gnu")]
    fn with_one_arena_a_flood_of_large_requests_leaves_little_memory() {
        let n8n = n8n();
        let mut command = Command::new(crate::support::binary());
        command
            .args(["--transport", "http", "--port", "0"])
            .env_clear()
            .env("N8N_URL", n8n.url())
            .env("N8N_API_KEY", KEY);
        command.env("MALLOC_ARENA_MAX", "1").env("MALLOC_MMAP_THRESHOLD_", "131072");
        let server = HttpServer::spawn(&mut command);
        let list = vec![r#"{"a":0}"#; 90_000].join(",");
        for id in [format!("[{list}]"), format!("\"{}\"", "x".repeat(LARGE))] {
            let body = format!(r#"{{"name":"get_execution","parameters":{{"id":{id}}}}}"#);
            for _ in 0..10 {
                assert_eq!(server.send("POST", "/mcp/execute", &json_headers(), &body).status, 400);
            }
        }
        assert!(anonymous(server.pid()) < 65_000_000, "{}", anonymous(server.pid()));
    }
}
