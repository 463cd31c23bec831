//! The `OpenAPI` document of the gateway.

use serde_json::{Map, Value, json};

/// The errors of a call, by HTTP status.
const FAILURES: [(&str, &str); 9] = [
    ("400", "VALIDATION_ERROR: the request is invalid, or its input does not match the tool's schema"),
    ("401", "VALIDATION_ERROR: the bearer token is missing or wrong"),
    ("403", "VALIDATION_ERROR: this host or origin is not allowed"),
    ("404", "SERVER_NOT_FOUND or TOOL_NOT_FOUND"),
    ("408", "TIMEOUT_ERROR: the call reached its timeout and was cancelled"),
    ("500", "TOOL_EXECUTION_ERROR: the tool's own error, or INTERNAL_ERROR"),
    ("502", "SERVER_CRASHED: the server exited during the call, or fails to start"),
    ("503", "SERVER_NOT_RUNNING: the server is starting, and Retry-After says when to retry; or it is being stopped"),
    ("default", "Any other error"),
];

/// Describes the routes, and each of `tools` (`name`, `description`, `server`, `inputSchema`) as an operation.
pub(super) fn document(tools: &[Value]) -> Value {
    let mut paths = routes();
    for tool in tools {
        let (server, name) = (text(&tool["server"]), text(&tool["name"]));
        paths.insert(format!("/mcp/call/{server}/{name}"), tool_operation(tool, server, name));
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "n8n-lens gateway",
            "description": "MCP servers over plain REST.",
            "version": env!("CARGO_PKG_VERSION"),
        },
        "paths": paths,
        "components": {
            "schemas": { "Error": error_schema() },
            "securitySchemes": { "bearer": { "type": "http", "scheme": "bearer" } },
        },
        "security": [{}, { "bearer": [] }],
    })
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn routes() -> Map<String, Value> {
    let call = json!({
        "type": "object",
        "required": ["server", "toolName", "input"],
        "properties": {
            "server": { "type": "string", "pattern": "^[a-zA-Z0-9_-]+$", "maxLength": 50 },
            "toolName": { "type": "string", "pattern": "^[a-zA-Z0-9_-]+$", "maxLength": 100 },
            "input": { "type": "object" },
        },
    });
    let plain = |id: &str, summary: &str, media_type: &str| {
        let content = Map::from_iter([(media_type.to_owned(), json!({}))]);
        let mut responses = Map::from_iter([("200".to_owned(), json!({"description": summary, "content": content}))]);
        responses.insert("default".to_owned(), failure("Any error"));
        json!({ "get": { "operationId": id, "summary": summary, "responses": responses } })
    };
    let mut health = plain("health", "The status of every server", "application/json");
    health["get"]["parameters"] = json!([{ "name": "detail", "in": "query", "schema": { "type": "boolean" } }]);
    health["get"]["security"] = json!([]);
    Map::from_iter([
        ("/mcp/call".to_owned(), json!({ "post": call_operation("call", "Call any tool", "", &call) })),
        ("/mcp/tools".to_owned(), plain("tools", "The tools of all available servers", "application/json")),
        ("/health".to_owned(), health),
        ("/metrics".to_owned(), plain("metrics", "Counters and histograms for Prometheus", "text/plain")),
        ("/openapi.json".to_owned(), plain("openapi", "This document", "application/json")),
    ])
}

fn tool_operation(tool: &Value, server: &str, name: &str) -> Value {
    // Neither name contains a dot.
    let id = format!("{server}.{name}");
    let mut schema = tool["inputSchema"].clone();
    if let Some(schema) = schema.as_object_mut() {
        // With an id, references in the schema point into the schema, not into this document.
        schema.entry("$id").or_insert_with(|| format!("/mcp/call/{server}/{name}/input").into());
    }
    let mut post = call_operation(&id, name, text(&tool["description"]), &schema);
    post["tags"] = json!([server]);
    json!({ "post": post })
}

fn call_operation(id: &str, summary: &str, description: &str, body: &Value) -> Value {
    let success = json!({
        "type": "object",
        "required": ["success", "result"],
        "properties": { "success": { "const": true }, "result": {} },
    });
    let mut responses = Map::from_iter([(
        "200".to_owned(),
        json!({ "description": "The result", "content": { "application/json": { "schema": success } } }),
    )]);
    responses.extend(FAILURES.map(|(status, description)| (status.to_owned(), failure(description))));
    json!({
        "operationId": id,
        "summary": summary,
        "description": description,
        "requestBody": { "required": true, "content": { "application/json": { "schema": body } } },
        "responses": responses,
    })
}

fn failure(description: &str) -> Value {
    let schema = json!({ "$ref": "#/components/schemas/Error" });
    json!({ "description": description, "content": { "application/json": { "schema": schema } } })
}

fn error_schema() -> Value {
    json!({
        "type": "object",
        "required": ["success", "error"],
        "properties": {
            "success": { "const": false },
            "error": {
                "type": "object",
                "required": ["code", "message", "details"],
                "properties": {
                    "code": { "type": "string" },
                    "message": { "type": "string" },
                    "details": { "type": "object" },
                },
            },
        },
    })
}
