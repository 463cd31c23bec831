//! Asking n8n.

use std::time::{Duration, Instant};

use backon::ExponentialBackoff;
use reqwest::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue, LOCATION};
use reqwest::{Response, StatusCode, Url, redirect};
use tokio::sync::{OnceCell, Semaphore};
use tokio::time::timeout;

use super::address::{Address, Secret};
use super::error::Error;
use super::retry::{pauses, retry_after};

/// The header of n8n's API keys; it knows no other way for them.
const API_KEY: &str = "X-N8N-API-KEY";

/// What an error body is read for: its message.
const ERROR_BYTES: usize = 16 * 1024;

/// Characters of n8n's own words in an error.
const MESSAGE_CHARS: usize = 200;

/// n8n closes idle connections after 5 s.
const POOL_IDLE: Duration = Duration::from_secs(4);

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How to reach n8n.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where it is.
    pub address: Address,
    /// The API key.
    pub api_key: Secret,
    /// How long n8n may build a body before its first byte.
    pub first_byte_timeout: Duration,
    /// How long a body may pause.
    pub idle_timeout: Duration,
    /// Bodies that are read at once.
    pub max_downloads: usize,
}

/// A client for one n8n. Requests are cancelled by dropping their futures.
pub struct Client {
    pub(super) settings: Settings,
    pub(super) downloads: Semaphore,
    http: OnceCell<reqwest::Client>,
}

/// One GET.
pub(super) struct Get<'a> {
    pub segments: &'a [&'a str],
    pub query: &'a [(&'a str, &'a str)],
    /// The scope that a key needs for it.
    pub scope: &'static str,
    /// What is not there when n8n says 404.
    pub subject: String,
    /// Whether the answer is expanded as it comes.
    pub expands: bool,
}

/// Why one try gave nothing.
pub(super) enum Miss {
    /// Trying again does not help.
    Final(Error),
    /// It may help, after a pause.
    Again { error: Failing, pause: Pause },
}

/// How long to wait before the next try.
#[derive(Clone, Copy)]
pub(super) enum Pause {
    /// As we do.
    Ours,
    /// As the server asked.
    Asked(Duration),
    /// Longer than anybody waits.
    TooLong,
}

impl Pause {
    /// The pause before the next try; `None` when there is none.
    pub(super) fn or(self, ours: Option<Duration>) -> Option<Duration> {
        match self {
            Self::Ours => ours,
            Self::Asked(pause) => ours.map(|_| pause),
            Self::TooLong => None,
        }
    }
}

/// What failed, until it is known for how long.
pub(super) enum Failing {
    Status { status: u16, message: String },
    Network(String),
}

/// The tries of one request.
pub(super) struct Tries {
    begun: Instant,
    made: u32,
    pauses: ExponentialBackoff,
}

impl Tries {
    pub(super) fn new() -> Self {
        Self { begun: Instant::now(), made: 0, pauses: pauses() }
    }
}

impl Client {
    /// A client; nothing is asked yet.
    pub fn new(settings: Settings) -> Self {
        let downloads = Semaphore::new(settings.max_downloads.max(1));
        Self { settings, downloads, http: OnceCell::new() }
    }

