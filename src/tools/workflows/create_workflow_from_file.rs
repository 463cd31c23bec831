//! `create_workflow_from_file`: a new workflow from a JSON file on the server's machine.

use std::sync::Arc;

use serde_json::Map;

use super::change::{Target, Writing, message, read_file};
use super::{FILE_PATH, RAW};
use crate::n8n::Progress;
use crate::toolkit::{Answers, Arguments, Effect};
use crate::tools::{Call, Context, Tool};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "create_workflow_from_file",
    title: "Create a workflow from a file",
    description: "Create an n8n workflow from a JSON file. It gets a new id and is not active.",
    parameters: &[FILE_PATH, RAW],
    ignored: &[],
    answers: Answers::Envelope,
    effect: Effect::Add,
    max_result_chars: Some(120_000),
    call,
};

fn call(context: Arc<Context>, arguments: Arguments, progress: Progress) -> Call {
    Box::pin(async move {
        let document = read_file(&context, arguments.text("filePath").unwrap_or_default()).await?;
        let raw = arguments.flag("raw");
        let writing =
            Writing { context: &context, target: Target::New, document, given: Map::new(), progress: &progress, raw };
        let written = writing.send().await?;
        let (ja, en) = ("ファイルからワークフローを作成しました", "Workflow created from file");
        Ok(written.answer(&message(context.locale, ja, en, &written.left_out), true))
    })
}
