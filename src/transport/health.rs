//! `GET /health`: whether the server is up; with `?deep=true`, whether n8n is, too.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};

use super::api_key;
use super::guard::Guard;
use crate::n8n::{Client, Error};

/// How long n8n has to answer: health checks give up early.
const N8N_TIMEOUT: Duration = Duration::from_secs(3);

struct Health {
    /// `None` if executions come from n8n's store only.
    n8n: Option<Client>,
    guard: Guard,
    started_at: Instant,
}

#[derive(Deserialize)]
struct HealthQuery {
    deep: Option<String>,
}

impl HealthQuery {
    fn is_deep(&self) -> bool {
        self.deep.as_deref().is_some_and(|deep| !matches!(deep, "false" | "0"))
    }
}

/// The route.
pub(super) fn routes(n8n: Option<Client>, guard: Guard) -> Router {
    let health = Arc::new(Health { n8n, guard, started_at: Instant::now() });
    Router::new().route("/health", get(answer)).with_state(health)
}

/// Anyone may check that the server is up; the deep check uses n8n, and needs the same access as the tools.
async fn answer(State(health): State<Arc<Health>>, Query(query): Query<HealthQuery>, headers: HeaderMap) -> Response {
    if !query.is_deep() {
        return Json(health.status("ok")).into_response();
    }
    if let Some(refusal) = health.guard.refusal(&headers) {
        return refusal.into_response();
    }
    let Some(n8n) = &health.n8n else {
        let mut status = health.status("ok");
        status["n8n"] =
            json!({"status": "unknown", "message": "Executions come from n8n's store; N8N_URL is not set."});
        return Json(status).into_response();
    };
    let n8n = match api_key::from_headers(&headers) {
        Ok(key) => key.map_or_else(|| n8n.clone(), |key| n8n.with_key(key)),
        Err(error) => return (StatusCode::BAD_REQUEST, Json(json!({ "error": error }))).into_response(),
    };
    let (code, n8n) = match tokio::time::timeout(N8N_TIMEOUT, n8n.ping()).await {
        // A key for workflows only cannot list executions, but n8n is up.
        Ok(Ok(()) | Err(Error::Forbidden { .. })) => (StatusCode::OK, json!({"status": "ok"})),
        // Each request carries its own key, and this one has none.
        Ok(Err(error @ Error::NoKey)) => (StatusCode::OK, json!({"status": "unknown", "message": error.to_string()})),
        Ok(Err(error)) => (StatusCode::SERVICE_UNAVAILABLE, json!({"status": "error", "message": error.to_string()})),
        Err(_) => {
            let message = format!("n8n did not answer within {} s.", N8N_TIMEOUT.as_secs());
            (StatusCode::SERVICE_UNAVAILABLE, json!({"status": "error", "message": message}))
        }
    };
    let mut status = health.status(if code == StatusCode::OK { "ok" } else { "degraded" });
    status["n8n"] = n8n;
    (code, Json(status)).into_response()
}

impl Health {
    /// `uptime` is in seconds.
    fn status(&self, status: &str) -> Value {
        json!({"status": status, "version": env!("CARGO_PKG_VERSION"), "uptime": self.started_at.elapsed().as_secs()})
    }
}
