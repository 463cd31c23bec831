//! `set_workflow_active`: publishes or unpublishes a workflow.

use std::sync::Arc;

use serde::Serialize;

use super::{ID, Publishing, require_workflow};
use crate::n8n::{self, Progress};
use crate::toolkit::answer::success;
use crate::toolkit::{Effect, Flag, Locale, Text, arguments};
use crate::tools::{Context, Error, Handler, Tool, ToolCall};
use crate::workflow::outline::OutlineProjection;

/// The tool.
pub static TOOL: Tool = Tool {
    name: "set_workflow_active",
    title: "Activate or deactivate a workflow",
    description: "Publish or unpublish an n8n workflow: its triggers, schedules and webhooks start or stop at once.",
    parameters: SetWorkflowActive::PARAMETERS,
    effect: Effect::Overwrite,
    handler: Handler::of::<SetWorkflowActive>(),
};

arguments! {
    struct SetWorkflowActive {
        id: Text = ID,
        active: Flag = "true publishes what is saved; false unpublishes.",
        publish: Option<Flag> = "Publish the draft of an active one.",
    }
}

#[derive(Serialize)]
struct ActivatedWorkflow<'a> {
    id: &'a str,
    name: &'a str,
    active: bool,
}

impl ToolCall for SetWorkflowActive {
    async fn run(self, context: Arc<Context>, progress: Progress) -> Result<String, Error> {
        let Self { id, active, publish } = self;
        // An update in progress would re-publish the workflow that it read as active.
        let n8n = context.n8n()?;
        let _lock = n8n.lock_workflow(&id).await?;
        if active {
            let now = require_workflow(n8n.read_workflow(&id, false, &OutlineProjection, &progress).await?)?;
            if (Publishing { before: now.published, wanted: publish }).keeps_draft() {
                return Ok(success(
                    draft_kept(context.locale),
                    &ActivatedWorkflow { id: &id, name: &now.name, active },
                ));
            }
        }
        let done = n8n.set_workflow_active(&id, active, &OutlineProjection, &progress).await;
        let unsure = |cause: String| n8n::Error::Unsure { status: None, cause };
        let done = done.map_err(|error| refused(error, active))?.map_err(|error| unsure(error.to_string()))?;
        let done = done.ok_or_else(|| unsure("its response contains no workflow".to_owned()))?;
        if done.active != active {
            return Err(Error::FailedPrecondition(format!(
                "n8n accepted the request, but the workflow is {} active. Look at it in n8n's editor.",
                if done.active { "still" } else { "not" }
            )));
        }
        let message = if active {
            context.locale.choose("ワークフローを有効化しました", "Workflow activated")
        } else {
            context.locale.choose("ワークフローを無効化しました", "Workflow deactivated")
        };
        Ok(success(message, &ActivatedWorkflow { id: &id, name: &done.name, active }))
    }
}

/// The message about an active workflow whose draft is not published.
fn draft_kept(locale: Locale) -> &'static str {
    locale.choose(
        "ワークフローはすでに有効です（未公開の下書きは公開していません。publish: true で公開します）",
        "The workflow is active already (its unpublished draft was not published; publish: true publishes it)",
    )
}

/// n8n's own words, and what to do about them.
fn refused(error: n8n::Error, active: bool) -> Error {
    match error {
        error @ n8n::Error::Refused { .. } if active => Error::FailedPrecondition(format!(
            "The workflow was not activated: {error} Fix what n8n reports, such as a missing trigger, incomplete parameters or \
             credentials of a node, or a webhook path that another active workflow uses; then call set_workflow_active again."
        )),
        error => error.into(),
    }
}
