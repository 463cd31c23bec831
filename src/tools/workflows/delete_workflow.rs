//! `delete_workflow`: removes a workflow permanently.

use std::sync::Arc;

use serde_json::json;

use super::ID;
use crate::n8n::{self, Progress};
use crate::toolkit::answer::success;
use crate::toolkit::{Effect, Text, arguments};
use crate::tools::{Context, Error, Handler, Tool, ToolCall};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "delete_workflow",
    title: "Delete a workflow",
    description: "Delete an n8n workflow permanently. n8n 2 refuses while it is active: set_workflow_active first.",
    parameters: DeleteWorkflow::PARAMETERS,
    effect: Effect::Overwrite,
    handler: Handler::of::<DeleteWorkflow>(),
};

arguments! {
    struct DeleteWorkflow {
        id: Text = ID,
    }
}

impl ToolCall for DeleteWorkflow {
    async fn run(self, context: Arc<Context>, progress: Progress) -> Result<String, Error> {
        context.n8n()?.delete_workflow(&self.id, &progress).await.map_err(refused)?;
        let message = context.locale.choose("ワークフローを削除しました", "Workflow deleted");
        Ok(success(message, &json!({ "id": self.id })))
    }
}

/// n8n 2 does not delete a workflow that is active, or still being unpublished.
fn refused(error: n8n::Error) -> Error {
    match error {
        error @ n8n::Error::Refused { status: 409, .. } => Error::FailedPrecondition(format!(
            "{error} Deactivate it with set_workflow_active, and wait a moment until n8n has unpublished it."
        )),
        error => error.into(),
    }
}
