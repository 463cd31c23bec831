//! Streamable HTTP, in both versions of the protocol: 2025-11-25 with sessions, 2026-07-28 without.

use std::sync::Arc;

use axum::{Router, middleware};
use rmcp::ServerHandler;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};

use super::body::{self, BodyLimits};
use super::guard::{self, Guard};
use super::listener::Listener;
use super::sessions::{self, Sessions};
use super::shutdown::{self, Shutdown};
use crate::config::Access;

/// The largest request, bytes: n8n accepts workflows of 16 MiB.
pub(super) const REQUEST_BYTES: usize = 20 * 1024 * 1024;

/// Serves MCP at `/mcp` until a signal arrives; calls in progress then have a second to finish.
///
/// `handler` creates one handler per session or request. It can be any handler, so that conformance tests run on
/// the stack that is shipped.
///
pub async fn serve<H, F>(listener: impl Into<Listener>, handler: F, access: &Access)
where
    H: ServerHandler,
    F: Fn() -> H + Send + Sync + 'static,
{
    let shutdown = Shutdown::default();
    let limits = BodyLimits::new(REQUEST_BYTES);
    let sessions = Sessions::new(access.max_sessions);
    let router = router(handler, &Guard::new(access), &shutdown, &limits, Some(sessions));
    serve_router(listener.into(), router, shutdown).await
}

/// Serves routes until a signal arrives; requests still in progress a second later are cancelled through `shutdown`.
pub(super) async fn serve_router(listener: Listener, router: Router, shutdown: Shutdown) {
    listener.serve(router, shutdown::CALL_GRACE, shutdown.cancel()).await
}

/// The route `/mcp`. Without `sessions`, clients of 2025-11-25 get none either: if each request is authorized by its
/// own token, another client could join a session.
pub(super) fn router<H, F>(
    handler: F,
    guard: &Guard,
    shutdown: &Shutdown,
    limits: &BodyLimits,
    sessions: Option<Sessions>,
) -> Router
where
    H: ServerHandler,
    F: Fn() -> H + Send + Sync + 'static,
{
    let connections = shutdown.connections.clone();
    let config = StreamableHttpServerConfig::default()
        .with_max_request_body_bytes(REQUEST_BYTES)
        .with_cancellation_token(connections.clone())
        .with_legacy_session_mode(sessions.is_some());
    let manager = sessions.as_ref().map_or_else(Arc::default, Sessions::manager);
    let service = StreamableHttpService::new(move || Ok(handler()), manager, guard.configure(config));
    let mut router = Router::new().route_service("/mcp", service);
    if let Some(sessions) = sessions {
        router = router.layer(middleware::from_fn_with_state(sessions, sessions::track));
    }
    router
        .layer(middleware::from_fn_with_state(limits.clone(), body::read_first))
        .layer(middleware::from_fn_with_state(connections, shutdown::answer_pending))
        .layer(middleware::from_fn_with_state(guard.clone(), guard::authorize))
}
