//! The doors to the tools for programs: MCP over standard input and output, and over Streamable HTTP.
//! The only room that knows rmcp and axum.

mod coordination;
mod gateway;
mod guard;
mod health;
pub mod http;
mod listen;
mod mcp;
mod own_key;
mod progress;
mod rest;
mod stdio;
mod stop;

use std::sync::Arc;

use crate::config::Access;
use crate::tools::{Context, Toolbox};
pub use coordination::{
    CoordinationService, serve_http as serve_coordination_http, serve_stdio as serve_coordination_stdio,
};
pub use gateway::serve as serve_gateway;
use guard::Guard;
pub use listen::Door;
use listen::bind;

/// Serves MCP on standard input and output until the client closes it, or a signal stops it.
///
/// # Errors
/// What the protocol or the pipes refuse, as a sentence.
pub async fn serve_stdio(context: Context, toolbox: Toolbox) -> Result<(), String> {
    stdio::serve(mcp::Server::new(Arc::new(context), Arc::new(toolbox))).await
}

/// Serves MCP over Streamable HTTP until a signal stops it.
///
/// # Errors
/// What the network refuses, as a sentence.
pub async fn serve_http(
    context: Context,
    toolbox: Toolbox,
    address: (&str, u16),
    access: &Access,
) -> Result<(), String> {
    let door = bind(address, "/mcp").await?;
    let (context, toolbox, guard) = (Arc::new(context), Arc::new(toolbox), Guard::new(access));
    let health = health::routes(context.n8n.clone(), guard.clone());
    let rest = rest::routes(context.clone(), toolbox.clone(), guard);
    let server = mcp::Server::new(context, toolbox);
    http::serve(door, move || server.clone(), access, health.merge(rest)).await
}
