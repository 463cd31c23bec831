//! A collector of OpenTelemetry, which takes traces over OTLP/HTTP in JSON.
//!
//! A request may be sent again: its spans have the same ids. Transient refusals are retried like reads of n8n
//! (<https://opentelemetry.io/docs/specs/otlp/#failures-1>).

use std::time::Duration;

use bytes::Bytes;
use percent_encoding::percent_decode_str;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{StatusCode, Url, redirect};
use serde_json::Value;

use crate::cause::innermost;
use crate::json::shorten;
use crate::n8n::retry::{RetryDelay, backoff, retry_after};
use crate::secrets::{Redactor, Secret};

/// How long a collector may take to answer.
const TIMEOUT: Duration = Duration::from_secs(30);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Characters shown of a collector's own message.
const MESSAGE_CHARS: usize = 300;

/// The path that takes traces, if an address has none.
const PATH: &str = "/v1/traces";

/// A collector.
pub struct Collector {
    http: reqwest::Client,
    url: Url,
    headers: HeaderMap,
    secrets: Vec<Secret>,
}

/// Why a collector did not take a request.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// It cannot be reached.
    #[error(
        "The collector at {host} cannot be reached: {cause}. Check --to, and that it takes OTLP over HTTP (port 4318)."
    )]
    Unreachable {
        /// Its origin.
        host: String,
        /// What went wrong.
        cause: String,
    },
    /// It answered with an error.
    #[error("The collector at {host} answered {status}{message}. {next}")]
    Status {
        /// Its origin.
        host: String,
        /// The status.
        status: u16,
        /// Its message.
        message: String,
        /// What to do.
        next: &'static str,
    },
    /// It took a request only in part.
    #[error("The collector at {host} rejected {spans} spans{message}.")]
    Rejected {
        /// Its origin.
        host: String,
        /// How many.
        spans: u64,
        /// Its message.
        message: String,
    },
}

/// Why an attempt failed, and when there may be another one.
struct Failed {
    refusal: Refusal,
    delay: Option<RetryDelay>,
}

impl Collector {
    /// The collector at this address; `headers` are those of `OTEL_EXPORTER_OTLP_HEADERS`: `name=value,name=value`, each value
    /// percent-encoded.
    ///
    /// # Errors
    /// A sentence that says what is wrong with them.
    pub fn new(address: &str, headers: Option<&str>) -> Result<Self, String> {
        const EXAMPLE: &str = "Example: http://127.0.0.1:4318/v1/traces.";
        let mut url =
            Url::parse(address.trim()).map_err(|error| format!("--to is not a valid URL ({error}). {EXAMPLE}"))?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
            return Err(format!("--to must start with https:// or http:// and name a host. {EXAMPLE}"));
        }
        if url.path() == "/" {
            url.set_path(PATH);
        }
        let headers = headers.map_or_else(|| Ok(HeaderMap::new()), parsed_headers)?;
        let mut secrets: Vec<_> =
            headers.values().filter_map(|value| Some(Secret::new(value.to_str().ok()?))).collect();
        secrets.extend(url.password().map(Secret::new));
        let client = crate::http_client::builder(&url)
            .user_agent(concat!("n8n-lens/", env!("CARGO_PKG_VERSION")))
            .redirect(redirect::Policy::none())
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(TIMEOUT);
        let http =
            client.build().map_err(|error| format!("The HTTP client could not be started: {}.", innermost(&error)))?;
        Ok(Self { http, url, headers, secrets })
    }

    /// Sends a request, and repeats it while the error is transient.
    ///
    /// # Errors
    /// The collector did not take it, or not all of it.
    pub async fn send(&self, request: Vec<u8>) -> Result<(), Refusal> {
        let (request, mut backoff) = (Bytes::from(request), backoff());
        loop {
            let Err(Failed { refusal, delay }) = self.send_once(request.clone()).await else { return Ok(()) };
            match delay.and_then(|delay| delay.or(backoff.next())) {
                Some(delay) => tokio::time::sleep(delay).await,
                None => return Err(refusal),
            }
        }
    }

    async fn send_once(&self, request: Bytes) -> Result<(), Failed> {
        let sent = self.http.post(self.url.clone()).headers(self.headers.clone());
        let response = sent.header(CONTENT_TYPE, "application/json").body(request).send().await;
        let unreachable = |error: &reqwest::Error| Failed {
            refusal: Refusal::Unreachable { host: self.host(), cause: self.clean(&innermost(error).to_string()) },
            delay: Some(RetryDelay::Backoff),
        };
        let response = response.map_err(|error| unreachable(&error))?;
        let (status, delay) = (response.status(), retry_after(response.headers()).unwrap_or(RetryDelay::Backoff));
        let body = response.bytes().await.map_err(|error| unreachable(&error))?;
        if status.is_success() {
            return self.check(&body).map_err(|refusal| Failed { refusal, delay: None });
        }
        let message = serde_json::from_slice::<Value>(&body).unwrap_or_default();
        let message = self.message(message["message"].as_str().unwrap_or_default());
        let is_transient = matches!(status.as_u16(), 429 | 502 | 503 | 504);
        let refusal = Refusal::Status { host: self.host(), status: status.as_u16(), message, next: next(status) };
        Err(Failed { refusal, delay: is_transient.then_some(delay) })
    }

    /// Whether all was taken (`ExportTraceServiceResponse`). An answer that is not JSON is ignored.
    fn check(&self, body: &[u8]) -> Result<(), Refusal> {
        let answer: Value = serde_json::from_slice(body).unwrap_or_default();
        let partial = &answer["partialSuccess"];
        // A string, as all numbers of 64 bits; some collectors write a number.
        let spans = &partial["rejectedSpans"];
        let spans = spans.as_u64().or_else(|| spans.as_str()?.parse().ok()).unwrap_or(0);
        if spans == 0 {
            return Ok(());
        }
        let message = self.message(partial["errorMessage"].as_str().unwrap_or_default());
        Err(Refusal::Rejected { host: self.host(), spans, message })
    }

    fn host(&self) -> String {
        self.url.origin().ascii_serialization()
    }

    /// A message to follow a number.
    fn message(&self, message: &str) -> String {
        let message = self.clean(message);
        let message = message.trim_end_matches('.');
        if message.is_empty() { String::new() } else { format!(": {message}") }
    }

    /// Third-party text, shortened and without our secrets.
    fn clean(&self, text: &str) -> String {
        shorten(&Redactor::new(&self.secrets).redact(text), MESSAGE_CHARS)
    }
}

/// What to do after a status.
fn next(status: StatusCode) -> &'static str {
    match status.as_u16() {
        401 | 403 => "Check the headers in OTEL_EXPORTER_OTLP_HEADERS.",
        404 | 405 => "Check the path of --to: it is /v1/traces in most collectors.",
        429 | 502..=504 => "Try again later.",
        _ => "Its log may say why.",
    }
}

/// `name=value,name=value`, as OpenTelemetry's SDKs read it.
fn parsed_headers(text: &str) -> Result<HeaderMap, String> {
    let parsed = text.split(',').map(str::trim).filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, value) = pair.split_once('=')?;
        let value = percent_decode_str(value.trim()).decode_utf8().ok()?;
        let mut value = HeaderValue::from_str(&value).ok()?;
        value.set_sensitive(true);
        Some((HeaderName::from_bytes(name.trim().as_bytes()).ok()?, value))
    });
    parsed.collect::<Option<HeaderMap>>().ok_or_else(|| {
        "OTEL_EXPORTER_OTLP_HEADERS is malformed: write name=value,name=value, with percent-encoded values.".to_owned()
    })
}
