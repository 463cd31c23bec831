//! `replace_workflow_from_file`: another content for a workflow that is there.

use std::sync::Arc;

use serde_json::Map;

use super::change::{Target, Writing, message, read_file};
use super::{FILE_PATH, ID, RAW};
use crate::n8n::Progress;
use crate::tools::{Arguments, Call, Context, Effect, Tool};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "replace_workflow_from_file",
    title: "Replace a workflow from a file",
    description: "Replace all of an n8n workflow with a JSON file. The id in the file is ignored.",
    parameters: &[ID, FILE_PATH, RAW],
    effect: Effect::Overwrite,
    max_result_chars: None,
    call,
};

fn call(context: Arc<Context>, arguments: Arguments, _progress: Progress) -> Call {
    Box::pin(async move {
        let id = arguments.text("id").unwrap_or_default();
        let document = read_file(&context, arguments.text("filePath").unwrap_or_default()).await?;
        let raw = arguments.flag("raw");
        let target = Target::Existing(&id);
        let written = Writing { context: &context, target, document, given: Map::new(), raw }.send().await?;
        let (ja, en) = ("ファイルからワークフローを置き換えました", "Workflow replaced from file");
        Ok(written.answer(&message(context.locale, ja, en, &written.left_out), false))
    })
}
