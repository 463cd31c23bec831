//! Calls to n8n's production URLs: webhooks, forms, chats. They run workflows; no API key is sent.
//!
//! Paths: `packages/cli/src/webhooks` in n8n (`/webhook`, `/form`), verified on 2.41.

use std::time::Duration;

use reqwest::Method;
use reqwest::header::CONTENT_TYPE;
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

/// The response of a production URL.
#[derive(Clone, Debug)]
pub struct ProductionResponse {
    /// The HTTP status.
    pub status: u16,
    /// The beginning of the body, as text.
    pub body: String,
}

impl ProductionResponse {
    /// Whether nothing is registered at this URL, so that no workflow ran.
    pub fn is_unregistered(&self) -> bool {
        self.status == 404 && self.body.contains("not registered")
    }
}

impl Client {
    /// Makes the call once, and repeats it only while n8n says that nothing is registered at the URL. A
    /// workflow can return a 404 of its own; then it has run.
    ///
    /// # Errors
    /// [`Error::UnusablePath`] if the path would lead elsewhere, and [`Error::Unreachable`] if there was no connection; otherwise the workflow may have run: [`Error::Unsure`] if
    /// no response came, [`Error::BrokenOff`] or [`Error::Idle`] if it is incomplete.
    pub async fn call_production(&self, call: &ProductionCall) -> Result<ProductionResponse, Error> {
        let started = Instant::now();
        loop {
            let response = self.call_once(call).await?;
            if !response.is_unregistered() || started.elapsed() > REGISTRATION_TIMEOUT {
                return Ok(response);
            }
            sleep(RETRY_PAUSE).await;
        }
    }

    async fn call_once(&self, call: &ProductionCall) -> Result<ProductionResponse, Error> {
        let method = Method::from_bytes(call.method.as_bytes()).ok().filter(|method| METHODS.contains(method));
        let method = method.unwrap_or(Method::POST);
        let url = self.settings().address.production(&call.segments, &call.query);
        let url = url.ok_or_else(|| Error::UnusablePath(shorten(&call.segments.join("/"), PATH_CHARS)))?;
        let mut request = self.http().await?.writes.request(method, url);
        if let Some((media_type, body)) = &call.body {
            request = request.header(CONTENT_TYPE, media_type).body(body.clone());
        }
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
        Error::unsure(&cause(error))
    }
}
