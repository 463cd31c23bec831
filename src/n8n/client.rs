//! The HTTP client: sending requests to n8n, with retries.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{ACCEPT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION};
use reqwest::{Response, StatusCode, Url, redirect};
use tokio::sync::OnceCell;
use tokio::time::timeout;

use super::address::Address;
use super::allowance::Allowance;
use super::caching::Caching;
use super::error::Error;
use super::locks::Locks;
use super::request::{AttemptError, Attempts, Request, TransientError};
use super::retry::{RetryDelay, retry_after};
use super::slots::Slots;
use crate::cause::innermost;
use crate::json::shorten;
use crate::secrets::{self, Redactor, Secret};

/// The header for n8n's API key; n8n accepts it nowhere else.
const API_KEY: &str = "X-N8N-API-KEY";

/// Bytes read of an error body, to find its `message`.
const ERROR_BYTES: usize = 16 * 1024;

/// Characters shown of n8n's own message: its list of problems in a workflow can be long.
const MESSAGE_CHARS: usize = 1000;
/// What n8n says about each node that it refuses as deprecated (`deprecated-nodes-validation.service.ts`).
const DEPRECATED: &str = "this node type is deprecated";

/// Below the 5 s after which n8n closes idle connections.
const POOL_IDLE: Duration = Duration::from_secs(4);

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How to reach n8n.
#[derive(Clone, Debug)]
pub struct Settings {
    /// n8n's address.
    pub address: Address,
    /// The API key; `None` if each request brings its own.
    pub api_key: Option<Secret>,
    /// How long n8n may take to build a body before it sends the first byte.
    pub first_byte_timeout: Duration,
    /// How long a body may stall between two chunks.
    pub idle_timeout: Duration,
    /// How many executions may be read at once, and how many workflows and lists.
    pub max_downloads: usize,
}

/// A client for one n8n instance and one API key. Dropping a request's future cancels it. Clones
/// share their connections and the limits of concurrent downloads.
#[derive(Clone)]
pub struct Client {
    api_key: Option<Secret>,
    caching: Option<Caching>,
    allowance: Option<Arc<Allowance>>,
    shared: Arc<Shared>,
}

struct Shared {
    settings: Settings,
    slots: Slots,
    /// Allows one change to a workflow at a time.
    workflow_locks: Locks,
    reads: OnceCell<reqwest::Client>,
    writes: OnceCell<reqwest::Client>,
}

impl Client {
    /// Creates a client. No request is sent yet.
    pub fn new(settings: Settings) -> Self {
        let slots = Slots::new(settings.max_downloads);
        let api_key = settings.api_key.clone();
        Self {
            api_key,
            caching: None,
            allowance: None,
            shared: Arc::new(Shared {
                settings,
                slots,
                workflow_locks: Locks::default(),
                reads: OnceCell::new(),
                writes: OnceCell::new(),
            }),
        }
    }

    /// A client for the same n8n with another API key.
    pub fn with_key(&self, api_key: Secret) -> Self {
        Self { api_key: Some(api_key), ..self.clone() }
    }

    /// The same client with a cache of the bodies of executions.
    pub fn with_cache(self, caching: Caching) -> Self {
        Self { caching: Some(caching), ..self }
    }

    /// The same client for one question about many executions, which requests no more from n8n than this.
    pub fn within(&self, allowance: Arc<Allowance>) -> Self {
        Self { allowance: Some(allowance), ..self.clone() }
    }

    pub(super) fn allowance(&self) -> Option<&Allowance> {
        self.allowance.as_deref()
    }

    pub(super) fn caching(&self) -> Option<&Caching> {
        self.caching.as_ref()
    }

    /// The API key, if it is known before a request.
    pub(crate) fn api_key(&self) -> Option<&Secret> {
        self.api_key.as_ref()
    }

    /// The address of n8n's editor, for people: without credentials for a proxy in front of it.
    pub fn editor(&self) -> String {
        self.settings().address.shown_editor()
    }

    pub(super) fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    pub(super) fn workflow_locks(&self) -> &Locks {
        &self.shared.workflow_locks
    }

    pub(super) fn slots(&self) -> &Slots {
        &self.shared.slots
    }

