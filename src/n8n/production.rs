//! Calls to n8n's production URLs: webhooks, forms, chats. They run workflows; no API key is sent.
//!
//! Paths: `packages/cli/src/webhooks` in n8n (`/webhook`, `/form`), verified on 2.41.

use std::io;
use std::time::Duration;

use bytes::Bytes;
use futures::stream::BoxStream;
use reqwest::header::CONTENT_TYPE;
use reqwest::multipart::{Form, Part};
use reqwest::{Method, RequestBuilder};
use serde::Deserialize;
use tokio::time::{Instant, sleep};

use super::body::Body;
use super::client::{Client, cause};
use super::error::Error;
use crate::json::shorten;

/// How long n8n may take to register the production URL of a workflow that was just activated.
const REGISTRATION_TIMEOUT: Duration = Duration::from_secs(5);

/// The pause between two calls to a URL that is not registered yet.
const RETRY_PAUSE: Duration = Duration::from_millis(500);

/// Bytes read of a response.
const RESPONSE_BYTES: usize = 64 * 1024;

/// Characters shown of a path in an error.
const PATH_CHARS: usize = 200;

/// The methods that a webhook can have in n8n.
const METHODS: [Method; 6] = [Method::DELETE, Method::GET, Method::HEAD, Method::PATCH, Method::POST, Method::PUT];

/// A call to a production URL.
#[derive(Clone, Debug)]
pub struct ProductionCall {
    /// The HTTP method, such as `POST`.
    pub method: String,
    /// The path below n8n's address, such as `webhook`, `orders`.
    pub segments: Vec<String>,
    /// The names and values of the query string.
    pub query: Vec<(String, String)>,
    /// The body's media type and text.
    pub body: Option<(String, String)>,
}

/// A file that is sent to a webhook.
pub struct ProductionFile {
    /// What n8n calls it.
    pub name: String,
    /// Its length in bytes.
    pub length: u64,
    /// Its bytes.
    pub bytes: BoxStream<'static, io::Result<Bytes>>,
}

/// The response of a production URL.
#[derive(Clone, Debug)]
pub struct ProductionResponse {
    /// The HTTP status.
    pub status: u16,
    /// The beginning of the body, as text.
    pub body: String,
}

/// How n8n itself refuses a call. A workflow can answer with the same status, and then it has run.
#[derive(Deserialize)]
struct Refusal {
    code: u16,
    message: String,
}

impl ProductionResponse {
    /// Whether nothing is registered at this URL, so that no workflow ran: n8n says so in two ways
    /// (`packages/cli/src/errors/response-errors/webhook-not-found.error.ts`).
    pub fn is_unregistered(&self) -> bool {
        self.refusal().is_some_and(|message| {
            (message.starts_with("The requested webhook \"") && message.ends_with("\" is not registered."))
                || message.starts_with("This webhook is not registered for ")
        })
    }

    /// Whether nothing is registered at this URL for the method, but something for `POST`.
    fn wants_post(&self) -> bool {
        self.refusal().is_some_and(|message| message.ends_with("Did you mean to make a POST request?"))
    }

    fn refusal(&self) -> Option<String> {
        let refusal = serde_json::from_str::<Refusal>(&self.body).ok().filter(|refusal| refusal.code == 404);
        refusal.filter(|_| self.status == 404).map(|refusal| refusal.message)
    }
}

impl Client {
    /// Makes the call once, and repeats it only while n8n says that nothing is registered at the URL, and not after `end`. A
    /// workflow can return a 404 of its own; then it has run.
    ///
    /// # Errors
    /// [`Error::UnusablePath`] if the path would lead elsewhere, and [`Error::Unreachable`] if there was no connection; otherwise
    /// the workflow may have run: [`Error::UnsureRun`] if no response came, [`Error::BrokenOff`] or [`Error::Idle`] if it is
    /// incomplete.
    pub async fn call_production(&self, call: &ProductionCall, end: Instant) -> Result<ProductionResponse, Error> {
        let end = end.min(Instant::now() + REGISTRATION_TIMEOUT);
        loop {
            let response = self.call_once(call).await?;
            if !response.is_unregistered() || Instant::now() + RETRY_PAUSE > end {
                return Ok(response);
            }
            sleep(RETRY_PAUSE).await;
        }
    }

    /// Sends files to the webhook with this path, once n8n has registered it; n8n holds each of them as binary data under its
    /// name.
    ///
    /// # Errors
    /// As [`call_production`](Self::call_production).
    pub async fn send_files(&self, path: &str, files: Vec<ProductionFile>) -> Result<ProductionResponse, Error> {
        let segments = ["webhook".to_owned(), path.to_owned()];
        // With another method: a call whose body is large cannot be repeated.
        let look =
            ProductionCall { method: "GET".to_owned(), segments: segments.to_vec(), query: Vec::new(), body: None };
        let started = Instant::now();
        while !self.call_once(&look).await?.wants_post() && started.elapsed() < REGISTRATION_TIMEOUT {
            sleep(RETRY_PAUSE).await;
        }
        let mut form = Form::new();
        for file in files {
            let part = Part::stream_with_length(reqwest::Body::wrap_stream(file.bytes), file.length);
            let part = part.file_name(file.name.clone()).mime_str("application/octet-stream");
            form = form.part(file.name, part.map_err(|error| Error::unsure(&cause(&error)))?);
        }
        self.answered(self.production(Method::POST, &segments, &[]).await?.multipart(form)).await
    }

    async fn call_once(&self, call: &ProductionCall) -> Result<ProductionResponse, Error> {
        let method = Method::from_bytes(call.method.as_bytes()).ok().filter(|method| METHODS.contains(method));
        let method = method.unwrap_or(Method::POST);
        let mut request = self.production(method, &call.segments, &call.query).await?;
        if let Some((media_type, body)) = &call.body {
            request = request.header(CONTENT_TYPE, media_type).body(body.clone());
        }
        self.answered(request).await
    }

    /// A request to a production URL.
    async fn production(
        &self,
        method: Method,
        segments: &[String],
        query: &[(String, String)],
    ) -> Result<RequestBuilder, Error> {
        let url = self.settings().address.production(segments, query);
        let url = url.ok_or_else(|| Error::UnusablePath(shorten(&segments.join("/"), PATH_CHARS)))?;
        Ok(self.writes().await?.request(method, url))
    }

    async fn answered(&self, request: RequestBuilder) -> Result<ProductionResponse, Error> {
        let response = request.send().await.map_err(|error| self.not_called(&error))?;
        let status = response.status().as_u16();
        let (mut body, mut text) = (Body::from(response), Vec::new());
        while let Some(chunk) = self.chunk(&mut body, text.len() as u64).await? {
            text.extend_from_slice(&chunk);
            if text.len() > RESPONSE_BYTES {
                break;
            }
        }
        Ok(ProductionResponse { status, body: self.clean(&String::from_utf8_lossy(&text)) })
    }

    fn not_called(&self, error: &reqwest::Error) -> Error {
        if error.is_connect() {
            let host = self.settings().address.to_string();
            return Error::Unreachable { host, cause: cause(error), attempts: 1, after: Duration::ZERO };
        }
        Error::UnsureRun { cause: cause(error) }
    }
}
