//! `create_workflow_from_file`: a new workflow from a JSON file on the server's machine.

use std::sync::Arc;

use serde_json::Map;

use super::change::{Target, Writing, message, read_file};
use super::{FILE_PATH, RAW};
use crate::n8n::Progress;
use crate::toolkit::{Effect, Flag, Text, arguments};
use crate::tools::{Context, Error, Handler, Tool, ToolCall};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "create_workflow_from_file",
    title: "Create a workflow from a file",
    description: "Create an n8n workflow from a JSON file. It gets a new id and starts inactive.",
    parameters: CreateWorkflowFromFile::PARAMETERS,
    effect: Effect::Add,
    handler: Handler::of::<CreateWorkflowFromFile>().with_large_answers(),
};

arguments! {
    struct CreateWorkflowFromFile {
        file_path: Text = FILE_PATH,
        raw: Option<Flag> = RAW,
    }
}

impl ToolCall for CreateWorkflowFromFile {
    async fn run(self, context: Arc<Context>, progress: Progress) -> Result<String, Error> {
        let document = read_file(&context, self.file_path).await?;
        let raw = self.raw.unwrap_or(false);
        let writing =
            Writing { context: &context, target: Target::New, document, given: Map::new(), progress: &progress, raw };
        let written = writing.send().await?;
        let (ja, en) = ("ファイルからワークフローを作成しました", "Workflow created from file");
        Ok(written.answer(&message(context.locale, ja, en, &written.left_out), true))
    }
}
