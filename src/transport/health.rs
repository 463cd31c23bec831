//! `GET /health`: whether the server is up; with `?deep=true` whether n8n answers it, too.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};

use super::guard::Guard;
use super::own_key::own_key;
use crate::n8n::{Client, Error};

/// Whoever asks for health wants to know now.
const PATIENCE: Duration = Duration::from_secs(3);

struct Health {
    n8n: Client,
    guard: Guard,
    begun: Instant,
}

#[derive(Deserialize)]
struct Asked {
    deep: Option<String>,
}

impl Asked {
    fn is_deep(&self) -> bool {
        self.deep.as_deref().is_some_and(|deep| !matches!(deep, "false" | "0"))
    }
}

/// The route.
pub(super) fn routes(n8n: Client, guard: Guard) -> Router {
    let health = Arc::new(Health { n8n, guard, begun: Instant::now() });
    Router::new().route("/health", get(answer)).with_state(health)
}

/// Anybody may know that the server is up; the deep answer uses n8n, as the tools do.
async fn answer(State(health): State<Arc<Health>>, Query(asked): Query<Asked>, headers: HeaderMap) -> Response {
    if !asked.is_deep() {
        return Json(health.status("ok")).into_response();
    }
    if let Some(refused) = health.guard.refusal(&headers) {
        return refused.into_response();
    }
    let n8n = match own_key(&headers) {
        Ok(key) => key.map_or_else(|| health.n8n.clone(), |key| health.n8n.with_key(key)),
        Err(refusal) => return (StatusCode::BAD_REQUEST, Json(json!({ "error": refusal }))).into_response(),
    };
    let (code, n8n) = match tokio::time::timeout(PATIENCE, n8n.ping()).await {
        // A key for workflows alone may not list executions, and n8n is fine all the same.
        Ok(Ok(()) | Err(Error::Forbidden { .. })) => (StatusCode::OK, json!({"status": "ok"})),
        // Each request brings its own key, and this one did not.
        Ok(Err(error @ Error::NoKey)) => (StatusCode::OK, json!({"status": "unknown", "message": error.to_string()})),
        Ok(Err(error)) => (StatusCode::SERVICE_UNAVAILABLE, json!({"status": "error", "message": error.to_string()})),
        Err(_) => {
            let message = format!("n8n did not answer within {} s.", PATIENCE.as_secs());
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
        json!({"status": status, "version": env!("CARGO_PKG_VERSION"), "uptime": self.begun.elapsed().as_secs()})
    }
}
