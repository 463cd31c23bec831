//! `publish_workflow_version`: publishes one saved version of a workflow, such as the one that was proven.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tokio::time::{Instant, sleep};

use crate::n8n::{self, Progress, VersionToPublish};
use crate::toolkit::answer::success;
use crate::toolkit::{Effect, Text, arguments};
use crate::tools::workflows::WorkflowLocation;
use crate::tools::{Context, Error, Handler, Tool, ToolCall};
use crate::workflow::outline::OutlineProjection;

/// The tool.
pub static TOOL: Tool = Tool {
    name: "publish_workflow_version",
    title: "Publish a version",
    description: "Publish one saved version of an n8n workflow, such as one that prove_fix proved. A newer draft stays a draft.",
    parameters: PublishWorkflowVersion::PARAMETERS,
    effect: Effect::Overwrite,
    handler: Handler::of::<PublishWorkflowVersion>(),
};

arguments! {
    struct PublishWorkflowVersion {
        workflow_id: Text = "The workflow's id.",
        version_id: Text = "The version.",
        name: Option<Text> = "A name for it.",
        description: Option<Text> = "What it changes.",
    }
}

/// How long n8n may take until the version is active.
const PUBLISHED_WITHIN: Duration = Duration::from_secs(10);

/// The pause between two polls.
const PAUSE: Duration = Duration::from_millis(250);

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PublicationAnswer<'a> {
    workflow_id: &'a str,
    version_id: &'a str,
    active: bool,
    /// The saved version, if it is a different one.
    #[serde(skip_serializing_if = "Option::is_none")]
    draft: Option<&'a str>,
}

impl ToolCall for PublishWorkflowVersion {
    async fn run(self, context: Arc<Context>, progress: Progress) -> Result<String, Error> {
        let n8n = context.n8n()?;
        let _lock = n8n.lock_workflow(&self.workflow_id).await?;
        let version = VersionToPublish {
            version_id: &self.version_id,
            name: self.name.as_deref(),
            description: self.description.as_deref(),
        };
        let published = n8n.publish_version(&self.workflow_id, &version, &OutlineProjection, &progress).await;
        published
            .map_err(|error| self.refused(error))?
            .map_err(|error| n8n::Error::Unsure { status: None, cause: error.to_string() })?;
        let draft = self.active_version(&context, &progress).await?;
        let message = context.locale.choose("バージョンを公開しました", "Version published");
        let (workflow_id, version_id) = (&*self.workflow_id, &*self.version_id);
        Ok(success(message, &PublicationAnswer { workflow_id, version_id, active: true, draft: draft.as_deref() }))
    }
}

impl PublishWorkflowVersion {
    /// Waits until the version is the active one; returns the saved version if it is a different one.
    async fn active_version(&self, context: &Context, progress: &Progress) -> Result<Option<String>, Error> {
        let begun = Instant::now();
        loop {
            let now = WorkflowLocation::N8n(self.workflow_id.clone()).load(context, progress).await?;
            if now.active_version().as_deref() == Some(&self.version_id) {
                return Ok(now.version().filter(|version| *version != self.version_id));
            }
            if begun.elapsed() > PUBLISHED_WITHIN {
                return Err(Error::FailedPrecondition(format!(
                    "n8n accepted the request, but version '{}' is not the active one after {} s. Look at the workflow in n8n's editor.",
                    self.version_id,
                    PUBLISHED_WITHIN.as_secs()
                )));
            }
            sleep(PAUSE).await;
        }
    }

    /// What to do about a refusal.
    fn refused(&self, error: n8n::Error) -> Error {
        match error {
            n8n::Error::NotFound(_) | n8n::Error::Refused { status: 405, .. } => Error::FailedPrecondition(format!(
                "Version '{}' of workflow '{}' was not found, so nothing was published. n8n Community keeps versions for 24 hours: save \
                 the change again with edit_workflow, and prove that version. n8n 1.x has no versions to publish.",
                self.version_id, self.workflow_id
            )),
            error @ n8n::Error::Refused { .. } => Error::FailedPrecondition(format!(
                "The version was not published: {error} Fix what n8n reports, such as a missing trigger or incomplete parameters of a \
                 node; then call publish_workflow_version again."
            )),
            error => error.into(),
        }
    }
}
