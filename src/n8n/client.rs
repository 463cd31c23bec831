//! Asking n8n.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{ACCEPT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION};
use reqwest::{Response, StatusCode, Url, redirect};
use tokio::sync::{OnceCell, Semaphore};
use tokio::time::timeout;

use super::address::Address;
use super::error::Error;
use super::locks::Locks;
use super::request::{Failing, Miss, Pause, Request, Tries};
use super::retry::retry_after;
use crate::json::shorten;
use crate::secrets::{self, Redactor, Secret};

/// The header of n8n's API keys; it knows no other way for them.
const API_KEY: &str = "X-N8N-API-KEY";

/// What an error body is read for: its message.
const ERROR_BYTES: usize = 16 * 1024;

/// Characters of n8n's own words in an error: its list of what is wrong with a workflow may be long.
const MESSAGE_CHARS: usize = 1000;

/// n8n closes idle connections after 5 s.
const POOL_IDLE: Duration = Duration::from_secs(4);

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How to reach n8n.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where it is.
    pub address: Address,
    /// The API key; `None` where each request brings its own.
    pub api_key: Option<Secret>,
    /// How long n8n may build a body before its first byte.
    pub first_byte_timeout: Duration,
    /// How long a body may pause.
    pub idle_timeout: Duration,
    /// Bodies that are read at once.
    pub max_downloads: usize,
}

/// A client for one n8n, and one API key. Requests are cancelled by dropping their futures. Clones
/// share connections and the limit of bodies that are read at once.
#[derive(Clone)]
pub struct Client {
    api_key: Option<Secret>,
    shared: Arc<Shared>,
}

struct Shared {
    settings: Settings,
    downloads: Semaphore,
    /// One change of a workflow at a time.
    workflow_locks: Locks,
    http: OnceCell<Http>,
}

/// The HTTP clients.
pub(super) struct Http {
    pub reads: reqwest::Client,
    /// A change is never sent on: a redirect may turn it into a mere look, or make it twice.
    pub writes: reqwest::Client,
}

impl Client {
    /// A client; nothing is asked yet.
    pub fn new(settings: Settings) -> Self {
        let downloads = Semaphore::new(settings.max_downloads.max(1));
        let api_key = settings.api_key.clone();
        Self {
            api_key,
            shared: Arc::new(Shared { settings, downloads, workflow_locks: Locks::default(), http: OnceCell::new() }),
        }
    }

    /// The same n8n for somebody with another key.
    pub fn with_key(&self, api_key: Secret) -> Self {
        Self { api_key: Some(api_key), shared: self.shared.clone() }
    }

    pub(super) fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    pub(super) fn workflow_locks(&self) -> &Locks {
        &self.shared.workflow_locks
    }

    pub(super) fn downloads(&self) -> &Semaphore {
        &self.shared.downloads
    }

    /// Asks until there is an answer or no hope.
    pub(super) async fn ask(&self, request: &Request<'_>) -> Result<Response, Error> {
        let mut tries = Tries::new();
        loop {
            match self.ask_once(request).await {
                Ok(response) => return Ok(response),
                Err(Miss::Final(error)) => return Err(error),
                Err(Miss::Again { error, pause }) => self.pause(&mut tries, error, pause).await?,
            }
        }
    }

    /// Waits before the next try, or says how often and for how long it was tried.
    pub(super) async fn pause(&self, tries: &mut Tries, failing: Failing, pause: Pause) -> Result<(), Error> {
        tries.made += 1;
        match pause.or(tries.pauses.next()) {
            Some(pause) => {
                tracing::warn!(tries = tries.made, "n8n did not answer well; trying again");
                tokio::time::sleep(pause).await;
                Ok(())
            }
            None => Err(self.failed(failing, tries.made, tries.begun.elapsed())),
        }
    }

    pub(super) fn failed(&self, failing: Failing, tries: u32, after: Duration) -> Error {
        match failing {
            Failing::Status { status, message } => Error::Failing { status, message, tries, after },
            Failing::Network(cause) => {
                Error::Unreachable { host: self.settings().address.to_string(), cause, tries, after }
            }
        }
    }

