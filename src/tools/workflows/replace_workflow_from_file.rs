//! `replace_workflow_from_file`: new content for an existing workflow.

use std::sync::Arc;

use serde_json::Map;

use super::change::{Target, Writing, message, read_file};
use super::{FILE_PATH, ID, PUBLISH, Publishing, RAW, require_workflow};
use crate::n8n::Progress;
use crate::toolkit::{Effect, Flag, Locale, Text, arguments};
use crate::tools::{Context, Error, Handler, Tool, ToolCall};
use crate::workflow::outline::OutlineProjection;

/// The tool.
pub static TOOL: Tool = Tool {
    name: "replace_workflow_from_file",
    title: "Replace a workflow from a file",
    description: "Replace an n8n workflow with a JSON file, whose id is ignored. If the workflow is active, production changes \
                  at once.",
    parameters: ReplaceWorkflowFromFile::PARAMETERS,
    effect: Effect::Overwrite,
    handler: Handler::of::<ReplaceWorkflowFromFile>().with_large_answers(),
};

arguments! {
    struct ReplaceWorkflowFromFile {
        id: Text = ID,
        file_path: Text = FILE_PATH,
        publish: Option<Flag> = PUBLISH,
        raw: Option<Flag> = RAW,
    }
}

impl ToolCall for ReplaceWorkflowFromFile {
    async fn run(self, context: Arc<Context>, progress: Progress) -> Result<String, Error> {
        let Self { id, file_path, publish, raw } = self;
        let document = read_file(&context, file_path).await?;
        let raw = raw.unwrap_or(false);
        let own: Vec<_> = document.settings().map(|settings| settings.into_keys().collect()).unwrap_or_default();
        let _lock = context.n8n()?.lock_workflow(&id).await?;
        let before = require_workflow(context.n8n()?.read_workflow(&id, false, &OutlineProjection, &progress).await?)?;
        let target = Target::Existing { id: &id, publishing: Publishing { before: before.published, wanted: publish } };
        let given = Map::new();
        let writing = Writing { context: &context, target, document, given, progress: &progress, raw };
        let written = writing.send().await?;
        let (ja, en) = ("ファイルからワークフローを置き換えました", "Workflow replaced from file");
        let message = message(context.locale, ja, en, &written.left_out);
        let kept = kept(context.locale, written.settings(), &own);
        Ok(written.answer(&(message + &kept + &written.outcome.remark(context.locale)), false))
    }
}

/// Settings that the file does not have and n8n keeps nevertheless: it merges new settings into the old ones.
fn kept(locale: Locale, settings: &[String], own: &[String]) -> String {
    let kept: Vec<_> = settings.iter().filter(|setting| !own.contains(setting)).map(String::as_str).collect();
    if kept.is_empty() {
        return String::new();
    }
    let kept = kept.join(", ");
    locale.choose(format!("（n8n に残った設定: {kept}）"), format!(" (settings that n8n kept: {kept})"))
}
