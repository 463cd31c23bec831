//! Real third-party servers from npm and PyPI, installed by `setup.sh`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::gateway::{Gateway, kill, runs};
use crate::tools;
use crate::wait::eventually;

/// Installs the servers; returns the folder.
fn installed() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let peers = root.join("target/peers");
    let output = Command::new(root.join("tests/gateway/setup.sh")).env("PEERS_DIR", &peers).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    peers
}

#[test]
#[ignore = "installs servers from npm and PyPI"]
fn real_servers_are_listed_and_called() {
    let peers = installed();
    let bin = peers.join("node_modules/.bin");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let node = |server: &str, args: &[&str]| json!({"command": bin.join(server), "args": args, "env": {"PATH": path}});
    let folder = tempfile::tempdir().unwrap();
    let files = folder.path().canonicalize().unwrap();
    let file = |name: &str| files.join(name).to_str().unwrap().to_owned();
    let mut memory = node("mcp-server-memory", &[]);
    memory["env"]["MEMORY_FILE_PATH"] = file("memory.jsonl").into();
    let mut everything = node("mcp-server-everything", &["stdio"]);
    everything["timeoutMs"] = 1500.into();
    let gateway = Gateway::start(json!({
        "everything": everything,
        "filesystem": node("mcp-server-filesystem", &[files.to_str().unwrap()]),
        "memory": memory,
        "time": {"command": peers.join("time/bin/mcp-server-time"), "args": ["--local-timezone=UTC"]},
        "n8n": {"builtin": "n8n", "env": {"N8N_URL": "http://127.0.0.1:1", "N8N_API_KEY": "k", "N8N_LENS_LOCALE": "en"}},
    }));
    // The first one registers a tool after the handshake, and announces it.
    eventually("all tools are listed", || {
        let listed = gateway.get("/mcp/tools").json();
        let of =
            |server: &str| listed["tools"].as_array().unwrap().iter().filter(|tool| tool["server"] == server).count();
        ["everything", "filesystem", "memory", "time", "n8n"].map(of) == [13, 14, 9, 2, tools::tools(&[]).len()]
    });

    let call = |server: &str, tool: &str, input: Value| gateway.call(server, tool, input).result();
    assert_eq!(call("everything", "echo", json!({"message": "hello ☃"})), "Echo: hello ☃");
    assert_eq!(call("everything", "get-sum", json!({"a": 2, "b": 40})), "The sum of 2 and 40 is 42.");
    assert_eq!(call("everything", "get-structured-content", json!({"location": "Chicago"}))["humidity"], 82);
    assert_eq!(call("everything", "get-tiny-image", json!({}))[1]["type"], "image");
    assert_eq!(call("everything", "get-resource-links", json!({"count": 2}))[2]["type"], "resource_link");
    let refused = gateway.call("everything", "get-structured-content", json!({"location": "Paris"}));
    assert_eq!(refused.code(), (400, "VALIDATION_ERROR".to_owned()), "the schema lists the cities");

    call("filesystem", "write_file", json!({"path": file("a.txt"), "content": "hello\nfile\n"}));
    let read = call("filesystem", "read_text_file", json!({"path": file("a.txt")}));
    assert_eq!(read["content"], "hello\nfile\n");
    let (_, code, message, _) = gateway.call("filesystem", "read_text_file", json!({"path": "/etc/passwd"})).failure();
    assert_eq!(code, "TOOL_EXECUTION_ERROR");
    assert!(message.contains("Access denied"), "{message}");

    let ada = json!({"name": "Ada", "entityType": "person", "observations": ["wrote the first program"]});
    call("memory", "create_entities", json!({"entities": [ada]}));
    assert_eq!(call("memory", "read_graph", json!({}))["entities"][0]["name"], "Ada");

    let when = json!({"source_timezone": "Asia/Kolkata", "time": "09:15", "target_timezone": "UTC"});
    assert_eq!(call("time", "convert_time", when)["time_difference"], "-5.5h");
    let mars = json!({"source_timezone": "Mars/Base", "time": "09:15", "target_timezone": "UTC"});
    assert!(gateway.call("time", "convert_time", mars).failure().2.contains("Mars/Base"));

    // Progress does not extend the timeout.
    let begun = Instant::now();
    let long = gateway.call("everything", "trigger-long-running-operation", json!({"duration": 6, "steps": 12}));
    assert_eq!(long.code(), (408, "TIMEOUT_ERROR".to_owned()));
    assert!(begun.elapsed() < Duration::from_millis(2500));
    assert_eq!(call("everything", "echo", json!({"message": "on"})), "Echo: on");

    for server in ["everything", "filesystem", "memory", "time"] {
        assert_eq!(gateway.detail(server)["restarts"], 0, "{server}");
    }
    // This server ignores the end of its input, and needs a signal.
    call("everything", "toggle-simulated-logging", json!({}));
    let children = crate::gateway::children(gateway.http.pid());
    kill(gateway.http.pid(), "TERM");
    eventually("all servers are gone", || !children.iter().any(|(pid, _)| runs(*pid)));
}
