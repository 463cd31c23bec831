//! The doors to the tools for programs: MCP over standard input and output. The only room that knows
//! rmcp.

mod mcp;
mod progress;

use std::sync::Arc;

use rmcp::ServiceExt;

use crate::tools::Context;

/// Serves MCP on standard input and output until the client closes it.
///
/// # Errors
/// What the protocol or the pipes refuse, as a sentence.
pub async fn serve_stdio(context: Arc<Context>) -> Result<(), String> {
    let server = mcp::Server::new(context);
    let running = server.serve(rmcp::transport::stdio_pipes()).await.map_err(|error| error.to_string())?;
    running.waiting().await.map(drop).map_err(|error| error.to_string())
}