    /// Sends a request, and retries it while the error is transient.
    pub(super) async fn send(&self, request: &Request<'_>) -> Result<Response, Error> {
        let mut attempts = Attempts::new();
        loop {
            match self.send_once(request).await {
                Ok(response) => return Ok(response),
                Err(AttemptError::Final(error)) => return Err(error),
                Err(AttemptError::Transient { error, delay }) => self.wait(&mut attempts, error, delay).await?,
            }
        }
    }

    /// Waits before the next attempt; fails if no attempt is left.
    pub(super) async fn wait(
        &self,
        attempts: &mut Attempts,
        error: TransientError,
        delay: RetryDelay,
    ) -> Result<(), Error> {
        attempts.made += 1;
        let may_wait = |delay: &Duration| self.allowance().is_none_or(|allowance| allowance.may_wait(*delay));
        match delay.or(attempts.backoff.next()).filter(may_wait) {
            Some(delay) => {
                // If the last attempt fails, the error says so.
                tracing::info!(attempts = attempts.made, "the request to n8n failed; retrying");
                tokio::time::sleep(delay).await;
                Ok(())
            }
            None => Err(self.retries_exhausted(error, attempts.made, attempts.started.elapsed())),
        }
    }

    pub(super) fn retries_exhausted(&self, error: TransientError, attempts: u32, after: Duration) -> Error {
        match error {
            TransientError::Status { status, message } => Error::Unavailable { status, message, attempts, after },
            TransientError::Network(cause) => {
                Error::Unreachable { host: self.settings().address.to_string(), cause, attempts, after }
            }
        }
    }

    /// Sends a request once.
    pub(super) async fn send_once(&self, request: &Request<'_>) -> Result<Response, AttemptError> {
        if let Some(allowance) = self.allowance() {
            allowance.admit_request().map_err(AttemptError::Final)?;
        }
        let http = if request.writes() { self.writes().await } else { self.reads().await };
        let http = http.map_err(AttemptError::Final)?;
        // Such an id names nothing in n8n.
        let url = self.settings().address.join(request.segments, request.query);
        let url = url.ok_or_else(|| AttemptError::Final(Error::NotFound(request.subject.clone())))?;
        let mut sent = http.request(request.method.clone(), url);
        sent = sent.header(API_KEY, self.key().map_err(AttemptError::Final)?);
        if request.accepts_gzip && !self.settings().address.is_near() {
            sent = sent.header(ACCEPT_ENCODING, "gzip");
        }
        if let Some(body) = &request.body {
            sent = sent.header(CONTENT_TYPE, "application/json").body(body.clone());
        }
        let wait = self.settings().first_byte_timeout;
        let response = match timeout(wait, sent.send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(no_response(&error, request)),
            Err(_) if request.writes() => return Err(AttemptError::Final(Error::unsure("no response in time"))),
            Err(_) => return Err(AttemptError::Final(Error::FirstByte(wait))),
        };
        if let Some(allowance) = self.allowance() {
            allowance.note(response.headers());
        }
        match response.status() {
            status if status.is_success() => Ok(response),
            status => Err(self.refusal(status, response, request).await),
        }
    }

    fn key(&self) -> Result<HeaderValue, Error> {
        let key = self.api_key.as_ref().ok_or(Error::NoKey)?;
        let mut key = HeaderValue::from_str(key.expose()).map_err(|_| Error::Unauthorized)?;
        key.set_sensitive(true);
        Ok(key)
    }

    async fn refusal(&self, status: StatusCode, response: Response, request: &Request<'_>) -> AttemptError {
        let headers = response.headers().clone();
        if status.is_redirection() {
            return AttemptError::Final(self.redirected(&headers));
        }
        let message = self.message(response).await;
        let status = status.as_u16();
        match status {
            401 => AttemptError::Final(Error::Unauthorized),
            403 => AttemptError::Final(Error::Forbidden { scope: request.scope, message }),
            404 => AttemptError::Final(Error::NotFound(request.subject.clone())),
            500..=599 if request.writes() => {
                AttemptError::Final(Error::Unsure { status: Some(status), cause: message })
            }
            // A request that n8n rejects for its rate limit never ran, so that a change may be repeated as well.
            429 | 500..=599 => AttemptError::Transient {
                error: TransientError::Status { status, message },
                delay: retry_after(&headers).unwrap_or(RetryDelay::Backoff),
            },
            400 if message.contains(DEPRECATED) => AttemptError::Final(Error::DeprecatedNodes { message }),
            413 => AttemptError::Final(Error::BodyTooLarge),
            _ => AttemptError::Final(Error::Refused { status, message }),
        }
    }

