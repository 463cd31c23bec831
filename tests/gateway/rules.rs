use serde_json::{Value, json};

use crate::gateway::{Called, Gateway, child};

const KB_100: usize = 100 * 1024;
const MB: usize = 1024 * 1024;

fn field(called: &Called, field: &str) -> Value {
    let (status, code, _, details) = called.failure();
    assert_eq!((status, code.as_str(), &details["field"]), (400, "VALIDATION_ERROR", &json!(field)), "{details}");
    details
}

#[test]
fn names_have_limits() {
    let (longest, too_long) = ("s".repeat(50), "s".repeat(51));
    let gateway = Gateway::start(json!({ longest.clone(): child(&[]) }));
    assert_eq!(gateway.call(&longest, "echo", json!({})).status, 200);
    let details = field(&gateway.call(&too_long, "echo", json!({})), "server");
    assert_eq!((&details["size"], &details["max"]), (&json!(51), &json!(50)));
    assert_eq!(gateway.call(&longest, &"t".repeat(100), json!({})).code(), (404, "TOOL_NOT_FOUND".to_owned()));
    field(&gateway.call(&longest, &"t".repeat(101), json!({})), "toolName");

    for name in ["", "a b", "a.b", "a/b", "../etc", "a\nb", "ä", "<script>", "a;b", "a\u{0}"] {
        let details = field(&gateway.call(name, "echo", json!({})), "server");
        assert_eq!(details["pattern"], "^[a-zA-Z0-9-_]+$");
        field(&gateway.call(&longest, name, json!({})), "toolName");
    }
    for name in ["a-b_C9", "-", "_"] {
        assert_eq!(gateway.call(name, "echo", json!({})).code(), (404, "SERVER_NOT_FOUND".to_owned()));
    }
    for (body, at) in [
        (json!({"toolName": "echo", "input": {}}), "server"),
        (json!({"server": 5, "toolName": "echo", "input": {}}), "server"),
        (json!({"server": longest, "input": {}}), "toolName"),
        (json!({"server": longest, "toolName": null, "input": {}}), "toolName"),
    ] {
        field(&gateway.post(&body.to_string()), at);
    }
}

