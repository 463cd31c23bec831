//! Calls at an n8n's production addresses: webhooks, forms, chats. They run workflows, and know no API key.
//!
//! Addresses: `packages/cli/src/webhooks` of n8n (`/webhook`, `/form`), seen on 2.41.

use std::time::Duration;

use reqwest::Method;
use reqwest::header::CONTENT_TYPE;
use tokio::time::{Instant, sleep};

use super::client::{Client, cause};
use super::error::Error;

/// n8n may be seconds late to answer at the address of a workflow that was just activated.
const REGISTERED: Duration = Duration::from_secs(5);

/// Between two tries of an address that is not there yet.
const PAUSE: Duration = Duration::from_millis(500);

/// What is read of an answer: its beginning.
const ANSWER_BYTES: usize = 64 * 1024;

/// One call.
#[derive(Clone, Debug)]
pub struct ProductionCall {
    /// Such as `POST`.
    pub method: String,
    /// Below n8n's address, such as `webhook`, `orders`.
    pub segments: Vec<String>,
    /// Names and values behind the `?`.
    pub query: Vec<(String, String)>,
    /// A media type and a body.
    pub body: Option<(String, String)>,
}

/// What came back.
#[derive(Clone, Debug)]
pub struct ProductionAnswer {
    /// The HTTP status.
    pub status: u16,
    /// The beginning of the body.
    pub body: String,
}

impl ProductionAnswer {
    /// Whether n8n has nothing at this address, and has run nothing.
    pub fn is_unregistered(&self) -> bool {
        self.status == 404 && self.body.contains("not registered")
    }
}

impl Client {
    /// Makes the call once; again only while n8n says that nothing is registered at the address. A workflow
    /// may answer 404 itself, and has run then.
    ///
    /// # Errors
    /// [`Error::Unreachable`] where no connection was made, [`Error::Unsure`] where the call may have run.
    pub async fn call_production(&self, call: &ProductionCall) -> Result<ProductionAnswer, Error> {
        let begun = Instant::now();
        loop {
            let answer = self.call_once(call).await?;
            if !answer.is_unregistered() || begun.elapsed() > REGISTERED {
                return Ok(answer);
            }
            sleep(PAUSE).await;
        }
    }

    async fn call_once(&self, call: &ProductionCall) -> Result<ProductionAnswer, Error> {
        let method = Method::from_bytes(call.method.as_bytes()).unwrap_or(Method::POST);
        let mut url = self.settings().address.editor();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(&call.segments);
        }
        if !call.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&call.query);
        }
        let mut request = self.http().await?.writes.request(method, url);
        if let Some((media_type, body)) = &call.body {
            request = request.header(CONTENT_TYPE, media_type).body(body.clone());
        }
        let mut response = request.send().await.map_err(|error| self.not_called(&error))?;
        let status = response.status().as_u16();
        let mut body = Vec::new();
        while let Some(chunk) = self.chunk(&mut response, body.len() as u64, None).await? {
            body.extend_from_slice(&chunk);
            if body.len() > ANSWER_BYTES {
                break;
            }
        }
        Ok(ProductionAnswer { status, body: self.clean(&String::from_utf8_lossy(&body)) })
    }

    fn not_called(&self, error: &reqwest::Error) -> Error {
        if error.is_connect() {
            let host = self.settings().address.to_string();
            return Error::Unreachable { host, cause: cause(error), tries: 1, after: Duration::ZERO };
        }
        Error::unsure(&cause(error))
    }
}
