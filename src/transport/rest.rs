//! The tools over plain REST: `/mcp/tools` lists them, `/mcp/execute` runs one.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures::FutureExt;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::guard::{self, Guard};
use super::http::REQUEST_BYTES;
use super::own_key::own_key;
use crate::n8n::Progress;
use crate::secrets::without_value;
use crate::tools::{Context, Error, Tool, Toolbox, Unavailable};

struct Rest {
    context: Arc<Context>,
    toolbox: Arc<Toolbox>,
    guard: Guard,
}

/// One call.
#[derive(Deserialize)]
struct Asked {
    name: String,
    #[serde(default)]
    parameters: Map<String, Value>,
}

/// Why there is no result.
enum Refusal {
    NotFound(String),
    Format(String),
    Parameters(String),
    Execution(String),
    Internal(String),
}

/// The routes.
pub(super) fn routes(context: Arc<Context>, toolbox: Arc<Toolbox>, guard: Guard) -> Router {
    let rest = Arc::new(Rest { context, toolbox, guard });
    Router::new()
        .route("/mcp/tools", get(list).post(list))
        .route("/mcp/execute", post(execute))
        .layer(axum::extract::DefaultBodyLimit::max(REQUEST_BYTES))
        .with_state(rest)
}

async fn list(State(rest): State<Arc<Rest>>, headers: HeaderMap) -> Response {
    if let Some(refused) = rest.guard.refusal(&headers) {
        return refused.into_response();
    }
    Json(json!({ "tools": rest.toolbox.tools().map(describe).collect::<Vec<_>>() })).into_response()
}

fn describe(tool: &Tool) -> Value {
    json!({
        "name": tool.name,
        "description": tool.description,
        "inputSchema": tool.input_schema(),
        "outputSchema": tool.output_schema(),
    })
}

async fn execute(State(rest): State<Arc<Rest>>, headers: HeaderMap, body: Bytes) -> Response {
    if let Some(refused) = rest.guard.refusal(&headers) {
        return refused.into_response();
    }
    match rest.run(&headers, &body).await {
        Ok(text) => ([("content-type", "application/json")], text).into_response(),
        Err(refusal) => refusal.into_response(),
    }
}

impl Rest {
    async fn run(&self, headers: &HeaderMap, body: &[u8]) -> Result<String, Refusal> {
        if !guard::brings_json(headers) {
            return Err(Refusal::Format("Send JSON, with content-type: application/json.".to_owned()));
        }
        let asked: Asked = serde_json::from_slice(body).map_err(|error| {
            Refusal::Format(format!(
                "The body must be {{\"name\": …, \"parameters\": {{…}}}}: {}.",
                without_value(&error)
            ))
        })?;
        let tool = self.toolbox.find(&asked.name).map_err(|error| match error {
            Unavailable::Unknown(_) => Refusal::NotFound(error.to_string()),
            Unavailable::ReadOnly(_) => Refusal::Execution(error.to_string()),
        })?;
        let context = match own_key(headers).map_err(|refusal| Refusal::Format(refusal.to_owned()))? {
            Some(key) => Arc::new(self.context.with_key(key)),
            None => self.context.clone(),
        };
        let call = async { tool.run(context, asked.parameters, Progress::default()).await };
        match AssertUnwindSafe(call).catch_unwind().await {
            Ok(Ok(text)) => Ok(text),
            Ok(Err(Error::Argument(text))) => Err(Refusal::Parameters(text)),
            Ok(Err(error)) => Err(Refusal::Execution(error.to_string())),
            Err(_) => Err(Refusal::Internal(format!("{} failed by a fault of n8n-lens.", tool.name))),
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (status, code, message) = match self {
            Self::NotFound(message) => (StatusCode::NOT_FOUND, "TOOL_NOT_FOUND", message),
            Self::Format(message) => (StatusCode::BAD_REQUEST, "INVALID_REQUEST_FORMAT", message),
            Self::Parameters(message) => (StatusCode::BAD_REQUEST, "INVALID_TOOL_PARAMETERS", message),
            Self::Execution(message) => (StatusCode::INTERNAL_SERVER_ERROR, "TOOL_EXECUTION_ERROR", message),
            Self::Internal(message) => (StatusCode::INTERNAL_SERVER_ERROR, "INTERNAL_SERVER_ERROR", message),
        };
        let details = parameter(&message).map_or_else(|| json!({}), |parameter| json!({ "parameter": parameter }));
        (status, Json(json!({"error": {"message": message, "code": code, "details": details}}))).into_response()
    }
}

/// The parameter that a refusal speaks of: ours begin so.
fn parameter(message: &str) -> Option<&str> {
    let named = message.strip_prefix("Argument '").or_else(|| message.strip_prefix("Unknown argument '"))?;
    named.split_once('\'').map(|(name, _)| name)
}
