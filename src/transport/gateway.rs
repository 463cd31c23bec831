//! The gateway over plain REST.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, Request, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures::{FutureExt, StreamExt};
use serde_json::{Value, json};

use super::guard::{self, Guard};
use super::listen::{bind, listen};
use crate::config::Access;
use crate::gateway::{BODY_BYTES, Error, Gateway};

/// How long calls may go on after a signal.
const GRACE: Duration = Duration::from_secs(10);

/// How long a body may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// How much of a body that is refused is read.
const DRAIN_BYTES: usize = 64 * 1024 * 1024;

/// What Prometheus expects.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Serves the gateway until a signal stops it; then calls may end.
///
/// # Errors
/// What the network refuses, as a sentence.
pub async fn serve(gateway: Arc<Gateway>, address: (&str, u16), access: &Access) -> Result<(), String> {
    listen(bind(address, "").await?, router(gateway, access), GRACE, std::future::ready(())).await
}

fn router(gateway: Arc<Gateway>, access: &Access) -> Router {
    let guarded = Router::new()
        .route("/mcp/call", post(call))
        .route("/mcp/call/{server}/{tool}", post(call_tool))
        .route("/mcp/tools", get(tools))
        .route("/openapi.json", get(openapi))
        .route("/metrics", get(metrics))
        .route_layer(middleware::from_fn_with_state(Guard::new(access), pass));
    Router::new()
        .route("/health", get(health))
        .merge(guarded)
        .fallback(async |request: Request| unknown(StatusCode::NOT_FOUND, request, "There is nothing here.").await)
        .method_not_allowed_fallback(async |request: Request| {
            unknown(StatusCode::METHOD_NOT_ALLOWED, request, "This method is not for this path.").await
        })
        .with_state(gateway)
}

/// Lets a request pass that may.
async fn pass(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    match guard.refusal(request.headers()) {
        Some(refused) => {
            read(request).await;
            refused.respond(failure("VALIDATION_ERROR", refused.reason().1, json!({})))
        }
        None => next.run(request).await,
    }
}

async fn call(State(gateway): State<Arc<Gateway>>, request: Request) -> Response {
    let call = async { gateway.call(&body(request).await?).await };
    answer(AssertUnwindSafe(call).catch_unwind().await)
}

async fn call_tool(
    State(gateway): State<Arc<Gateway>>,
    path: Result<Path<(String, String)>, PathRejection>,
    request: Request,
) -> Response {
    let call = async {
        let body = body(request).await?;
        let Path((server, tool)) = path.map_err(|_| Error::path())?;
        gateway.call_tool(&server, &tool, &body).await
    };
    answer(AssertUnwindSafe(call).catch_unwind().await)
}

/// All of a body that is JSON.
async fn body(request: Request) -> Result<Vec<u8>, Error> {
    let is_json = guard::brings_json(request.headers());
    let (body, size) = read(request).await.ok_or_else(Error::broken_off)?;
    if !is_json {
        return Err(Error::content_type());
    }
    Error::check_body(size)?;
    Ok(body)
}

/// A body as far as it may be used, and its size. One that is too large is read on for a while, or the
/// refusal would not reach a client that still sends. `None` when it breaks off, or takes too long.
async fn read(request: Request) -> Option<(Vec<u8>, usize)> {
    let mut chunks = Body::into_data_stream(request.into_body());
    let reading = async {
        let (mut body, mut size) = (Vec::new(), 0);
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.ok()?;
            size += chunk.len();
            if size <= BODY_BYTES {
                body.extend_from_slice(&chunk);
            }
            if size > DRAIN_BYTES {
                break;
            }
        }
        Some((body, size))
    };
    tokio::time::timeout(PATIENCE, reading).await.ok()?
}

fn answer(called: std::thread::Result<Result<String, Error>>) -> Response {
    match called.unwrap_or_else(|_| Err(Error::internal("a panic; standard error has it"))) {
        Ok(result) => {
            let body = ["{\"success\":true,\"result\":", &result, "}"].concat();
            ([(CONTENT_TYPE, "application/json")], body).into_response()
        }
        Err(error) => {
            let body = Json(failure(error.code(), &error.to_string(), error.details()));
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
        Error::NotRunning { .. } => StatusCode::SERVICE_UNAVAILABLE,
        Error::Crashed { .. } => StatusCode::BAD_GATEWAY,
        Error::Execution { .. } | Error::Internal { .. } => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

fn failure(code: &str, message: &str, details: Value) -> Value {
    json!({"success": false, "error": {"code": code, "message": message, "details": details}})
}

async fn unknown(status: StatusCode, request: Request, message: &str) -> Response {
    let path = crate::json::shorten(request.uri().path(), 200);
    read(request).await;
    let message = format!("{message} There are POST /mcp/call, GET /mcp/tools, /health, /metrics and /openapi.json.");
    let details = json!({"field": "path", "value": path});
    (status, Json(failure("VALIDATION_ERROR", &message, details))).into_response()
}

async fn tools(State(gateway): State<Arc<Gateway>>) -> Json<Value> {
    Json(json!({"success": true, "tools": gateway.tools()}))
}

/// Anybody may know that the gateway is up, however the question is put.
async fn health(State(gateway): State<Arc<Gateway>>, RawQuery(query): RawQuery) -> Json<Value> {
    let wants = |part: &str| matches!(part.split_once('=').unwrap_or((part, "")), ("detail", value) if !matches!(value, "false" | "0"));
    Json(gateway.health(query.is_some_and(|query| query.split('&').any(wants))))
}

async fn openapi(State(gateway): State<Arc<Gateway>>) -> Json<Value> {
    Json(gateway.openapi())
}

async fn metrics(State(gateway): State<Arc<Gateway>>) -> Response {
    ([(CONTENT_TYPE, OPEN_METRICS)], gateway.metrics()).into_response()
}