#[test]
fn inputs_have_limits() {
    let gateway = Gateway::start(json!({"a": child(&[])}));
    let sized = |bytes: usize| json!({"value": "x".repeat(bytes - r#"{"value":""}"#.len())});
    assert_eq!(sized(KB_100).to_string().len(), KB_100);
    assert_eq!(gateway.call("a", "echo", sized(KB_100)).status, 200);
    let details = field(&gateway.call("a", "echo", sized(KB_100 + 1)), "input");
    assert_eq!((&details["size"], &details["max"]), (&json!(KB_100 + 1), &json!(KB_100)));

    // The input itself is level 1.
    let deep = |levels: usize| {
        let inner = format!("{}{}", "[".repeat(levels - 1), "]".repeat(levels - 1));
        format!(r#"{{"server":"a","toolName":"echo","input":{{"value":{inner}}}}}"#)
    };
    assert_eq!(gateway.post(&deep(10)).status, 200);
    assert_eq!(field(&gateway.post(&deep(11)), "input")["size"], 11);
    assert_eq!(field(&gateway.post(&deep(40_000)), "input")["size"], 40_000);

    assert_eq!(gateway.call("a", "echo", json!({})).result(), json!({}));
    for input in ["[]", "null", "\"a\"", "5", "true"] {
        field(&gateway.post(&format!(r#"{{"server":"a","toolName":"echo","input":{input}}}"#)), "input");
    }
    field(&gateway.post(r#"{"server":"a","toolName":"echo"}"#), "input");
}

#[test]
fn bodies_have_limits() {
    let gateway = Gateway::start(json!({"a": child(&[])}));
    let body = r#"{"server":"a","toolName":"echo","input":{}}"#;
    let padded = |bytes: usize| format!("{body}{}", " ".repeat(bytes - body.len()));
    assert_eq!(gateway.post(&padded(MB)).status, 200);
    let details = field(&gateway.post(&padded(MB + 1)), "body");
    assert_eq!((&details["size"], &details["max"]), (&json!(MB + 1), &json!(MB)));
    // The error reaches a client that sends far more.
    field(&gateway.post(&padded(20 * MB)), "body");
    let large = padded(20 * MB);
    field(&gateway.send("POST", "/mcp/call", &[("content-type", "text/plain")], &large), "content-type");
    assert_eq!(gateway.send("POST", "/nowhere", &[], &large).code().0, 404);
    assert_eq!(gateway.send("POST", "/mcp/call", &[("origin", "null")], &large).code().0, 403);

    for media_type in
        ["text/plain", "application/jsonp", "application/x-www-form-urlencoded", "multipart/form-data", ""]
    {
        field(&gateway.send("POST", "/mcp/call", &[("content-type", media_type)], body), "content-type");
    }
    field(&gateway.send("POST", "/mcp/call", &[], body), "content-type");
    for media_type in ["application/json; charset=utf-8", "Application/JSON", "application/json;charset=UTF-8"] {
        assert_eq!(gateway.send("POST", "/mcp/call", &[("content-type", media_type)], body).status, 200);
    }
    for broken in ["", "{", "[]", "null", "{\"server\":\"a\",}", "{\"server\":\"a\",\"server\":\"b\"}", "\u{1}"] {
        field(&gateway.post(broken), "body");
    }
    for (method, path, status) in [
        ("GET", "/mcp/call", 405),
        ("POST", "/health", 405),
        ("GET", "/", 404),
        ("DELETE", "/mcp/tools", 405),
        ("GET", "/mcp", 404),
    ] {
        assert_eq!(gateway.send(method, path, &[], "").code(), (status, "VALIDATION_ERROR".to_owned()));
    }
}

#[test]
fn schemas_are_checked() {
    let gateway = Gateway::start(json!({"a": child(&["--bad-schema"])}));
    assert_eq!(gateway.call("a", "sum", json!({"numbers": [1, 2.5]})).result()["sum"], 3.5);
    let details = field(&gateway.call("a", "sum", json!({"numbers": [1, "two"]})), "input.numbers.1");
    assert_eq!(details["value"], "\"two\"");
    field(&gateway.call("a", "sum", json!({})), "input");
    field(&gateway.call("a", "sum", json!({"numbers": []})), "input.numbers");
    let long = gateway.call("a", "sum", json!({"numbers": "y".repeat(5000)}));
    assert!(field(&long, "input.numbers")["value"].as_str().unwrap().len() < 300 && long.text.len() < 2000);
    // An invalid schema rejects no call, and no schema is fetched from the network.
    assert_eq!(gateway.call("a", "bad_schema", json!({"a": 1})).status, 200);
    assert_eq!(gateway.call("a", "ref_schema", json!({})).status, 200);
}

#[test]
fn validation_can_be_switched_off() {
    let gateway = Gateway::begin(json!({"a": child(&[])}), &[], &[("DISABLE_VALIDATION", "true")]);
    gateway.wait_for_status("a", "available");
    assert_eq!(gateway.health()["validation"], "disabled");
    let large = json!({"value": "x".repeat(KB_100), "deep": [[[[[[[[[[[[1]]]]]]]]]]]]});
    assert_eq!(gateway.call("a", "echo", large.clone()).result(), large);
    assert_eq!(gateway.call("a b", "echo", json!({})).code(), (404, "SERVER_NOT_FOUND".to_owned()));
    // Now the child rejects the call.
    assert_eq!(gateway.call("a", "sum", json!({"numbers": "x"})).code(), (500, "TOOL_EXECUTION_ERROR".to_owned()));
    field(&gateway.post(&" ".repeat(MB + 1)), "body");
}
