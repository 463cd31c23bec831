//! Activating and deactivating a workflow, which n8n 2 calls publishing and unpublishing.
//!
//! `POST /workflows/{id}/activate` and `/deactivate` exist in all versions; n8n 2.33 and newer call them
//! deprecated aliases of `publish` and `unpublish`. Facts: `packages/cli/src/public-api/v1/handlers/workflows`
//! of n8n.

use reqwest::Method;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::client::Client;
use super::error::Error;
use super::progress::{Progress, Stage};
use super::request::Request;
use crate::json::shorten;

/// The response is the whole workflow, with a second copy of its nodes.
const RESPONSE_BYTES: usize = 64 * 1024 * 1024;

/// n8n's own ids have 16 characters, imported ones at most 36.
const MAX_ID_BYTES: usize = 1000;

/// Characters of an id in an error.
const ID_CHARS: usize = 200;

/// A workflow after n8n activated or deactivated it.
#[derive(Debug, Deserialize)]
pub struct Activation {
    /// Its name, as n8n wrote it.
    pub name: Box<RawValue>,
    /// Whether it is active now.
    pub active: bool,
}

impl Client {
    /// Activates or deactivates a workflow. Activating an active workflow publishes the changes that were only
    /// saved; either way twice has the effect of once.
    ///
    /// # Errors
    /// [`Error::NotFound`] if there is no such workflow, [`Error::Refused`] with n8n's own words if it cannot be
    /// activated, [`Error::Forbidden`] if the key lacks the scope, and [`Error::Unsure`] if the request was sent
    /// and n8n's response is missing or unusable.
    pub async fn set_workflow_active(&self, id: &str, active: bool, progress: &Progress) -> Result<Activation, Error> {
        let subject = format!("Workflow '{}'", shorten(id, ID_CHARS));
        // `.` and `..` would name another resource, and control characters are dropped from a URL.
        if matches!(id, "" | "." | "..") || id.chars().any(char::is_control) || id.len() > MAX_ID_BYTES {
            return Err(Error::NotFound(subject));
        }
        let (action, scope) =
            if active { ("activate", "workflow:activate") } else { ("deactivate", "workflow:deactivate") };
        let segments = ["workflows", id, action];
        // No options: n8n publishes what is saved.
        let request = Request::write(Method::POST, &segments, Some("{}".into()), scope, subject);
        let _turn = self.turn(progress).await?;
        progress.set(Stage::Waiting { stored: None });
        let response = self.ask(&request).await?;
        let read = async { self.gather(self.check_type(response).await?, RESPONSE_BYTES).await };
        let body = read.await.map_err(|error| Error::unsure(&error.to_string()))?;
        serde_json::from_slice(&body).map_err(|_| Error::unsure("its response contains no workflow"))
    }
}