    /// Asks until there is an answer or no hope.
    pub(super) async fn get(&self, get: &Get<'_>) -> Result<Response, Error> {
        let mut tries = Tries::new();
        loop {
            match self.try_get(get).await {
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

    fn failed(&self, failing: Failing, tries: u32, after: Duration) -> Error {
        match failing {
            Failing::Status { status, message } => Error::Failing { status, message, tries, after },
            Failing::Network(cause) => {
                Error::Unreachable { host: self.settings.address.to_string(), cause, tries, after }
            }
        }
    }

    /// Asks once.
    pub(super) async fn try_get(&self, get: &Get<'_>) -> Result<Response, Miss> {
        let url = self.settings.address.join(get.segments, get.query);
        let http = self.http().await.map_err(Miss::Final)?;
        let wait = self.settings.first_byte_timeout;
        let mut request = http.get(url);
        if get.expands && !self.settings.address.is_near() {
            request = request.header(ACCEPT_ENCODING, "gzip");
        }
        let response = match timeout(wait, request.send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(self.no_response(&error)),
            Err(_) => return Err(Miss::Final(Error::FirstByte(wait))),
        };
        match response.status() {
            status if status.is_success() => Ok(response),
            status => Err(self.refusal(status, response, get).await),
        }
    }

    fn no_response(&self, error: &reqwest::Error) -> Miss {
        Miss::Again { error: Failing::Network(cause(error)), pause: Pause::Ours }
    }

    async fn refusal(&self, status: StatusCode, response: Response, get: &Get<'_>) -> Miss {
        let headers = response.headers().clone();
        if status.is_redirection() {
            return Miss::Final(self.redirected(&headers));
        }
        let message = self.message(response).await;
        let status_code = status.as_u16();
        match status_code {
            401 => Miss::Final(Error::Unauthorized),
            403 => Miss::Final(Error::Forbidden { scope: get.scope, message }),
            404 => Miss::Final(Error::NotFound(get.subject.clone())),
            429 | 500..=599 => {
                let error = Failing::Status { status: status_code, message };
                match retry_after(&headers) {
                    Some(None) => Miss::Again { error, pause: Pause::TooLong },
                    Some(Some(pause)) => Miss::Again { error, pause: Pause::Asked(pause) },
                    None => Miss::Again { error, pause: Pause::Ours },
                }
            }
            _ => Miss::Final(Error::Refused { status: status_code, message }),
        }
    }

    fn redirected(&self, headers: &HeaderMap) -> Error {
        let target = headers.get(LOCATION).and_then(|location| location.to_str().ok());
        let target = target.and_then(|target| Url::parse(target).ok());
        Error::Redirected {
            host: self.settings.address.to_string(),
            target: target.map_or_else(|| "elsewhere".to_owned(), |url| url.origin().ascii_serialization()),
        }
    }

    /// The `message` of an error body; nothing if it has none (HTML from a proxy).
    async fn message(&self, mut response: Response) -> String {
        let mut body = Vec::new();
        while body.len() < ERROR_BYTES {
            match timeout(CONNECT_TIMEOUT, response.chunk()).await {
                Ok(Ok(Some(chunk))) => body.extend_from_slice(&chunk),
                _ => break,
            }
        }
        let body: Option<serde_json::Value> = serde_json::from_slice(&body).ok();
        let message = body.as_ref().and_then(|body| body["message"].as_str()).unwrap_or_default();
        self.clean(message)
    }

    /// Words of others, short and without the key.
    pub(super) fn clean(&self, text: &str) -> String {
        self.settings.api_key.hide_in(text).chars().take(MESSAGE_CHARS).collect()
    }

    /// The HTTP client is made at the first request: loading the system's certificates takes time
    /// that a client which only lists tools should not wait for.
    async fn http(&self) -> Result<&reqwest::Client, Error> {
        self.http.get_or_try_init(|| async { self.build() }).await
    }

    fn build(&self) -> Result<reqwest::Client, Error> {
        // Somebody else may have installed a provider; then that one is used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("n8n-lens/", env!("CARGO_PKG_VERSION")))
            .default_headers(self.headers()?)
            .redirect(same_origin())
            .connect_timeout(CONNECT_TIMEOUT)
            .pool_idle_timeout(POOL_IDLE)
            .tcp_nodelay(true);
        if self.settings.address.is_loopback() {
            builder = builder.no_proxy();
        }
        builder.build().map_err(|error| Error::Client(cause(&error)))
    }

    fn headers(&self) -> Result<HeaderMap, Error> {
        let mut headers = HeaderMap::new();
        let mut key = HeaderValue::from_str(self.settings.api_key.expose())
            .map_err(|_| Error::Client("the API key holds characters that no header can".to_owned()))?;
        key.set_sensitive(true);
        headers.insert(API_KEY, key);
        // Only a body that is expanded as it comes may be compressed.
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        Ok(headers)
    }
}

/// Follows redirects only where the key may go: reqwest does not know that `X-N8N-API-KEY` is one.
fn same_origin() -> redirect::Policy {
    redirect::Policy::custom(|attempt| {
        let first = attempt.previous().first().map(Url::origin);
        if first.as_ref() != Some(&attempt.url().origin()) {
            attempt.stop()
        } else if attempt.previous().len() > 5 {
            attempt.error("too many redirects")
        } else {
            attempt.follow()
        }
    })
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
        cause.to_string()
    }
}
