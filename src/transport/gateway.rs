//! The REST API of the gateway.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, Request, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};

use super::body::{self, BodyLimits};
use super::call::guarded;
use super::guard::{self, Guard, Refusal};
use super::listener::Listener;
use crate::config::Access;
use crate::gateway::{BODY_BYTES, Error, Gateway};

/// How long calls in progress have to finish after SIGINT or SIGTERM.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(10);

/// How long the errors of the calls that are then cancelled have to reach their clients.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// The media type that Prometheus expects.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Serves the gateway until SIGINT or SIGTERM. Calls in progress then have 10 s to finish, before they are cancelled.
///
/// # Errors
/// The address cannot be bound. The message is a sentence.
pub async fn serve(gateway: Arc<Gateway>, address: (&str, u16), access: &Access) -> Result<(), String> {
    let cancel_calls = async {
        gateway.cancel_calls();
        tokio::time::sleep(FLUSH_TIMEOUT).await;
    };
    let listener = Listener::bind(address, "").await?;
    listener.warn_if_open(access);
    listener.serve(router(gateway.clone(), access), SHUTDOWN_GRACE, cancel_calls).await;
    Ok(())
}

fn router(gateway: Arc<Gateway>, access: &Access) -> Router {
    let guard = Guard::new(access);
    let guarded = Router::new()
        .route("/mcp/call", post(call))
        .route("/mcp/call/{server}/{tool}", post(call_tool))
        .route("/mcp/tools", get(tools))
        .route("/openapi.json", get(openapi))
        .route("/metrics", get(metrics))
        .route_layer(middleware::from_fn_with_state(guard.clone(), authorize));
    let open =
        Router::new().route("/health", get(health)).route_layer(middleware::from_fn_with_state(guard, without_token));
    open.merge(guarded)
        .fallback(async |request: Request| unknown(StatusCode::NOT_FOUND, &request, "Unknown path."))
        .method_not_allowed_fallback(async |request: Request| {
            unknown(StatusCode::METHOD_NOT_ALLOWED, &request, "This path does not support this method.")
        })
        .with_state(gateway)
}

/// Refuses requests without the token, or from a host or origin that is not allowed, before their body is read.
async fn authorize(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    run_unless(guard.refusal(request.headers()), request, next).await
}

/// Refuses requests from a host or origin that is not allowed; the token is not required.
async fn without_token(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    run_unless(guard.foreign(request.headers()), request, next).await
}

async fn run_unless(refusal: Option<Refusal>, request: Request, next: Next) -> Response {
    match refusal {
        Some(refusal) => refusal.respond(failure("VALIDATION_ERROR", refusal.reason().1, json!({}))),
        None => next.run(request).await,
    }
}

async fn call(State(gateway): State<Arc<Gateway>>, request: Request) -> Response {
    respond(async { gateway.call(&json_body(request).await?).await }).await
}

async fn call_tool(
    State(gateway): State<Arc<Gateway>>,
    path: Result<Path<(String, String)>, PathRejection>,
    request: Request,
) -> Response {
    respond(async {
        let body = json_body(request).await?;
        let Path((server, tool)) = path.map_err(|_| Error::path())?;
        gateway.call_tool(&server, &tool, &body).await
    })
    .await
}

/// The body, if it is JSON and not too large. The head is checked before the body is read.
async fn json_body(request: Request) -> Result<Bytes, Error> {
    if !guard::is_json(request.headers()) {
        return Err(Error::content_type());
    }
    let (parts, body) = request.into_parts();
    match BodyLimits::unparsed(BODY_BYTES).read(&parts.headers, body).await {
        Ok(read) => Ok(read.bytes),
        Err(body::Error::TooLarge { .. }) => {
            Err(Error::large_body(body::announced(&parts.headers).filter(|size| *size > BODY_BYTES)))
        }
        Err(_) => Err(Error::incomplete_body()),
    }
}

/// Runs a call until it ends or the gateway shuts down.
async fn respond(call: impl Future<Output = Result<String, Error>>) -> Response {
    let called = guarded(call, std::future::pending()).await;
    match called.unwrap_or_else(|_| Err(Error::internal("a panic; see standard error"))) {
        Ok(result) => {
            let body = ["{\"success\":true,\"result\":", &result, "}"].concat();
            ([(CONTENT_TYPE, "application/json")], body).into_response()
        }
        Err(error) => {
            let body = failure(error.code(), &error.to_string(), error.details());
            match &error {
                Error::NotRunning { retry_after, .. } => {
                    let seconds = retry_after.as_secs_f64().ceil().max(1.0);
                    (status(&error), [(RETRY_AFTER, seconds.to_string())], body).into_response()
                }
                _ => (status(&error), body).into_response(),
            }
        }
    }
}

