//! The tools over plain REST: `/mcp/tools` lists them, `/mcp/execute` runs one.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::body::{self, BodyLimits};
use super::call::{Interrupted, bug, guarded};
use super::guard::{self, Guard};
use super::{api_key, error_body, shutdown};
use crate::n8n::Progress;
use crate::secrets::without_value;
use crate::toolkit::ArgumentError;
use crate::tools::{self, Context, Tool, Toolbox, Unavailable};

struct Server {
    context: Arc<Context>,
    toolbox: Arc<Toolbox>,
    guard: Guard,
    limits: BodyLimits,
    /// Cancels the calls in progress.
    shutdown: CancellationToken,
}

/// A request with a body of JSON.
pub(super) trait Request: DeserializeOwned {
    /// The required shape of the body, as a sentence.
    const SHAPE: &str;
}

/// The body of a request.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolCall {
    name: String,
    #[serde(default)]
    parameters: Map<String, Value>,
}

impl Request for ToolCall {
    const SHAPE: &str = r#"{"name": …, "parameters": {…}}"#;
}

/// Why a call has no result.
pub(super) enum Error {
    NotFound(String),
    Format(String),
    Parameters(ArgumentError),
    Execution(String),
    Internal(String),
    ShuttingDown(String),
    Body(body::Error),
}

/// The routes.
pub(super) fn routes(
    context: Arc<Context>,
    toolbox: Arc<Toolbox>,
    guard: Guard,
    limits: BodyLimits,
    shutdown: CancellationToken,
) -> Router {
    let server = Arc::new(Server { context, toolbox, guard, limits, shutdown });
    Router::new().route("/mcp/tools", get(list).post(list)).route("/mcp/execute", post(execute)).with_state(server)
}

async fn list(State(server): State<Arc<Server>>, headers: HeaderMap) -> Response {
    if let Some(refusal) = server.guard.refusal(&headers) {
        return refusal.into_response();
    }
    Json(json!({ "tools": server.toolbox.tools().map(describe).collect::<Vec<_>>() })).into_response()
}

fn describe(tool: &Tool) -> Value {
    json!({
        "name": tool.name,
        "description": tool.description,
        "inputSchema": tool.input_schema(),
        "outputSchema": tool.output_schema(),
    })
}

async fn execute(State(server): State<Arc<Server>>, headers: HeaderMap, body: Body) -> Response {
    if let Some(refusal) = server.guard.refusal(&headers) {
        return refusal.into_response();
    }
    match server.run(&headers, body).await {
        Ok(text) => ([("content-type", "application/json")], text).into_response(),
        Err(error) => error.into_response(),
    }
}

impl Server {
    async fn run(&self, headers: &HeaderMap, body: Body) -> Result<String, Error> {
        let call = parse::<ToolCall>(&self.limits, headers, body).await?;
        let tool = self.toolbox.find(&call.name)?;
        let context = match api_key::from_headers(headers).map_err(|error| Error::Format(error.to_owned()))? {
            Some(key) => Arc::new(self.context.with_key(key)),
            None => self.context.clone(),
        };
        run(tool, context, call.parameters, Progress::default(), &self.shutdown).await
    }
}

/// Reads and parses the body of a request.
pub(super) async fn parse<T: Request>(limits: &BodyLimits, headers: &HeaderMap, body: Body) -> Result<T, Error> {
    if !guard::is_json(headers) {
        return Err(Error::Format("Send JSON, with content-type: application/json.".to_owned()));
    }
    let body = limits.read(headers, body).await.map_err(Error::Body)?;
    // serde reads a structure from an array, too.
    if body.bytes.iter().find(|byte| !byte.is_ascii_whitespace()).is_some_and(|first| *first == b'[') {
        return Err(Error::Format(format!("The body must be {}, not an array.", T::SHAPE)));
    }
    let parsed = body.parse(async { serde_json::from_slice(&body.bytes) }).await;
    parsed.map_err(|error| Error::Format(format!("The body must be {}: {}.", T::SHAPE, without_value(&error))))
}

/// Runs a tool until it ends or the server shuts down.
pub(super) async fn run(
    tool: &Tool,
    context: Arc<Context>,
    arguments: Map<String, Value>,
    progress: Progress,
    shutdown: &CancellationToken,
) -> Result<String, Error> {
    // The future is also created inside: a tool may panic before its first await.
    let call = async { tool.run(context, arguments, progress).await };
    match guarded(call, shutdown.cancelled()).await {
        Ok(Ok(text)) => Ok(text),
        Ok(Err(tools::Error::Argument(error))) => Err(Error::Parameters(error)),
        Ok(Err(error)) => Err(Error::Execution(error.to_string())),
        Err(Interrupted::Bug) => Err(Error::Internal(bug(tool.name))),
        Err(Interrupted::Shutdown) => Err(Error::ShuttingDown(shutdown::interrupted(tool))),
    }
}

impl From<Unavailable> for Error {
    fn from(error: Unavailable) -> Self {
        match error {
            Unavailable::Unknown(_) => Self::NotFound(error.to_string()),
            Unavailable::ReadOnly(_) => Self::Execution(error.to_string()),
        }
    }
}

impl Error {
    /// The status, the code and the message.
    pub(super) fn parts(self) -> (StatusCode, &'static str, String) {
        match self {
            Self::NotFound(message) => (StatusCode::NOT_FOUND, "TOOL_NOT_FOUND", message),
            Self::Format(message) => (StatusCode::BAD_REQUEST, "INVALID_REQUEST_FORMAT", message),
            Self::Parameters(error) => (StatusCode::BAD_REQUEST, "INVALID_TOOL_PARAMETERS", error.to_string()),
            Self::Execution(message) => (StatusCode::INTERNAL_SERVER_ERROR, "TOOL_EXECUTION_ERROR", message),
            Self::Internal(message) => (StatusCode::INTERNAL_SERVER_ERROR, "INTERNAL_SERVER_ERROR", message),
            Self::Body(error) => error.reason(),
            Self::ShuttingDown(message) => (StatusCode::SERVICE_UNAVAILABLE, "UNAVAILABLE", message),
        }
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        if let Self::Body(error) = self {
            return error.into_response();
        }
        let parameter = if let Self::Parameters(error) = &self { error.name() } else { None };
        let details = parameter.map_or_else(|| json!({}), |parameter| json!({ "parameter": parameter }));
        let (status, code, message) = self.parts();
        (status, error_body(&message, code, details)).into_response()
    }
}
