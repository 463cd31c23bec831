//! The secrets of a configuration do not leak: environments, arguments, headers, addresses and tokens appear in no
//! response and in no log, and are sent to no other server.

use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::gateway::{Gateway, child};
use crate::server::{Reply, Request, Server};
use crate::wait::{TEST_TIMEOUT, eventually};

/// The gateway's own token.
const TOKEN: &str = "t0ken-Kq7Zr2Lm9Xw4";
/// In the environment and the arguments of a server.
const VARIABLE: &str = "v4riable-Hs8Tb3Nc6Yd1";
const ARGUMENT: &str = "4rgument-Gj5Vf0Pk2Ue7";
/// In a header for a remote server.
const HEADER: &str = "h3ader-Wm6Rx1Qz8Bt4";
/// In the address of a remote server.
const PASSWORD: &str = "p4ssword-Lc9Dn5Sg3Fv0";
const QUERY: &str = "qu3ry-Ea2Yh7Ji4Ok6";

/// A harmless marker that takes the same path.
const MARKER: &str = "a-harmless-marker";

/// Logged when the server `a` is available.
const AVAILABLE: &str = ": available server=\"a\"";

/// The secrets in a text, verbatim or as encoded in a header.
fn secrets_in(text: &str) -> Vec<&'static str> {
    let all = [TOKEN, VARIABLE, ARGUMENT, HEADER, PASSWORD, QUERY];
    let mut found: Vec<_> = all.into_iter().filter(|secret| text.contains(secret)).collect();
    found.extend(text.contains(&STANDARD.encode(format!("lens:{PASSWORD}"))).then_some("the password in base64"));
    found
}

/// A gateway that logs everything to a file.
struct Logged {
    process: Child,
    folder: TempDir,
    authority: String,
}

impl Logged {
    fn start(servers: &Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(crate::support::binary());
        command.args(["gateway", "--port", "0", "--config"]).arg(folder.path().join("config.yaml"));
        command.env("LOG_LEVEL", "trace").env("GATEWAY_TOKEN", TOKEN).stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(File::create(folder.path().join("log")).unwrap());
        std::fs::write(folder.path().join("config.yaml"), json!({ "servers": servers }).to_string()).unwrap();
        let mut gateway = Self { process: command.spawn().unwrap(), folder, authority: String::new() };
        eventually("the gateway listens", || gateway.address().is_some());
        gateway.authority = gateway.address().unwrap();
        gateway
    }

    /// The address, once the log has a complete line with it.
    fn address(&self) -> Option<String> {
        let log = self.log();
        let (_, rest) = log.split_once("listens on http://")?;
        rest.split_once('\n').map(|(address, _)| address.to_owned())
    }

    fn config(&self) -> PathBuf {
        self.folder.path().join("config.yaml")
    }

    fn log(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(self.folder.path().join("log")).unwrap()).into_owned()
    }

    fn wait_for_log(&self, words: &str) {
        eventually(words, || self.log().contains(words));
    }

    /// The complete response, including its head.
    fn send(&self, method: &str, path: &str, authorization: &str, body: &str) -> String {
        let mut connection = TcpStream::connect(&self.authority).unwrap();
        connection.set_read_timeout(Some(TEST_TIMEOUT)).unwrap();
        let (host, length) = (&self.authority, body.len());
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\nauthorization: {authorization}\r\n\
             content-type: application/json\r\ncontent-length: {length}\r\n\r\n"
        );
        connection.write_all(format!("{head}{body}").as_bytes()).unwrap();
        let mut answer = Vec::new();
        connection.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn call(&self, server: &str, tool: &str, input: &Value) -> String {
        let body = json!({"server": server, "toolName": tool, "input": input}).to_string();
        self.send("POST", "/mcp/call", &format!("Bearer {TOKEN}"), &body)
    }
}

