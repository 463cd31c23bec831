//! How programs reach the tools: MCP over standard input and output, MCP over Streamable HTTP, and REST. The only
//! room that uses axum, and with the gateway the only one that runs rmcp.

mod api_key;
mod app;
mod body;
mod call;
mod connections;
#[cfg(feature = "coordination")]
mod coordination;
#[cfg(feature = "gateway")]
mod gateway;
mod guard;
mod health;
pub mod http;
mod listener;
mod mcp;
mod progress;
mod rest;
mod sessions;
mod shutdown;
mod stdio;
mod toolbox;
mod view;

use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::Json;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::config::Access;
use crate::tools::{Context, Toolbox};
use body::BodyLimits;
#[cfg(feature = "coordination")]
pub use coordination::{
    CoordinationService, serve_http as serve_coordination_http, serve_stdio as serve_coordination_stdio,
};
#[cfg(feature = "gateway")]
pub use gateway::serve as serve_gateway;
use guard::Guard;
pub use listener::Listener;
use mcp::Handler;
use sessions::Sessions;
use shutdown::Shutdown;
use toolbox::ToolboxService;
pub use view::{PageSettings, View};

/// Serves MCP on standard input and output until the client closes it or a signal arrives.
///
/// # Errors
/// The handshake fails or a pipe breaks. The message is a sentence.
pub async fn serve_stdio(context: Context, toolbox: Toolbox) -> Result<(), String> {
    let server = ToolboxService::new(context, toolbox, &PageSettings::default(), CancellationToken::new());
    stdio::serve(Handler::new(server), http::REQUEST_BYTES).await
}

/// Serves MCP over Streamable HTTP at `/mcp`, the tools over REST, the page at `/view`, and `GET /health`, until a signal
/// arrives.
///
/// # Errors
/// The address cannot be bound, or accepting connections fails. The message is a sentence.
pub async fn serve_http(
    context: Context,
    toolbox: Toolbox,
    address: (&str, u16),
    access: &Access,
    page: &PageSettings,
) -> Result<(), String> {
    let listener = Listener::bind(address, "/mcp").await?;
    listener.warn_if_open(access);
    let (guard, shutdown) = (Guard::new(access), Shutdown::default());
    let server = ToolboxService::new(context, toolbox, page, shutdown.calls.clone());
    let (context, toolbox) = (server.context.clone(), server.toolbox.clone());
    let health = health::routes(context.api.clone(), guard.clone());
    let limits = BodyLimits::new(http::REQUEST_BYTES);
    let rest = rest::routes(context.clone(), toolbox.clone(), guard.clone(), limits.clone(), shutdown.calls.clone());
    let page = view::Page::of_server(context.clone(), &toolbox, guard.clone(), page, shutdown.calls.clone());
    let server = Handler::new(server);
    let mcp =
        http::router(move || server.clone(), &guard, &shutdown, &limits, Some(Sessions::new(access.max_sessions)));
    http::serve_router(listener, mcp.merge(health).merge(rest).merge(view::routes(page)), shutdown).await;
    Ok(())
}

/// After a panic elsewhere, the value is still valid: each change is a single step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The body of an error outside MCP; `details` is an object.
fn error_body(message: &str, code: &str, details: Value) -> Json<Value> {
    Json(json!({"error": {"message": message, "code": code, "details": details}}))
}