    fn redirected(&self, headers: &HeaderMap) -> Error {
        let target = headers.get(LOCATION).and_then(|location| location.to_str().ok());
        let host = self.settings().address.to_string();
        let own = Url::parse(&host).ok();
        // It can be relative.
        let target = own.as_ref().zip(target).and_then(|(own, target)| own.join(target).ok());
        match target {
            Some(target) if own.is_some_and(|own| own.origin() == target.origin()) => {
                Error::RedirectedChange { host, target: target.path().to_owned() }
            }
            Some(target) => Error::Redirected { host, target: target.origin().ascii_serialization() },
            None => Error::Redirected { host, target: "another address".to_owned() },
        }
    }

    /// The `message` of an error body; empty if it has none (HTML from a proxy).
    async fn message(&self, mut response: Response) -> String {
        let mut body = Vec::new();
        let reading = async {
            while body.len() < ERROR_BYTES
                && let Ok(Some(chunk)) = response.chunk().await
            {
                body.extend_from_slice(&chunk);
            }
        };
        // A partial body may still be enough.
        let _ = timeout(CONNECT_TIMEOUT, reading).await;
        let body: Option<serde_json::Value> = serde_json::from_slice(&body).ok();
        let message = body.as_ref().and_then(|body| body["message"].as_str()).unwrap_or_default();
        self.clean(message)
    }

    /// Third-party text, shortened and without our secrets.
    pub(super) fn clean(&self, text: &str) -> String {
        let address = self.settings().address.secrets();
        shorten(&Redactor::new(self.api_key.iter().chain(&address)).redact(text), MESSAGE_CHARS)
    }

    /// The HTTP client that reads; it follows redirects to the same origin. The first request creates it: loading the
    /// system's certificates takes time, and an MCP client that only lists tools should not wait for it.
    pub(super) async fn reads(&self) -> Result<&reqwest::Client, Error> {
        self.shared.reads.get_or_try_init(async || self.build(secrets::same_origin())).await
    }

    /// The HTTP client that writes. It follows no redirects: one could turn a change into a GET, or repeat it.
    pub(super) async fn writes(&self) -> Result<&reqwest::Client, Error> {
        self.shared.writes.get_or_try_init(async || self.build(redirect::Policy::none())).await
    }

    fn build(&self, redirects: redirect::Policy) -> Result<reqwest::Client, Error> {
        let client = self
            .settings()
            .address
            .client()
            .user_agent(concat!("n8n-lens/", env!("CARGO_PKG_VERSION")))
            .default_headers(headers())
            .redirect(redirects)
            .connect_timeout(CONNECT_TIMEOUT)
            .pool_idle_timeout(POOL_IDLE)
            .tcp_nodelay(true);
        client.build().map_err(|error| Error::Client(cause(&error)))
    }
}

/// Asks for uncompressed bodies by default: only streamed bodies are decompressed.
fn headers() -> HeaderMap {
    HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static("identity"))])
}

/// The error if no response came. A change may have been made unless the connection failed.
fn no_response(error: &reqwest::Error, request: &Request<'_>) -> AttemptError {
    if request.writes() && !error.is_connect() {
        return AttemptError::Final(Error::unsure(&cause(error)));
    }
    AttemptError::Transient { error: TransientError::Network(cause(error)), delay: RetryDelay::Backoff }
}

/// Whether a server that was addressed with https:// responded with something else than TLS.
fn is_not_tls(cause: &(dyn std::error::Error + 'static)) -> bool {
    let cause = cause.downcast_ref();
    matches!(cause, Some(rustls::Error::InvalidMessage(rustls::InvalidMessage::InvalidContentType)))
}

/// The innermost cause of an HTTP error: the most specific one, and it contains no URL.
pub(super) fn cause(error: &reqwest::Error) -> String {
    let cause = innermost(error);
    if is_not_tls(cause) {
        return "it does not respond with TLS: write http:// instead of https://".to_owned();
    }
    if std::ptr::addr_eq(cause, std::ptr::from_ref(error)) {
        "the request failed".to_owned()
    } else {
        // rustls appends a link.
        cause.to_string().split(": http").next().unwrap_or_default().to_owned()
    }
}
