//! Streamable HTTP, for both eras of the protocol: 2025-11-25 with sessions, 2026-07-28 without.

use std::sync::Arc;
use std::time::Duration;

use axum::{Router, middleware};
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use super::guard::{self, Guard};
use super::listen::{Door, listen};
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
pub async fn serve<H, F>(door: impl Into<Door>, handler: F, access: &Access, beside: Router) -> Result<(), String>
where
    H: ServerHandler,
    F: Fn() -> H + Send + Sync + 'static,
{
    let ended = CancellationToken::new();
    let router = router(handler, &Guard::new(access), ended.clone(), Sessions::Kept).merge(beside);
    until_stopped(door.into(), router, ended).await
}

/// Whether the older era of the protocol has sessions here.
pub(super) enum Sessions {
    /// It has.
    Kept,
    /// Each request stands for itself, and for its own token: a session could be joined by somebody else.
    None,
}

/// Serves routes until a signal stops it; `ended` tells those calls that go on after it.
///
/// # Errors
/// What the network refuses, as a sentence.
pub(super) async fn until_stopped(door: Door, router: Router, ended: CancellationToken) -> Result<(), String> {
    let end = async {
        ended.cancel();
        tokio::time::sleep(END).await;
    };
    listen(door, router, GRACE, end).await
}

/// The route `/mcp`.
pub(super) fn router<H, F>(handler: F, guard: &Guard, ended: CancellationToken, sessions: Sessions) -> Router
where
    H: ServerHandler,
    F: Fn() -> H + Send + Sync + 'static,
{
    let config =
        StreamableHttpServerConfig::default().with_max_request_body_bytes(REQUEST_BYTES).with_cancellation_token(ended);
    let config = config.with_legacy_session_mode(matches!(sessions, Sessions::Kept));
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(handler()), sessions, guard.configure(config));
    let checked = middleware::from_fn_with_state(guard.clone(), guard::pass);
    Router::new().route_service("/mcp", service).layer(checked)
}
