//! Checks the connection to an n8n instance: whether it responds, its version, and what the API key may do.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use tokio::time::timeout;

use super::client::Client;
use super::error::Error;
use super::progress::Progress;
use super::request::{AttemptError, Request};

/// The scopes that the tools need, in the order in which they are used.
pub const SCOPES: [&str; 9] = [
    "execution:list",
    "execution:read",
    "workflow:list",
    "workflow:read",
    "workflow:create",
    "workflow:update",
    "workflow:delete",
    "workflow:activate",
    "workflow:deactivate",
];

/// The editor's page and the list of scopes are below 100 KB.
const MAX_BODY_BYTES: usize = 1024 * 1024;

/// How long to wait for the editor's page, which is a static file.
const EDITOR_TIMEOUT: Duration = Duration::from_secs(10);

/// What a connection check found.
#[derive(Clone, Debug)]
pub struct CheckReport {
    /// n8n's version, if its editor's page contains it.
    pub version: Option<String>,
    /// The [`SCOPES`] that the key lacks; `None` if n8n does not list a key's scopes (before 2.20).
    pub missing_scopes: Option<Vec<&'static str>>,
    /// Whether n8n accepts `ignoreDataSizeLimit` (2.28 and newer); `None` if the key may not list executions.
    pub knows_size_limit: Option<bool>,
}

impl Client {
    /// Checks, in a single attempt, that n8n responds and accepts the key.
    ///
    /// # Errors
    /// When there is no key, n8n cannot be reached or refuses the request, or its response is not JSON.
    pub async fn ping(&self) -> Result<(), Error> {
        self.list_one(&[("limit", "1")]).await
    }

    /// Checks the connection, and finds out what this n8n and this key support.
    ///
    /// # Errors
    /// As [`ping`](Self::ping), except that a key may lack the scope to list executions.
    pub async fn check(&self) -> Result<CheckReport, Error> {
        match self.ping().await {
            // A key that may only access workflows is fine, too; the missing scopes are reported.
            Ok(()) | Err(Error::Forbidden { .. }) => {}
            Err(error) => return Err(error),
        }
        let knows_size_limit = match self.list_one(&[("limit", "1"), ("ignoreDataSizeLimit", "true")]).await {
            Ok(()) => Some(true),
            Err(Error::Refused { status: 400, .. }) => Some(false),
            Err(_) => None,
        };
        Ok(CheckReport {
            version: self.version().await,
            missing_scopes: self.missing_scopes(&SCOPES).await,
            knows_size_limit,
        })
    }

    async fn list_one(&self, query: &[(&str, &str)]) -> Result<(), Error> {
        let subject = "Check N8N_URL, and that the API is enabled: n8n's public API was".to_owned();
        let request = Request::get(&["executions"], query, "execution:list", subject);
        match self.send_once(&request).await {
            Ok(response) => self.check_type(response.into()).await.map(drop),
            Err(AttemptError::Final(error)) => Err(error),
            Err(AttemptError::Transient { error, .. }) => Err(self.retries_exhausted(error, 1, Duration::ZERO)),
        }
    }

    /// Which of these scopes the key lacks; `None` if n8n does not list a key's scopes (before 2.20).
    pub async fn missing_scopes(&self, needed: &[&'static str]) -> Option<Vec<&'static str>> {
        let scopes = self.scopes().await?;
        Some(needed.iter().copied().filter(|needed| !scopes.iter().any(|scope| scope == needed)).collect())
    }

    async fn scopes(&self) -> Option<Vec<String>> {
        let request = Request::get(&["discover"], &[], "", String::new());
        let body: Value =
            serde_json::from_slice(&self.collect(&request, MAX_BODY_BYTES, &Progress::default()).await.ok()?).ok()?;
        let scopes = body["data"]["scopes"].as_array()?;
        Some(scopes.iter().filter_map(|scope| scope.as_str().map(str::to_owned)).collect())
    }

    /// n8n's version. The API does not expose it, but the editor's page does, as the release that it
    /// reports to Sentry. The key is not sent.
    async fn version(&self) -> Option<String> {
        const META: &str = "n8n:config:sentry\" content=\"";
        let sent = self.reads().await.ok()?.get(self.settings().address.editor()).send();
        let response = timeout(EDITOR_TIMEOUT, sent).await.ok()?.ok()?;
        let page = self.gather(response.into(), MAX_BODY_BYTES).await.ok()?;
        let page = String::from_utf8_lossy(&page);
        let (_, content) = page.split_once(META)?;
        let config: Value = serde_json::from_slice(&STANDARD.decode(content.split('"').next()?).ok()?).ok()?;
        config["release"].as_str()?.strip_prefix("n8n@").map(|version| self.clean(version))
    }
}
