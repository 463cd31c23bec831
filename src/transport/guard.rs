//! Who may ask: bearer tokens, host names, origins.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use rmcp::transport::StreamableHttpServerConfig;
use serde_json::{Value, json};

use crate::config::Access;

/// The names of this machine.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Checks requests.
#[derive(Clone)]
pub(super) struct Guard {
    access: Access,
}

impl Guard {
    pub(super) fn new(access: &Access) -> Self {
        Self { access: access.clone() }
    }

    /// The answer to a request that does not bring the token, where there is one.
    pub(super) fn refusal(&self, headers: &HeaderMap) -> Option<Response> {
        let token = self.access.auth_token.as_ref()?;
        let given = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let given = given.and_then(|value| value.split_once(' '));
        match given {
            Some((scheme, given)) if scheme.eq_ignore_ascii_case("bearer") && token.is(given.trim()) => None,
            _ => Some(unauthorized()),
        }
    }

    /// The answer to a request under a name that is not ours, or from a page elsewhere. rmcp checks its own
    /// route; this is for those beside it.
    pub(super) fn foreign(&self, headers: &HeaderMap) -> Option<Response> {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let is_ours = |authority: &str| {
            let bare = authority.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
            let host = bare.map_or(authority, |(host, _)| host);
            self.hosts().any(|ours| ours.eq_ignore_ascii_case(host) || ours.eq_ignore_ascii_case(authority))
        };
        let host = self.takes_any_host() || text(HOST).is_none_or(is_ours);
        let origin = text(ORIGIN).is_none_or(|origin| origin.split_once("://").is_some_and(|(_, at)| is_ours(at)));
        let refusal = || (StatusCode::FORBIDDEN, Json(error("FORBIDDEN", "This host or origin is not allowed.")));
        (!host || !origin).then(|| refusal().into_response())
    }

    fn hosts(&self) -> impl Iterator<Item = &str> {
        LOOPBACK.into_iter().chain(self.access.hosts.iter().map(String::as_str))
    }

    /// Nobody said under which names a machine is reached; the token is what counts there.
    fn takes_any_host(&self) -> bool {
        self.access.hosts.is_empty() && !self.access.loopback
    }

    /// What rmcp checks: a page in a browser must not reach this server under a name of its own (DNS
    /// rebinding), nor from another origin.
    pub(super) fn configure(&self, config: StreamableHttpServerConfig) -> StreamableHttpServerConfig {
        let hosts: Vec<_> = self.hosts().collect();
        let origins = hosts.iter().flat_map(|host| [format!("http://{host}:*"), format!("https://{host}:*")]);
        let config = config.with_allowed_origins(origins.collect::<Vec<_>>());
        if self.takes_any_host() {
            return config.disable_allowed_hosts();
        }
        config.with_allowed_hosts(hosts)
    }
}

/// Lets a request pass that may.
pub(super) async fn pass(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    match guard.refusal(request.headers()) {
        Some(refusal) => refusal,
        None => next.run(request).await,
    }
}

fn unauthorized() -> Response {
    let why = "Send the header Authorization: Bearer TOKEN, with the token that this server was started with.";
    (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, "Bearer")], Json(error("UNAUTHORIZED", why))).into_response()
}

fn error(code: &str, message: &str) -> Value {
    json!({"error": {"message": message, "code": code, "details": {}}})
}
