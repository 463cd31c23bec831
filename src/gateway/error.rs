//! Why a call has no result.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::exit::Exit;
use super::limits::BODY_BYTES;
use crate::json;

/// A value in an error has at most so many characters.
const VALUE_CHARS: usize = 200;

/// A refusal or a failure. Messages never hold a path, a socket or a stack trace.
#[derive(Clone, Debug, thiserror::Error, PartialEq)]
pub enum Error {
    /// The request breaks a rule; `details` say which field, and what it may be.
    #[error("{message}")]
    Validation {
        /// What is wrong, and what to do.
        message: String,
        /// `field`, and `value` or `size`, `max`, `pattern`.
        details: Map<String, Value>,
    },
    /// No server of this name is configured.
    #[error("MCP Server '{server}' not found")]
    ServerNotFound {
        /// The name that was asked for.
        server: String,
    },
    /// The server has no tool of this name.
    #[error("Tool '{tool}' not found")]
    ToolNotFound {
        /// The name that was asked for.
        tool: String,
        /// The server that was asked.
        server: String,
    },
    /// The tool took too long; it was told to stop.
    #[error("Tool execution timed out after {}ms", .limit.as_millis())]
    Timeout {
        /// The tool.
        tool: String,
        /// The limit that was reached.
        limit: Duration,
    },
    /// The server starts, or waits until it may start again.
    #[error("MCP Server '{server}' is not running")]
    NotRunning {
        /// The server.
        server: String,
        /// When to ask again.
        retry_after: Duration,
    },
    /// The server died during the call, or fails whenever it starts.
    #[error("MCP Server '{server}' has crashed")]
    Crashed {
        /// The server.
        server: String,
        /// How it ended.
        exit: Exit,
        /// Whether it had the call when it died.
        called: bool,
    },
    /// The tool's own error.
    #[error("{message}")]
    Execution {
        /// The tool.
        tool: String,
        /// Its server.
        server: String,
        /// The tool's own words.
        message: String,
        /// The code of a JSON-RPC error.
        jsonrpc_code: Option<i32>,
    },
    /// Anything else; the log has more, under the same id.
    #[error("Internal error. The log of the gateway says more, under the id in the details.")]
    Internal {
        /// What the log has.
        id: String,
    },
}

impl Error {
    /// A field that breaks a rule.
    pub(super) fn field(field: &str, message: impl Into<String>, details: Value) -> Self {
        let mut all = Map::new();
        all.insert("field".to_owned(), field.into());
        if let Value::Object(details) = details {
            all.extend(details);
        }
        Self::Validation { message: message.into(), details: all }
    }

    /// A body that does not say that it is JSON.
    pub fn content_type() -> Self {
        let message = "Send JSON, with the header Content-Type: application/json.";
        Self::field("content-type", message, json!({"pattern": "application/json"}))
    }

    /// A path that is no text.
    pub fn path() -> Self {
        Self::field("path", "The path is not UTF-8.", Value::Null)
    }

    /// A body that did not come to its end.
    pub fn broken_off() -> Self {
        Self::field("body", "The body broke off, or paused for too long.", Value::Null)
    }

    /// Refuses a body of more than [`BODY_BYTES`].
    ///
    /// # Errors
    /// [`Error::Validation`].
    pub fn check_body(size: usize) -> Result<(), Self> {
        if size <= BODY_BYTES {
            return Ok(());
        }
        let message = format!("The body is larger than {BODY_BYTES} bytes.");
        Err(Self::field("body", message, json!({"size": size, "max": BODY_BYTES})))
    }

    /// A fault that only the log may tell in full.
    pub fn internal(why: &str) -> Self {
        let id = uuid::Uuid::new_v4().to_string();
        tracing::error!(%id, "{why}");
        Self::Internal { id }
    }

    /// The code that programs tell errors apart by.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Validation { .. } => "VALIDATION_ERROR",
            Self::ServerNotFound { .. } => "SERVER_NOT_FOUND",
            Self::ToolNotFound { .. } => "TOOL_NOT_FOUND",
            Self::Timeout { .. } => "TIMEOUT_ERROR",
            Self::NotRunning { .. } => "SERVER_NOT_RUNNING",
            Self::Crashed { .. } => "SERVER_CRASHED",
            Self::Execution { .. } => "TOOL_EXECUTION_ERROR",
            Self::Internal { .. } => "INTERNAL_ERROR",
        }
    }

    /// What goes with the code; `hint` says what to do where the message cannot.
    pub fn details(&self) -> Value {
        match self {
            Self::Validation { details, .. } => Value::Object(details.clone()),
            Self::ServerNotFound { server } => {
                json!({"server": clip(server), "hint": "GET /health names the servers that there are."})
            }
            Self::ToolNotFound { tool, server } => {
                json!({"toolName": tool, "server": server, "hint": "GET /mcp/tools lists the tools that there are."})
            }
            Self::Timeout { tool, limit } => json!({"toolName": tool, "timeout": limit.as_millis() as u64}),
            Self::NotRunning { server, .. } => json!({
                "server": server,
                "status": "unavailable",
                "hint": "It starts, or is about to; call again after the seconds in Retry-After.",
            }),
            Self::Crashed { server, exit, called } => {
                let hint = match called {
                    true => {
                        "Whether the call had an effect is not known. GET /health says when the server is up again."
                    }
                    false => {
                        "It was not called. The gateway's log says why it does not run; GET /health?detail=true says whether it is up again."
                    }
                };
                let mut details = Map::from_iter([("server".to_owned(), server.clone().into())]);
                details.extend(exit.details());
                details.insert("hint".to_owned(), hint.into());
                Value::Object(details)
            }
            Self::Execution { tool, server, jsonrpc_code, .. } => {
                let mut details = json!({"toolName": tool, "server": server});
                if let Some(code) = jsonrpc_code {
                    details["jsonrpcCode"] = (*code).into();
                }
                details
            }
            Self::Internal { id } => json!({ "id": id }),
        }
    }
}

/// The beginning of a value that a caller gave.
pub(super) fn clip(value: &str) -> String {
    json::shorten(value, VALUE_CHARS)
}
