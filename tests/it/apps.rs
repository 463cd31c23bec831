//! The page inside an MCP client (MCP Apps): who sees it, and how its calls are answered. The page itself is tested in a browser
//! (`tests/view`).

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::mcp_client::{McpClient, text};
use crate::support::fixtures;
use crate::support::http_client::{HttpServer, json_headers, stateless_meta};
use crate::support::server::{self, Server};

const MEDIA_TYPE: &str = "text/html;profile=mcp-app";
const URI: &str = "ui://n8n-lens/execution";
/// The tools whose results the page shows.
const SHOWN: [&str; 3] = ["get_execution", "describe_execution", "compare_executions"];

fn n8n() -> Server {
    let body = fixtures::executions().into_iter().find(|(name, _)| name == "b_http_500").unwrap().1;
    server::n8n(HashMap::from([("42".to_owned(), body)]))
}

/// The capabilities of a client that shows pages of this type.
fn extension(media_type: &str) -> Value {
    json!({"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": [media_type]}}})
}

/// A client over stdio with these capabilities, and the answer to its handshake.
fn client(n8n: &Server, arguments: &[&str], capabilities: &Value) -> (McpClient, Value) {
    let mut client = McpClient::start_with(&n8n.url(), arguments);
    let info = json!({"name": "test", "version": "0"});
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": info});
    let answer = client.request("initialize", hello)["result"].clone();
    (client, answer)
}

fn tools(client: &mut McpClient) -> Vec<Value> {
    client.request("tools/list", json!({}))["result"]["tools"].as_array().unwrap().clone()
}

fn name(tool: &Value) -> &str {
    tool["name"].as_str().unwrap()
}

/// A call in the form that the page sends.
fn call(client: &mut McpClient, tool: &str, arguments: Value) -> Result<String, String> {
    let meta = json!({"n8n-lens/reader": "page"});
    text(&client.request("tools/call", json!({"name": tool, "arguments": arguments, "_meta": meta})))
}

#[test]
fn a_client_that_does_not_show_pages_sees_nothing_of_them() {
    let n8n = n8n();
    let (mut plain, plain_hello) = client(&n8n, &[], &json!({}));
    let (mut other, other_hello) = client(&n8n, &[], &extension("text/html+skybridge"));
    assert_eq!(plain_hello["capabilities"], json!({"prompts": {}, "tools": {}}));
    assert_eq!(plain_hello, other_hello);
    assert_eq!(tools(&mut plain), tools(&mut other));
    for client in [&mut plain, &mut other] {
        let text = json!(tools(client)).to_string();
        assert!(!text.contains("\"ui\"") && !text.contains("ui/resourceUri") && !text.contains("view_"), "{text}");
        assert_eq!(client.request("resources/list", json!({}))["result"]["resources"], json!([]));
        let refused = client.request("resources/read", json!({ "uri": URI }));
        assert_eq!(refused["error"]["message"], "This server has no resources.");
        let refused = client.request("tools/call", json!({"name": "view_overview", "arguments": {"id": "42"}}));
        assert!(refused["error"]["message"].as_str().unwrap().starts_with("Unknown tool."), "{refused}");
        let answer: Value = serde_json::from_str(&call(client, "get_execution", json!({"id": "42"})).unwrap()).unwrap();
        assert_eq!(answer["success"], true, "the envelope, whatever the request claims");
    }
}

#[test]
fn a_client_that_shows_pages_gets_one_with_three_tools() {
    let n8n = n8n();
    let (mut plain, _) = client(&n8n, &["--toolsets", "executions,workflows,proof"], &json!({}));
    let (mut client, hello) = client(&n8n, &["--toolsets", "executions,workflows,proof"], &extension(MEDIA_TYPE));
    assert_eq!(hello["capabilities"]["extensions"]["io.modelcontextprotocol/ui"]["mimeTypes"], json!([MEDIA_TYPE]));
    assert_eq!(hello["capabilities"]["resources"], json!({}));

    let (before, after) = (tools(&mut plain), tools(&mut client));
    let (known, own) = after.split_at(before.len());
    let calls = [
        "view_overview",
        "view_findings",
        "view_node",
        "view_talk",
        "view_timeline",
        "view_ran",
        "view_trend",
        "view_draft",
    ];
    assert_eq!(own.iter().map(name).collect::<Vec<_>>(), calls);
    for tool in own {
        assert_eq!(tool["_meta"], json!({"ui": {"visibility": ["app"]}}), "hidden from the model");
        assert_eq!(tool["annotations"]["readOnlyHint"], true);
    }
    for (before, after) in before.iter().zip(known) {
        let more = match (SHOWN.contains(&name(after)), &after["annotations"]["readOnlyHint"]) {
            (true, _) => json!({"ui": {"resourceUri": URI}, "ui/resourceUri": URI}),
            (false, Value::Bool(false)) => json!({"ui": {"visibility": ["model"]}}),
            (false, _) => json!({}),
        };
        let mut meta = before["_meta"].as_object().cloned().unwrap_or_default();
        meta.extend(more.as_object().unwrap().clone());
        assert_eq!(after["_meta"].as_object().cloned().unwrap_or_default(), meta, "{}", name(after));
        let without_meta = |tool: &Value| {
            let mut tool = tool.clone();
            tool.as_object_mut().unwrap().remove("_meta");
            tool
        };
        assert_eq!(without_meta(before), without_meta(after), "the model sees the same");
    }
}

