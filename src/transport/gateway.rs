//! The gateway over plain REST.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Path, Query, Request, State};
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::http::{StatusCode, Uri};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures::{FutureExt, StreamExt};
use serde::Deserialize;
use serde_json::{Value, json};

use super::guard::{self, Guard};
use super::listen::{bind, listen};
use crate::config::Access;
use crate::gateway::{BODY_BYTES, Error, Gateway};

/// How long calls may go on after a signal.
const GRACE: Duration = Duration::from_secs(10);

/// How long a body may pause.
const PATIENCE: Duration = Duration::from_secs(30);

/// What Prometheus expects.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Serves the gateway until a signal stops it; then calls may end, and the servers are stopped.
///
/// # Errors
/// What the network refuses, as a sentence.
pub async fn serve(gateway: Arc<Gateway>, address: (&str, u16), access: &Access) -> Result<(), String> {
    let served = match bind(address, "").await {
        Ok(listener) => listen(listener, router(gateway.clone(), access), GRACE, std::future::ready(())).await,
        refused => refused.map(drop),
    };
    gateway.stop().await;
    served
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
        .fallback(async |uri: Uri| unknown(StatusCode::NOT_FOUND, &uri, "There is nothing here."))
        .method_not_allowed_fallback(async |uri: Uri| {
            unknown(StatusCode::METHOD_NOT_ALLOWED, &uri, "This method is not for this path.")
        })
        .with_state(gateway)
}

/// Lets a request pass that may.
async fn pass(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    match guard.refusal(request.headers()) {
        Some(refused) => refused.respond(failure("VALIDATION_ERROR", refused.reason().1, json!({}))),
        None => next.run(request).await,
    }
}

async fn call(State(gateway): State<Arc<Gateway>>, request: Request) -> Response {
    let call = async { gateway.call(&body(request).await?).await };
    answer(AssertUnwindSafe(call).catch_unwind().await)
}

async fn call_tool(
    State(gateway): State<Arc<Gateway>>,
    Path((server, tool)): Path<(String, String)>,
    request: Request,
) -> Response {
    let call = async { gateway.call_tool(&server, &tool, &body(request).await?).await };
    answer(AssertUnwindSafe(call).catch_unwind().await)
}

/// All of a body that is JSON. One that is too large is read to its end, or the refusal would not reach a
/// client that still sends.
async fn body(request: Request) -> Result<Vec<u8>, Error> {
    if !guard::brings_json(request.headers()) {
        return Err(Error::content_type());
    }
    let mut chunks = Body::into_data_stream(request.into_body());
    let (mut body, mut size) = (Vec::new(), 0);
    loop {
        match tokio::time::timeout(PATIENCE, chunks.next()).await {
            Ok(None) => break,
            Ok(Some(Ok(chunk))) => {
                size += chunk.len();
                if size <= BODY_BYTES {
                    body.extend_from_slice(&chunk);
                }
            }
            Ok(Some(Err(_))) | Err(_) => return Err(Error::broken_off()),
        }
    }
    Error::check_body(size)?;
    Ok(body)
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

fn unknown(status: StatusCode, uri: &Uri, message: &str) -> Response {
    let message = format!("{message} There are POST /mcp/call, GET /mcp/tools, /health, /metrics and /openapi.json.");
    let details = json!({"field": "path", "value": crate::json::shorten(uri.path(), 200)});
    (status, Json(failure("VALIDATION_ERROR", &message, details))).into_response()
}

async fn tools(State(gateway): State<Arc<Gateway>>) -> Json<Value> {
    Json(json!({"success": true, "tools": gateway.tools()}))
}

#[derive(Deserialize)]
struct Asked {
    detail: Option<String>,
}

/// Anybody may know that the gateway is up.
async fn health(State(gateway): State<Arc<Gateway>>, Query(asked): Query<Asked>) -> Json<Value> {
    Json(gateway.health(asked.detail.is_some_and(|detail| !matches!(detail.as_str(), "false" | "0"))))
}

async fn openapi(State(gateway): State<Arc<Gateway>>) -> Json<Value> {
    Json(gateway.openapi())
}

async fn metrics(State(gateway): State<Arc<Gateway>>) -> Response {
    ([(CONTENT_TYPE, OPEN_METRICS)], gateway.metrics()).into_response()
}
