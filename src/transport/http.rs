//! Streamable HTTP, for both eras of the protocol: 2025-11-25 with sessions, 2026-07-28 without.

use std::sync::Arc;
use std::time::Duration;

use axum::serve::ListenerExt;
use axum::{Router, middleware};
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::guard::{self, Guard};
use super::stop;
use crate::config::Access;

/// The largest request: n8n takes workflows of 16 MiB.
pub(super) const REQUEST_BYTES: usize = 20 * 1024 * 1024;

/// How long calls may go on after a signal.
const GRACE: Duration = Duration::from_millis(1000);

/// How long their ends may take.
const END: Duration = Duration::from_millis(500);

/// Serves MCP handlers at `/mcp`, and what `beside` it has, until a signal stops it: then calls have
/// a second to end.
///
/// `handler` makes one for each session or request. It is open to any handler, so that the protocol
/// can be tested on the very same stack.
///
/// # Errors
/// What the network refuses, as a sentence.
pub async fn serve<H, F>(listener: TcpListener, handler: F, access: &Access, beside: Router) -> Result<(), String>
where
    H: ServerHandler,
    F: Fn() -> H + Send + Sync + 'static,
{
    let (closing, ended) = (CancellationToken::new(), CancellationToken::new());
    let router = router(handler, &Guard::new(access), ended.clone()).merge(beside);
    // An answer is a small packet, which must not wait for the next one (Nagle).
    let listener = listener.tap_io(|connection| {
        let _ = connection.set_nodelay(true);
    });
    let serving = axum::serve(listener, router).with_graceful_shutdown(closing.clone().cancelled_owned());
    let stopping = async {
        stop::signalled().await;
        closing.cancel();
        tokio::time::sleep(GRACE).await;
        ended.cancel();
        tokio::time::sleep(END).await;
    };
    tokio::select! {
        done = serving => done.map_err(|error| error.to_string()),
        () = stopping => Ok(()),
    }
}

fn router<H, F>(handler: F, guard: &Guard, ended: CancellationToken) -> Router
where
    H: ServerHandler,
    F: Fn() -> H + Send + Sync + 'static,
{
    let config =
        StreamableHttpServerConfig::default().with_max_request_body_bytes(REQUEST_BYTES).with_cancellation_token(ended);
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(handler()), sessions, guard.configure(config));
    let checked = middleware::from_fn_with_state(guard.clone(), guard::pass);
    Router::new().route_service("/mcp", service).layer(checked)
}