#[test]
fn the_page_is_one_document_that_needs_nothing_else() {
    let n8n = n8n();
    let (mut client, _) = client(&n8n, &[], &extension(MEDIA_TYPE));
    let listed = client.request("resources/list", json!({}))["result"]["resources"].clone();
    assert_eq!((&listed[0]["uri"], &listed[0]["mimeType"]), (&json!(URI), &json!(MEDIA_TYPE)));
    let read = client.request("resources/read", json!({ "uri": URI }))["result"]["contents"].clone();
    assert_eq!((&read[0]["uri"], &read[0]["mimeType"]), (&json!(URI), &json!(MEDIA_TYPE)));
    assert_eq!(read[0]["_meta"], listed[0]["_meta"]);
    assert!(read[0]["_meta"]["ui"].get("csp").is_none(), "nothing from elsewhere");
    let document = read[0]["text"].as_str().unwrap();
    assert!(document.starts_with("<!doctype html>") && document.contains(&n8n.url()), "it knows where n8n is");
    assert!(!document.contains(crate::mcp_client::KEY), "it does not know the key");
    let unknown = client.request("resources/read", json!({"uri": "ui://n8n-lens/other"}));
    assert_eq!(unknown["error"]["message"], "Unknown resource; resources/list shows the only one.");
}

#[test]
fn the_page_is_answered_in_its_words() {
    let n8n = n8n();
    let (mut client, _) = client(&n8n, &["--lang", "en"], &extension(MEDIA_TYPE));
    let overview: Value =
        serde_json::from_str(&call(&mut client, "view_overview", json!({"id": 42})).unwrap()).unwrap();
    assert!(overview["graph"].is_object() && overview.get("success").is_none(), "{overview}");
    let refused = |client: &mut McpClient| call(client, "get_execution_by_node", json!({"id": "42", "nodeName": "No"}));
    let told = refused(&mut client).unwrap_err();
    assert!(!told.contains("nodeName") && told.contains("No"), "{told}");
    let to_agent = client.call("get_execution", json!({"id": "42"})).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&to_agent).unwrap()["success"], true, "an agent gets the envelope");
}

#[test]
fn a_selection_without_executions_has_no_page() {
    let n8n = n8n();
    let (mut client, hello) = client(&n8n, &["--tools", "compare_executions"], &extension(MEDIA_TYPE));
    assert_eq!(hello["capabilities"], json!({"prompts": {}, "tools": {}}));
    assert!(tools(&mut client)[0].get("_meta").is_none());
}

/// Since 2026-07-28 every request states the capabilities of its client.
#[test]
fn each_request_over_http_is_answered_by_what_it_announces() {
    let n8n = n8n();
    let server = HttpServer::start(&n8n.url(), &[]);
    let request = |method: &str, capabilities: Value| {
        let mut meta = stateless_meta();
        meta["io.modelcontextprotocol/clientCapabilities"] = capabilities;
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": meta}}).to_string();
        let mut headers = json_headers();
        headers.extend([("mcp-protocol-version", "2026-07-28"), ("mcp-method", method)]);
        server.send("POST", "/mcp", &headers, &body).message()["result"].clone()
    };
    let announces = |method: &str| request(method, extension(MEDIA_TYPE)).to_string().contains("mcp-app");
    assert!(announces("server/discover") && announces("resources/list"));
    assert!(request("tools/list", extension(MEDIA_TYPE)).to_string().contains(URI));
    for method in ["server/discover", "resources/list", "tools/list"] {
        let answer = request(method, json!({})).to_string();
        assert!(!["mcp-app", "ui://", "\"ui\""].iter().any(|sign| answer.contains(sign)), "{method}: {answer}");
    }
}