impl Drop for Logged {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A child with secrets.
fn trusted(flags: &[&str]) -> Value {
    let mut server = child(&[flags, &["--key", ARGUMENT]].concat());
    server["env"] = json!({"SERVICE_TOKEN": VARIABLE});
    server
}

/// A remote server with secrets.
fn elsewhere(authority: &str) -> Value {
    let url = format!("http://lens:{PASSWORD}@{authority}/mcp?token={QUERY}");
    json!({"url": url, "headers": {"X-API-Key": HEADER}})
}

#[test]
fn the_configuration_is_in_no_response_and_no_log() {
    let gateway = Logged::start(&json!({
        "a": trusted(&[]),
        "crashes": trusted(&["--crash-at-start"]),
        "missing": {"command": "/no/such/program", "args": [ARGUMENT], "env": {"SERVICE_TOKEN": VARIABLE}},
    }));
    gateway.wait_for_log(AVAILABLE);
    let mut answers = Vec::new();
    let right = format!("Bearer {TOKEN}");
    for authorization in [right.as_str(), "Bearer another", "Basic another"] {
        for path in ["/health", "/health?detail=true", "/mcp/tools", "/metrics", "/openapi.json", "/nowhere"] {
            answers.push(gateway.send("GET", path, authorization, ""));
        }
        for body in ["{", "[]", r#"{"server":5}"#, r#"{"server":"a","toolName":"echo","input":[]}"#] {
            answers.push(gateway.send("POST", "/mcp/call", authorization, body));
        }
    }
    for (server, tool, input) in [
        ("a", "echo", json!({ "value": MARKER })),
        ("a", "sum", json!({"numbers": "none"})),
        ("a", "no_such_tool", json!({})),
        ("b", "echo", json!({})),
        ("crashes", "echo", json!({})),
        ("missing", "echo", json!({})),
        ("a", "malformed", json!({"kind": "content_string"})),
        ("a", "rpc_error", json!({"code": -32000, "message": "refused"})),
        ("a", "crash", json!({})),
    ] {
        answers.push(gateway.call(server, tool, &input));
    }
    let broken = json!({"servers": {"a": {"command": "x", "env": VARIABLE, "args": [ARGUMENT]}}});
    std::fs::write(gateway.config(), broken.to_string()).unwrap();
    gateway.wait_for_log("The old configuration stays in use");

    let answers = answers.join("\n");
    assert!(answers.contains(MARKER) && answers.contains("SERVER_CRASHED"), "{answers}");
    assert_eq!(secrets_in(&answers), Vec::<&str>::new());
    let log = gateway.log();
    assert!(log.contains("told to crash") && log.contains("malformed answer"), "{log}");
    assert_eq!(secrets_in(&log), Vec::<&str>::new(), "{log}");
}

#[test]
fn the_address_of_an_unreachable_server_is_not_logged() {
    let gateway = Logged::start(&json!({"remote": elsewhere("127.0.0.1:1")}));
    gateway.wait_for_log("cannot be reached");
    assert_eq!(secrets_in(&gateway.log()), Vec::<&str>::new());
    assert_eq!(secrets_in(&gateway.call("remote", "any", &json!({}))), Vec::<&str>::new());
}

/// All headers of a request.
fn echo(request: &Request) -> String {
    let headers = request.headers.iter().map(|(name, value)| format!("{name}: {value}"));
    format!("{MARKER} {}", headers.collect::<Vec<_>>().join(", "))
}

#[test]
fn a_request_that_a_server_echoes_is_not_logged() {
    type Answer = fn(&Request) -> Reply;
    let ways: [Answer; 3] = [
        |request| Reply::bytes(400, "text/plain", echo(request).into_bytes()),
        |request| Reply::json(200, json!({"jsonrpc": "2.0", "id": 0, "result": {"echo": echo(request)}}).to_string()),
        |request| Reply::json(200, json!({ "echo": echo(request) }).to_string()),
    ];
    for way in ways {
        let remote = Server::start(way);
        let authority = remote.url().trim_start_matches("http://").to_owned();
        let gateway = Logged::start(&json!({"remote": elsewhere(&authority)}));
        gateway.wait_for_log("cannot be reached");
        let sent = remote.requests().remove(0);
        assert!(secrets_in(&echo(&sent)).contains(&HEADER), "the secret was sent");
        assert_eq!(secrets_in(&gateway.log()), Vec::<&str>::new());
    }
}

#[test]
fn headers_are_not_sent_to_another_host() {
    for status in [301, 302, 307, 308] {
        let other = Server::start(|_| Reply::json(200, "{}"));
        let target = other.url();
        let remote = Server::start(move |_| Reply::json(status, "").header("location", &target));
        let authority = remote.url().trim_start_matches("http://").to_owned();
        let _gateway = Gateway::begin(json!({"remote": elsewhere(&authority)}), &[], &[]);
        // The second attempt starts after the first one has failed.
        eventually("a second attempt", || remote.requests().len() > 1);
        assert_eq!(remote.requests()[0].header("x-api-key"), Some(HEADER), "the secret was sent");
        assert!(other.requests().is_empty(), "{status}: {:?}", other.requests());
    }
}

/// Each secret, at many places around the end of the kept part of a line.
#[test]
fn secrets_that_a_child_prints_are_not_logged() {
    let gateway = Logged::start(&json!({"a": trusted(&[])}));
    gateway.wait_for_log(AVAILABLE);
    let words = format!("{MARKER}: started with {VARIABLE} and --key={ARGUMENT}");
    gateway.call("a", "stderr", &json!({ "text": words }));
    for padding in (960..1040).step_by(3) {
        for secret in [VARIABLE, ARGUMENT] {
            let text = format!("{}{secret}{}", "-".repeat(padding), "+".repeat(padding % 7 * 200));
            gateway.call("a", "stderr", &json!({ "text": text }));
        }
    }
    gateway.call("a", "crash", &json!({}));
    gateway.wait_for_log("the end of its standard error");
    let log = gateway.log();
    assert!(log.contains(MARKER), "{log}");
    assert_eq!(secrets_in(&log), Vec::<&str>::new());
    for secret in [VARIABLE, ARGUMENT] {
        for part in secret.as_bytes().windows(8) {
            let part = std::str::from_utf8(part).unwrap();
            assert!(!log.contains(part), "{part} of {secret} is in the log");
        }
    }
}

#[test]
fn a_server_inherits_what_a_program_needs_and_nothing_else() {
    let url = format!("http://lens:{VARIABLE}@127.0.0.1:1");
    let withheld = [
        ("N8N_API_KEY", VARIABLE),
        ("N8N_LENS_AUTH_TOKEN", VARIABLE),
        ("N8N_LENS_DB", VARIABLE),
        ("N8N_ENCRYPTION_KEY", VARIABLE),
        ("N8N_URL", &url),
        ("DB_POSTGRESDB_PASSWORD", VARIABLE),
        ("DB_POSTGRESDB_SSL_KEY", VARIABLE),
        ("PGPASSWORD", VARIABLE),
        ("AWS_SECRET_ACCESS_KEY", VARIABLE),
        ("HTTPS_PROXY", &url),
        ("SOMETHING_ELSE", MARKER),
    ];
    let needed = [("LANG", "C.UTF-8"), ("LC_ALL", "C"), ("TZ", "Asia/Tokyo"), ("TMPDIR", "/tmp"), ("TERM", "dumb")];
    let environment = [&withheld[..], &needed].concat();
    let mut given = child(&[]);
    given["env"] = json!({"N8N_API_KEY": "${N8N_API_KEY}", "TZ": "UTC"});
    let gateway = Gateway::begin(json!({"a": child(&[]), "given": given}), &[], &environment);
    gateway.wait_for("both servers are available", |health| health["status"] == "ok");
    let seen = |server: &str, name: &str| {
        gateway.call(server, "environment", json!({ "name": name })).result()["value"].clone()
    };
    for (name, value) in needed {
        assert_eq!(seen("a", name), value, "{name}");
    }
    for name in ["PATH", "HOME"] {
        assert_eq!(seen("a", name), std::env::var(name).unwrap(), "{name}");
    }
    for (name, _) in withheld {
        assert_eq!(seen("a", name), Value::Null, "{name}");
    }
    assert_eq!(seen("given", "TZ"), "UTC", "the configuration overrides what is inherited");
    assert_eq!(seen("given", "N8N_API_KEY"), VARIABLE, "the configuration passes it on");
}
