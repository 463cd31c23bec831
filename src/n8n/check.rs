//! How we stand with an n8n: whether it answers, what it is, and what the key may do.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use tokio::time::timeout;

use super::client::Client;
use super::error::Error;
use super::request::{Miss, Request};

/// The scopes that the tools need, in the order of their use.
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
const PAGE_BYTES: usize = 1024 * 1024;

/// The editor's page is a file.
const PATIENCE: Duration = Duration::from_secs(10);

/// What was found.
#[derive(Clone, Debug)]
pub struct Standing {
    /// n8n's version, where its editor tells.
    pub version: Option<String>,
    /// Those of [`SCOPES`] that the key lacks; `None` where n8n cannot tell (before 2.20).
    pub missing_scopes: Option<Vec<&'static str>>,
    /// Whether it knows `ignoreDataSizeLimit` (2.28 and newer); `None` where the key may not ask.
    pub knows_size_limit: Option<bool>,
}

impl Client {
    /// Whether n8n answers and takes the key; asked once.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn ping(&self) -> Result<(), Error> {
        self.list_one(&[("limit", "1")]).await
    }

    /// How we stand with n8n.
    ///
    /// # Errors
    /// [`Error`], when it does not answer or does not take the key.
    pub async fn check(&self) -> Result<Standing, Error> {
        match self.ping().await {
            // A key for workflows alone is fine, too: the scopes tell.
            Ok(()) | Err(Error::Forbidden { .. }) => {}
            Err(error) => return Err(error),
        }
        let knows_size_limit = match self.list_one(&[("limit", "1"), ("ignoreDataSizeLimit", "true")]).await {
            Ok(()) => Some(true),
            Err(Error::Refused { status: 400, .. }) => Some(false),
            Err(_) => None,
        };
        Ok(Standing {
            version: self.version().await,
            missing_scopes: self.scopes().await.map(|scopes| missing(&scopes)),
            knows_size_limit,
        })
    }

    async fn list_one(&self, query: &[(&str, &str)]) -> Result<(), Error> {
        let subject = "n8n's public API (is N8N_URL right, and the API switched on?)".to_owned();
        let request = Request::get(&["executions"], query, "execution:list", subject);
        match self.ask_once(&request).await {
            Ok(response) => self.check_type(response).await.map(drop),
            Err(Miss::Final(error)) => Err(error),
            Err(Miss::Again { error, .. }) => Err(self.failed(error, 1, Duration::ZERO)),
        }
    }

    /// The scopes of the key.
    async fn scopes(&self) -> Option<Vec<String>> {
        let request = Request::get(&["discover"], &[], "", String::new());
        let body: Value = serde_json::from_slice(&self.collect(&request, PAGE_BYTES).await.ok()?).ok()?;
        let scopes = body["data"]["scopes"].as_array()?;
        Some(scopes.iter().filter_map(|scope| scope.as_str().map(str::to_owned)).collect())
    }

    /// The version, which the editor's page holds as the release that it reports errors for. The API
    /// does not tell it. The key is not sent.
    async fn version(&self) -> Option<String> {
        const META: &str = "n8n:config:sentry\" content=\"";
        let http = self.http().await.ok()?;
        let sent = http.reads.get(self.settings().address.editor()).send();
        let response = timeout(PATIENCE, sent).await.ok()?.ok()?;
        let page = self.gather(response, PAGE_BYTES).await.ok()?;
        let page = String::from_utf8_lossy(&page);
        let (_, content) = page.split_once(META)?;
        let config: Value = serde_json::from_slice(&STANDARD.decode(content.split('"').next()?).ok()?).ok()?;
        config["release"].as_str()?.strip_prefix("n8n@").map(|version| self.clean(version))
    }
}

fn missing(scopes: &[String]) -> Vec<&'static str> {
    SCOPES.into_iter().filter(|needed| !scopes.iter().any(|scope| scope == needed)).collect()
}
