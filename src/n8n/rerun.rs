//! Runs or ends an execution, and publishes one version of a workflow.
//!
//! Facts: `packages/cli/src/public-api/v1/handlers` in n8n, seen on 1.123.81 and 2.41.1. `stop` and `publish` are missing
//! in 1.x.

use reqwest::Method;
use serde_json::json;

use super::client::Client;
use super::error::Error;
use super::locks::Lock;
use super::progress::Progress;
use super::request::Request;
use crate::json::{Projection, shorten};

/// Characters shown of an id in an error.
const ID_CHARS: usize = 200;

impl Client {
    /// Locks this n8n against proofs by other calls on this machine; waits for earlier ones.
    ///
    /// # Errors
    /// [`Error::Locked`] if another process has been proving something for more than 10 s.
    pub async fn lock_proofs(&self) -> Result<Lock, Error> {
        self.workflow_locks().lock_proofs(&self.settings().address.to_string()).await
    }

    /// Runs an execution again from the node that failed: with the draft of its workflow, or as it was. n8n responds when it
    /// has ended, with all of it.
    ///
    /// # Errors
    /// [`Error::Refused`] with status 409 if it succeeded; [`Error::Unsure`] if it may have been started.
    pub async fn retry_execution<P: Projection>(
        &self,
        id: &str,
        with_draft: bool,
        projection: &P,
        progress: &Progress,
    ) -> Result<P::View, Error> {
        let segments = ["executions", id, "retry"];
        let body = Some(json!({"loadWorkflow": with_draft}).to_string().into());
        let request = Request::write(Method::POST, &segments, body, "execution:retry", execution(id));
        self.change(&request, projection, progress).await
    }

    /// The metadata of an execution, without its data.
    ///
    /// # Errors
    /// When n8n cannot be reached or refuses the request, or its response is incomplete.
    pub async fn execution_header<P: Projection>(
        &self,
        id: &str,
        projection: &P,
        progress: &Progress,
    ) -> Result<P::View, Error> {
        let segments = ["executions", id];
        let request = Request::get(&segments, &[], "execution:read", execution(id));
        self.read_once(&request, projection, progress).await
    }

    /// Stops a running execution.
    ///
    /// # Errors
    /// [`Error::Refused`] if it is not running; [`Error::Unsure`] if it may have been stopped.
    pub async fn stop_execution<P: Projection>(
        &self,
        id: &str,
        projection: &P,
        progress: &Progress,
    ) -> Result<P::View, Error> {
        let segments = ["executions", id, "stop"];
        let request = Request::write(Method::POST, &segments, None, "execution:stop", execution(id));
        self.change(&request, projection, progress).await
    }

    /// Publishes one version of a workflow; a newer draft stays a draft.
    ///
    /// # Errors
    /// [`Error::NotFound`] if there is no such version; [`Error::Refused`] with n8n's own words if it cannot be published;
    /// [`Error::Unsure`] if it may have been.
    pub async fn publish_version<P: Projection>(
        &self,
        id: &str,
        version: &VersionToPublish<'_>,
        projection: &P,
        progress: &Progress,
    ) -> Result<P::View, Error> {
        let segments = ["workflows", id, "publish"];
        let mut body = json!({"versionId": version.version_id});
        for (member, text) in [("name", version.name), ("description", version.description)] {
            if let Some(text) = text {
                body[member] = text.into();
            }
        }
        let id_shown = shorten(id, ID_CHARS);
        let subject = format!("Version '{}' of workflow '{id_shown}'", shorten(version.version_id, ID_CHARS));
        let body = Some(body.to_string().into());
        let request = Request::write(Method::POST, &segments, body, "workflow:activate", subject).about(id);
        self.change(&request, projection, progress).await
    }
}

/// Which version of a workflow to publish.
#[derive(Clone, Copy, Debug)]
pub struct VersionToPublish<'a> {
    /// n8n's id of the version.
    pub version_id: &'a str,
    /// The name that the version gets.
    pub name: Option<&'a str>,
    /// Its description.
    pub description: Option<&'a str>,
}

fn execution(id: &str) -> String {
    format!("Execution '{}'", shorten(id, ID_CHARS))
}
