//! Access control: bearer tokens, host names, origins.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, ORIGIN, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rmcp::transport::StreamableHttpServerConfig;
use serde_json::{Value, json};

use super::error_body;
use crate::config::Access;

/// The names of this machine.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Checks whether requests are allowed.
#[derive(Clone)]
pub(super) struct Guard {
    access: Access,
}

impl Guard {
    pub(super) fn new(access: &Access) -> Self {
        Self { access: access.clone() }
    }

    /// Why a request is not allowed, if so; for routes other than rmcp's.
    pub(super) fn refusal(&self, headers: &HeaderMap) -> Option<Refusal> {
        self.unauthorized(headers).or_else(|| self.foreign(headers))
    }

    /// Refuses a request without the token, if one is required.
    fn unauthorized(&self, headers: &HeaderMap) -> Option<Refusal> {
        let token = self.access.auth_token.as_ref()?;
        let given = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let given = given.and_then(|value| value.split_once(' '));
        match given {
            Some((scheme, given)) if scheme.eq_ignore_ascii_case("bearer") && token.is(given.trim()) => None,
            _ => Some(Refusal::Unauthorized),
        }
    }

    /// Whether a request carries the token, if one is required: as a bearer token, or as the password of any user, which
    /// is how a browser asks a person for it.
    pub(super) fn knows_token(&self, headers: &HeaderMap) -> bool {
        self.unauthorized(headers).is_none() || self.is_password(headers)
    }

    fn is_password(&self, headers: &HeaderMap) -> bool {
        let given = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()?.split_once(' '));
        let Some((_, pair)) = given.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("basic")) else { return false };
        let pair = STANDARD.decode(pair.trim()).ok().and_then(|pair| String::from_utf8(pair).ok());
        let password = pair.as_deref().and_then(|pair| pair.split_once(':')).map(|(_, password)| password);
        self.access.auth_token.as_ref().zip(password).is_some_and(|(token, password)| token.is(password))
    }

    /// Refuses a request to a host name that is not ours, or from another origin.
    pub(super) fn foreign(&self, headers: &HeaderMap) -> Option<Refusal> {
        let is_ours = |authority: &str| {
            let bare = authority.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
            let host = bare.map_or(authority, |(host, _)| host);
            self.hosts().any(|ours| ours.eq_ignore_ascii_case(host) || ours.eq_ignore_ascii_case(authority))
        };
        // Every header counts, not only the first, and a value that is not text is never ours.
        let all = |name, is_ours: &dyn Fn(&str) -> bool| {
            headers.get_all(name).iter().all(|value| value.to_str().is_ok_and(is_ours))
        };
        let host = self.accepts_any_host() || all(HOST, &is_ours);
        let is_reached_at = |at: &str| headers.contains_key(HOST) && all(HOST, &|host| host.eq_ignore_ascii_case(at));
        let is_own = |at: &str| is_ours(at) || (self.accepts_any_host() && is_reached_at(at));
        let origin = all(ORIGIN, &|origin| origin.split_once("://").is_some_and(|(_, at)| is_own(at)));
        (!host || !origin).then_some(Refusal::Foreign)
    }

    fn hosts(&self) -> impl Iterator<Item = &str> {
        LOOPBACK.into_iter().chain(self.access.hosts.iter().map(String::as_str))
    }

    /// Off loopback, without configured names, the machine's names are unknown: only the token counts. The origin of our own
    /// page is then the name under which its browser reached us. Another page can make its own name resolve to us (DNS
    /// rebinding), but a browser sends the token only to the name that it was entered for.
    fn accepts_any_host(&self) -> bool {
        self.access.hosts.is_empty() && !self.access.loopback
    }

    /// Adds the checks that rmcp makes: a web page must not reach this server through a host name of its own (DNS
    /// rebinding), nor from another origin.
    pub(super) fn configure(&self, config: StreamableHttpServerConfig) -> StreamableHttpServerConfig {
        // `foreign` compares the origin with the name under which the server was reached; rmcp cannot.
        if self.accepts_any_host() {
            return config.disable_allowed_hosts().disable_allowed_origins();
        }
        let hosts: Vec<_> = self.hosts().collect();
        let origins = hosts.iter().flat_map(|host| [format!("http://{host}:*"), format!("https://{host}:*")]);
        config.with_allowed_origins(origins.collect::<Vec<_>>()).with_allowed_hosts(hosts)
    }
}

/// Refuses requests that are not allowed, before their body is read.
pub(super) async fn authorize(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    match guard.refusal(request.headers()) {
        Some(refusal) => refusal.into_response(),
        None => next.run(request).await,
    }
}

/// Whether the Content-Type of a request is JSON. A web page can send other types to any server without a preflight
/// request.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let media_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = media_type.split_once(';').map_or(media_type, |(essence, _)| essence);
    essence.trim().eq_ignore_ascii_case("application/json")
}

/// Why a request is not allowed.
#[derive(Clone, Copy)]
pub(super) enum Refusal {
    Unauthorized,
    Foreign,
}

impl Refusal {
    /// The status, and what the client can do about it.
    pub(super) fn reason(self) -> (StatusCode, &'static str) {
        match self {
            Self::Unauthorized => (
                StatusCode::UNAUTHORIZED,
                "Send the header Authorization: Bearer TOKEN, with the token that this server was started with.",
            ),
            Self::Foreign => (StatusCode::FORBIDDEN, "This host or origin is not allowed."),
        }
    }

    /// The response, with a body in the shape that its route uses.
    pub(super) fn respond(self, body: Json<Value>) -> Response {
        let response = (self.reason().0, body);
        match self {
            Self::Unauthorized => ([(WWW_AUTHENTICATE, "Bearer")], response).into_response(),
            Self::Foreign => response.into_response(),
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let code = match self {
            Self::Unauthorized => "UNAUTHORIZED",
            Self::Foreign => "FORBIDDEN",
        };
        self.respond(error_body(self.reason().1, code, json!({})))
    }
}
