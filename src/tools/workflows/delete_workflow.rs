//! `delete_workflow`.

use std::sync::Arc;

use serde_json::json;

use super::ID;
use crate::n8n::Progress;
use crate::toolkit::answer::success;
use crate::toolkit::{Answers, Arguments, Effect};
use crate::tools::{Call, Context, Tool};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "delete_workflow",
    title: "Delete a workflow",
    description: "Delete an n8n workflow for good. n8n 2 refuses while it is active.",
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
        context.n8n.delete_workflow(&id, &progress).await?;
        let message = context.locale.choose("ワークフローを削除しました", "Workflow deleted");
        Ok(success(message, &json!({ "id": id })))
    })
}