    /// Asks once.
    pub(super) async fn ask_once(&self, request: &Request<'_>) -> Result<Response, Miss> {
        let http = self.http().await.map_err(Miss::Final)?;
        let http = if request.writes() { &http.writes } else { &http.reads };
        let url = self.settings().address.join(request.segments, request.query);
        let mut sent = http.request(request.method.clone(), url);
        sent = sent.header(API_KEY, self.key().map_err(Miss::Final)?);
        if request.expands && !self.settings().address.is_near() {
            sent = sent.header(ACCEPT_ENCODING, "gzip");
        }
        if let Some(body) = &request.body {
            sent = sent.header(CONTENT_TYPE, "application/json").body(body.clone());
        }
        let wait = self.settings().first_byte_timeout;
        let response = match timeout(wait, sent.send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(no_response(&error, request)),
            Err(_) if request.writes() => return Err(Miss::Final(Error::unsure("no answer in time"))),
            Err(_) => return Err(Miss::Final(Error::FirstByte(wait))),
        };
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

    async fn refusal(&self, status: StatusCode, response: Response, request: &Request<'_>) -> Miss {
        let headers = response.headers().clone();
        if status.is_redirection() {
            return Miss::Final(self.redirected(&headers));
        }
        let message = self.message(response).await;
        let status = status.as_u16();
        match status {
            401 => Miss::Final(Error::Unauthorized),
            403 => Miss::Final(Error::Forbidden { scope: request.scope, message }),
            404 => Miss::Final(Error::NotFound(request.subject.clone())),
            500..=599 if request.writes() => Miss::Final(Error::Unsure { status: Some(status), cause: message }),
            429 | 500..=599 if !request.writes() => {
                let pause = match retry_after(&headers) {
                    Some(None) => Pause::TooLong,
                    Some(Some(pause)) => Pause::Asked(pause),
                    None => Pause::Ours,
                };
                Miss::Again { error: Failing::Status { status, message }, pause }
            }
            413 => Miss::Final(Error::TooMuch),
            _ => Miss::Final(Error::Refused { status, message }),
        }
    }

    fn redirected(&self, headers: &HeaderMap) -> Error {
        let target = headers.get(LOCATION).and_then(|location| location.to_str().ok());
        let target = target.and_then(|target| Url::parse(target).ok());
        Error::Redirected {
            host: self.settings().address.to_string(),
            target: target.map_or_else(|| "elsewhere".to_owned(), |url| url.origin().ascii_serialization()),
        }
    }

    /// The `message` of an error body; nothing if it has none (HTML from a proxy).
    async fn message(&self, mut response: Response) -> String {
        let mut body = Vec::new();
        let reading = async {
            while body.len() < ERROR_BYTES
                && let Ok(Some(chunk)) = response.chunk().await
            {
                body.extend_from_slice(&chunk);
            }
        };
        // What came in time is worth a look.
        let _ = timeout(CONNECT_TIMEOUT, reading).await;
        let body: Option<serde_json::Value> = serde_json::from_slice(&body).ok();
        let message = body.as_ref().and_then(|body| body["message"].as_str()).unwrap_or_default();
        self.clean(message)
    }

    /// Words of others, short and without our secrets.
    pub(super) fn clean(&self, text: &str) -> String {
        let address = self.settings().address.secrets();
        shorten(&Redactor::new(self.api_key.iter().chain(&address)).redact(text), MESSAGE_CHARS)
    }

    /// The HTTP client is made at the first request: loading the system's certificates takes time
    /// that a client which only lists tools should not wait for.
    pub(super) async fn http(&self) -> Result<&Http, Error> {
        let build = || async {
            Ok(Http { reads: self.build(secrets::same_origin())?, writes: self.build(redirect::Policy::none())? })
        };
        self.shared.http.get_or_try_init(build).await
    }

    fn build(&self, redirects: redirect::Policy) -> Result<reqwest::Client, Error> {
        // Somebody else may have installed a provider; then that one is used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("n8n-lens/", env!("CARGO_PKG_VERSION")))
            .default_headers(headers())
            .redirect(redirects)
            .connect_timeout(CONNECT_TIMEOUT)
            .pool_idle_timeout(POOL_IDLE)
            .tcp_nodelay(true);
        if self.settings().address.is_loopback() {
            builder = builder.no_proxy();
        }
        builder.build().map_err(|error| Error::Client(cause(&error)))
    }
}

/// Only a body that is expanded as it comes may be compressed.
fn headers() -> HeaderMap {
    HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static("identity"))])
}

/// No answer came. A change may have been made unless there was no connection at all.
fn no_response(error: &reqwest::Error, request: &Request<'_>) -> Miss {
    if request.writes() && !error.is_connect() {
        return Miss::Final(Error::unsure(&cause(error)));
    }
    Miss::Again { error: Failing::Network(cause(error)), pause: Pause::Ours }
}

/// The innermost reason of an HTTP error, which says most and holds no URL.
pub(super) fn cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    if std::ptr::addr_eq(cause, std::ptr::from_ref(error)) {
        "the request failed".to_owned()
    } else {
        // rustls adds where to read more.
        cause.to_string().split(": http").next().unwrap_or_default().to_owned()
    }
}