fn status(error: &Error) -> StatusCode {
    match error {
        Error::Validation { .. } => StatusCode::BAD_REQUEST,
        Error::ServerNotFound { .. } | Error::ToolNotFound { .. } => StatusCode::NOT_FOUND,
        Error::Timeout { .. } => StatusCode::REQUEST_TIMEOUT,
        Error::NotRunning { .. } | Error::Stopped { .. } => StatusCode::SERVICE_UNAVAILABLE,
        Error::Crashed { .. } => StatusCode::BAD_GATEWAY,
        Error::Execution { .. } | Error::Internal { .. } => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

fn failure(code: &str, message: &str, details: Value) -> Json<Value> {
    Json(json!({"success": false, "error": {"code": code, "message": message, "details": details}}))
}

fn unknown(status: StatusCode, request: &Request, message: &str) -> Response {
    let path = crate::json::shorten(request.uri().path(), 200);
    let message = format!("{message} Use POST /mcp/call, or GET /mcp/tools, /health, /metrics or /openapi.json.");
    let details = json!({"field": "path", "value": path});
    (status, failure("VALIDATION_ERROR", &message, details)).into_response()
}

async fn tools(State(gateway): State<Arc<Gateway>>) -> Json<Value> {
    Json(json!({"success": true, "tools": gateway.tools()}))
}

/// Needs no token, and ignores parameters other than `detail`.
async fn health(State(gateway): State<Arc<Gateway>>, RawQuery(query): RawQuery) -> Json<Value> {
    let is_detail = |pair: &str| matches!(pair.split_once('=').unwrap_or((pair, "")), ("detail", value) if !matches!(value, "false" | "0"));
    Json(gateway.health(query.is_some_and(|query| query.split('&').any(is_detail))))
}

async fn openapi(State(gateway): State<Arc<Gateway>>) -> Json<Value> {
    Json(gateway.openapi())
}

async fn metrics(State(gateway): State<Arc<Gateway>>) -> Response {
    ([(CONTENT_TYPE, OPEN_METRICS)], gateway.metrics()).into_response()
}

#[cfg(all(test, unix))]
mod tests {
    use axum::body::Body;

    use super::*;
    use crate::gateway::{Config, Settings};

    /// A server whose only tool never answers: a shell script that reads a line and prints the next message.
    const SERVER: &str = r#"
        read -r initialize
        echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}'
        read -r initialized; read -r list
        echo '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"wait","inputSchema":{"type":"object"}}]}}'
        cat > /dev/null
    "#;

    async fn wait_until(what: &str, is_so: impl Fn() -> bool) {
        let end = tokio::time::Instant::now() + Duration::from_secs(60);
        while !is_so() {
            assert!(tokio::time::Instant::now() < end, "not within a minute: {what}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_call_cancelled_by_the_shutdown_gets_503() {
        let config = json!({"servers": {"a": {"command": "sh", "args": ["-c", SERVER], "timeoutMs": 60_000}}});
        let config = Config::parse(&config.to_string(), |_| None).unwrap();
        let gateway = Gateway::start(&config, Settings { checks: true, ..Settings::default() });
        wait_until("the server is available", || gateway.health(false)["status"] == "ok").await;

        let body = json!({"server": "a", "toolName": "wait", "input": {}}).to_string();
        let request = Request::post("/mcp/call").header(CONTENT_TYPE, "application/json").body(Body::from(body));
        let calling = tokio::spawn(call(State(gateway.clone()), request.unwrap()));
        wait_until("the call is in progress", || gateway.health(true)["servers"]["a"]["pending"] == 1).await;
        gateway.cancel_calls();

        let response = calling.await.unwrap();
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        let body = axum::body::to_bytes(response.into_body(), 10_000).await.unwrap();
        let error = serde_json::from_slice::<Value>(&body).unwrap()["error"].take();
        assert_eq!(error["code"], "SERVER_NOT_RUNNING");
        assert_eq!(error["message"], "MCP Server 'a' is not running: the gateway is shutting down");
        assert_eq!((&error["details"]["server"], &error["details"]["status"]), (&json!("a"), &json!("unavailable")));
        gateway.stop().await;
    }
}
