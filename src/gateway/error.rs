//! Why a call has no result: the errors of the gateway, with their codes and details.

use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::exit::Exit;
use super::limits::BODY_BYTES;
use crate::json;

/// The longest value that an error quotes, in characters.
const VALUE_CHARS: usize = 200;

/// Why a request was refused or a call failed. Messages never contain a path, a socket or a stack trace.
#[derive(Clone, Debug, thiserror::Error, PartialEq)]
pub enum Error {
    /// The request is invalid.
    #[error("{message}")]
    Validation {
        /// What is wrong, and what to do about it.
        message: String,
        /// `field`, and some of `value`, `size`, `max` and `pattern`.
        details: Map<String, Value>,
    },
    /// No server of this name is configured.
    #[error("MCP Server '{server}' not found")]
    ServerNotFound {
        /// The requested name.
        server: String,
    },
    /// The server has no tool of this name.
    #[error("Tool '{tool}' not found")]
    ToolNotFound {
        /// The requested name.
        tool: String,
        /// The server.
        server: String,
    },
    /// The call reached its timeout, and was cancelled.
    #[error("Tool execution timed out after {}ms", .limit.as_millis())]
    Timeout {
        /// The tool.
        tool: String,
        /// The timeout.
        limit: Duration,
    },
    /// The server is starting, or restarts soon.
    #[error("MCP Server '{server}' is not running")]
    NotRunning {
        /// The server.
        server: String,
        /// When to retry.
        retry_after: Duration,
    },
    /// The server was stopped, and the call cancelled.
    #[error("MCP Server '{server}' is not running: {reason}")]
    Stopped {
        /// The server.
        server: String,
        /// Why it was stopped.
        reason: StopReason,
    },
    /// The server exited during the call, or fails to start.
    #[error("MCP Server '{server}' has crashed")]
    Crashed {
        /// The server.
        server: String,
        /// How it exited.
        exit: Exit,
        /// Whether it exited after the call had been sent.
        during_call: bool,
    },
    /// The tool's own error.
    #[error("{message}")]
    Execution {
        /// The tool.
        tool: String,
        /// Its server.
        server: String,
        /// The tool's own message.
        message: String,
        /// The code, if it is a JSON-RPC error.
        jsonrpc_code: Option<i32>,
    },
    /// Anything else; the cause is logged with an id.
    #[error("Internal error. Search the gateway's log for the id in the details.")]
    Internal {
        /// The id in the log.
        id: String,
    },
}

/// Why a server was stopped while a call was in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The gateway received SIGINT or SIGTERM, and the call did not finish in time.
    Shutdown,
    /// The server was removed from the configuration or changed in it, and the call did not finish in time.
    Reconfigured,
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Shutdown => "the gateway is shutting down",
            Self::Reconfigured => "it was removed from the configuration, or changed, during the call",
        })
    }
}

impl Error {
    /// A field that is invalid.
    pub(super) fn field(field: &str, message: impl Into<String>, details: Value) -> Self {
        let mut all = Map::new();
        all.insert("field".to_owned(), field.into());
        if let Value::Object(details) = details {
            all.extend(details);
        }
        Self::Validation { message: message.into(), details: all }
    }

    /// The Content-Type is not JSON.
    pub fn content_type() -> Self {
        let message = "Send JSON, with the header Content-Type: application/json.";
        Self::field("content-type", message, json!({"pattern": "application/json"}))
    }

    /// The path of the request is not UTF-8.
    pub fn path() -> Self {
        Self::field("path", "The path is not UTF-8.", Value::Null)
    }

    /// The body did not arrive completely.
    pub fn incomplete_body() -> Self {
        Self::field("body", "The body broke off, or took too long to arrive.", Value::Null)
    }

    /// The body is larger than [`BODY_BYTES`]; `size` is what its head announces, in bytes.
    pub fn large_body(size: Option<usize>) -> Self {
        let message = format!("The body is larger than {BODY_BYTES} bytes.");
        let mut details = json!({"max": BODY_BYTES});
        if let Some(size) = size {
            details["size"] = size.into();
        }
        Self::field("body", message, details)
    }

    /// An error whose cause is for the log only.
    pub fn internal(cause: &str) -> Self {
        let id = uuid::Uuid::new_v4().to_string();
        tracing::error!(%id, "{cause}");
        Self::Internal { id }
    }

    /// The error code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Validation { .. } => "VALIDATION_ERROR",
            Self::ServerNotFound { .. } => "SERVER_NOT_FOUND",
            Self::ToolNotFound { .. } => "TOOL_NOT_FOUND",
            Self::Timeout { .. } => "TIMEOUT_ERROR",
            Self::NotRunning { .. } | Self::Stopped { .. } => "SERVER_NOT_RUNNING",
            Self::Crashed { .. } => "SERVER_CRASHED",
            Self::Execution { .. } => "TOOL_EXECUTION_ERROR",
            Self::Internal { .. } => "INTERNAL_ERROR",
        }
    }

    /// The details for the code. `hint` says what to do if the message does not.
    pub fn details(&self) -> Value {
        match self {
            Self::Validation { details, .. } => Value::Object(details.clone()),
            Self::ServerNotFound { server } => {
                json!({"server": clip(server), "hint": "GET /health lists the servers."})
            }
            Self::ToolNotFound { tool, server } => {
                json!({"toolName": tool, "server": server, "hint": "GET /mcp/tools lists the tools."})
            }
            Self::Timeout { tool, limit } => json!({"toolName": tool, "timeout": limit.as_millis() as u64}),
            Self::NotRunning { server, .. } => json!({
                "server": server,
                "status": "unavailable",
                "hint": "It is starting or about to start. Retry after the number of seconds in Retry-After.",
            }),
            Self::Stopped { server, .. } => json!({
                "server": server,
                "status": "unavailable",
                "hint": "The call was cancelled, but may have had an effect. Check before you retry.",
            }),
            Self::Crashed { server, exit, during_call } => {
                let hint = match during_call {
                    true => {
                        "The call may have had an effect. Check before you retry; GET /health says when the server is available again."
                    }
                    false => {
                        "The call was not sent. The gateway's log says why the server crashed; GET /health?detail=true says whether it is available again."
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

/// The first characters of a value that the caller sent.
pub(super) fn clip(value: &str) -> String {
    json::shorten(value, VALUE_CHARS)
}
