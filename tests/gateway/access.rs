use std::process::{Command, Output, Stdio};

use serde_json::json;

use crate::gateway::{Gateway, child};

const JSON: (&str, &str) = ("content-type", "application/json");
const CALL: &str = r#"{"server":"a","toolName":"echo","input":{}}"#;

#[test]
fn hosts_and_origins_are_checked() {
    let gateway = Gateway::start(json!({"a": child(&[])}));
    let with = |name: &'static str, value: &str| gateway.send("POST", "/mcp/call", &[JSON, (name, value)], CALL);
    for host in ["evil.example", "127.0.0.1.evil.example", "evil.example:3001", ""] {
        assert_eq!(with("host", host).code(), (403, "VALIDATION_ERROR".to_owned()), "{host}");
    }
    for origin in
        ["http://evil.example", "null", "http://localhost.evil.example", "https://127.0.0.1.nip.io", "localhost"]
    {
        assert_eq!(with("origin", origin).code(), (403, "VALIDATION_ERROR".to_owned()), "{origin}");
    }
    for host in ["localhost", "LOCALHOST:99", "[::1]:3001", "127.0.0.1"] {
        assert_eq!(with("host", host).status, 200, "{host}");
    }
    assert_eq!(with("origin", "http://localhost:5173").status, 200);
    for path in ["/mcp/tools", "/openapi.json", "/metrics", "/health"] {
        assert_eq!(gateway.send("GET", path, &[("host", "evil.example")], "").code().0, 403, "{path}");
        assert_eq!(gateway.send("GET", path, &[("origin", "null")], "").code().0, 403, "{path}");
    }
}

#[test]
fn a_token_is_required() {
    let gateway = Gateway::begin(json!({"a": child(&[])}), &[], &[("GATEWAY_TOKEN", "sesame-open")]);
    gateway.wait_for_status("a", "available");
    let with = |token: &str| gateway.send("POST", "/mcp/call", &[JSON, ("authorization", token)], CALL);
    assert_eq!(with("Bearer sesame-open").status, 200);
    for token in ["Bearer sesame", "sesame-open", "Basic sesame-open", "Bearer"] {
        let (status, code, message, _) = with(token).failure();
        assert_eq!((status, code.as_str()), (401, "VALIDATION_ERROR"), "{token}");
        assert!(!message.contains("sesame"));
    }
    for path in ["/mcp/tools", "/openapi.json", "/metrics"] {
        assert_eq!(gateway.get(path).code().0, 401, "{path}");
    }
    // Children do not inherit the token.
    let asked = json!({"server": "a", "toolName": "environment", "input": {"name": "GATEWAY_TOKEN"}}).to_string();
    let answer = gateway.send("POST", "/mcp/call", &[JSON, ("authorization", "bearer sesame-open")], &asked);
    assert_eq!(answer.result(), json!({"value": null}));
}

/// Runs a gateway that exits at startup; returns its exit code and standard error.
fn refused(config: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.yaml");
    std::fs::write(&file, config).unwrap();
    let mut command = Command::new("timeout");
    command.args(["10", crate::support::binary(), "gateway", "--port", "0", "--config"]).arg(&file).args(arguments);
    let Output { status, stderr, .. } = command.stdin(Stdio::null()).output().unwrap();
    (status.code(), String::from_utf8(stderr).unwrap())
}

#[test]
fn without_a_token_only_loopback_is_allowed() {
    let (code, why) = refused("servers: {}", &["--host", "0.0.0.0"]);
    assert_eq!(code, Some(2));
    assert!(why.contains("GATEWAY_TOKEN"), "{why}");
    let (code, _) = refused("host: 0.0.0.0\nservers: {}", &[]);
    assert_eq!(code, Some(2));
}

#[test]
fn a_value_of_the_wrong_type_names_its_field() {
    for (config, says) in [
        (
            "servers:\n  foo:\n    command: x\n    timeoutMs: hunter2\n",
            "servers.foo.timeoutMs: expected a whole number of milliseconds, found a string at line 4, column 16",
        ),
        ("port: 99999\nservers: {}", "port: expected a port number from 0 to 65535, found a number out of range"),
        (
            "{\"mcpServers\": {\"foo\": {\"command\": \"x\", \"args\": \"hunter2\"}}}",
            "mcpServers.foo.args: expected a list of strings, found a string",
        ),
        (
            "servers: {foo: {command: x, args: [a, {hunter2: b}]}}",
            "servers.foo.args[1]: expected a string, found a mapping",
        ),
        ("servers: {foo: {command: x, env: {KEY: [hunter2]}}}", "servers.foo.env.KEY: expected a string, found a list"),
        (
            "servers: {foo: {command: x, env: {hunter2}}}",
            "servers.foo.env: expected a mapping of names to strings, found a name without a value",
        ),
        (
            "servers: {foo: {command: x, disabled: hunter2}}",
            "servers.foo.disabled: expected true or false, found a string",
        ),
        ("servers: [hunter2]", "servers: expected a mapping of names to servers, found a list"),
    ] {
        let (code, why) = refused(config, &[]);
        assert_eq!(code, Some(2), "{config}");
        assert!(why.contains(says) && !why.contains("hunter2"), "{config}: {why}");
    }
}

#[test]
fn bad_configurations_are_usage_errors() {
    for (config, says) in [
        ("servers:\n  a:\n    comand: x\n", "line 3, column 5"),
        ("{\"mcpServers\":\n{\"a\": {\"comand\": 1}}}", "line 2"),
        ("servers: {a: {command: x, env: {K: \"${NOT_SET_ANYWHERE}\"}}}", "NOT_SET_ANYWHERE"),
        ("", "servers"),
    ] {
        let (code, why) = refused(config, &[]);
        assert_eq!(code, Some(2), "{config}");
        assert!(why.contains(says), "{config}: {why}");
    }
    let missing =
        Command::new(crate::support::binary()).args(["gateway", "--config", "/no/such/file.yaml"]).output().unwrap();
    assert_eq!(missing.status.code(), Some(2));
    // Empty variables are ignored, and the timeout can come from a variable.
    let gateway = Gateway::begin(json!({"a": child(&[])}), &[], &[("GATEWAY_TIMEOUT_MS", "150"), ("GATEWAY_HOST", "")]);
    gateway.wait_for_status("a", "available");
    let (_, code, message, _) = gateway.call("a", "sleep", json!({"ms": 2000})).failure();
    assert_eq!((code.as_str(), message.as_str()), ("TIMEOUT_ERROR", "Tool execution timed out after 150ms"));
}
