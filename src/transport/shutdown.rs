//! Shutting down: the signal that starts it, and what happens to calls in progress.

use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::error_body;
use crate::tools::Tool;

/// How long calls have to finish after SIGINT or SIGTERM.
pub(super) const CALL_GRACE: Duration = Duration::from_secs(1);

/// How long the errors of calls that are then cancelled have to reach their clients.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(250);

/// How long connections have to close.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(250);

/// The answer to a request that can safely be repeated.
const TRY_AGAIN: &str = "The server is shutting down; try again.";

/// Cancels everything still in progress when the grace period is over.
#[derive(Clone, Default)]
pub(super) struct Shutdown {
    /// Cancelled first: calls end with an error.
    pub calls: CancellationToken,
    /// Cancelled once those errors are sent: sessions and streams end.
    pub connections: CancellationToken,
}

impl Shutdown {
    /// Cancels calls, then connections.
    pub(super) async fn cancel(self) {
        self.calls.cancel();
        tokio::time::sleep(FLUSH_TIMEOUT).await;
        self.connections.cancel();
        tokio::time::sleep(CLOSE_TIMEOUT).await;
    }
}

/// What the caller of an interrupted tool should know and do.
pub(super) fn interrupted(tool: &Tool) -> String {
    if tool.reads_only() {
        return TRY_AGAIN.to_owned();
    }
    format!(
        "The server is shutting down, and {} may already have changed something in n8n. Check before you call it again.",
        tool.name
    )
}

/// Answers requests that have no response yet when connections are about to close.
pub(super) async fn answer_pending(
    State(connections): State<CancellationToken>,
    request: Request,
    next: Next,
) -> Response {
    tokio::select! {
        biased;
        () = connections.cancelled() => {
            (StatusCode::SERVICE_UNAVAILABLE, error_body(TRY_AGAIN, "UNAVAILABLE", json!({}))).into_response()
        }
        response = next.run(request) => response,
    }
}
