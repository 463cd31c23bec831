//! `delete_workflow`: removes a workflow permanently.

use std::sync::Arc;

use serde_json::json;

use super::ID;
use crate::n8n::{self, Progress};
use crate::tools::answer::success;
use crate::tools::{Answers, Arguments, Call, Context, Effect, Error, Tool};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "delete_workflow",
    title: "Delete a workflow",
    description: "Delete an n8n workflow permanently. n8n 2 refuses while it is active: set_workflow_active first.",
    parameters: &[ID],
    ignored: &[],
    answers: Answers::Envelope,
    effect: Effect::Overwrite,
    max_result_chars: None,
    call,
};

fn call(context: Arc<Context>, arguments: Arguments, progress: Progress) -> Call {
    Box::pin(async move {
        let id = arguments.text("id").unwrap_or_default();
        context.n8n.delete_workflow(&id, &progress).await.map_err(refused)?;
        let message = context.locale.choose("ワークフローを削除しました", "Workflow deleted");
        Ok(success(message, &json!({ "id": id })))
    })
}

/// n8n 2 does not delete a workflow that is active, or still being unpublished.
fn refused(error: n8n::Error) -> Error {
    match error {
        error @ n8n::Error::Refused { status: 409, .. } => Error::NotThere(format!(
            "{error} Deactivate it with set_workflow_active, and give n8n a moment to unpublish it."
        )),
        error => error.into(),
    }
}
