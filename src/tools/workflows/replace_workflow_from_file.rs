//! `replace_workflow_from_file`: another content for a workflow that is there.

use std::sync::Arc;

use serde_json::Map;

use super::change::{Target, Writing, message, read_file};
use super::{FILE_PATH, ID, RAW};
use crate::n8n::Progress;
use crate::toolkit::{Answers, Arguments, Effect, Locale};
use crate::tools::{Call, Context, Tool};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "replace_workflow_from_file",
    title: "Replace a workflow from a file",
    description: "Replace all of an n8n workflow with a JSON file. The id in the file is ignored.",
    parameters: &[ID, FILE_PATH, RAW],
    ignored: &[],
    answers: Answers::Envelope,
    effect: Effect::Overwrite,
    max_result_chars: Some(120_000),
    call,
};

fn call(context: Arc<Context>, arguments: Arguments, progress: Progress) -> Call {
    Box::pin(async move {
        let id = arguments.text("id").unwrap_or_default();
        let document = read_file(&context, arguments.text("filePath").unwrap_or_default()).await?;
        let raw = arguments.flag("raw");
        let own: Vec<_> = document.settings().map(|settings| settings.into_keys().collect()).unwrap_or_default();
        let _turn = context.n8n.lock_workflow(&id).await;
        let (target, given) = (Target::Existing(&id), Map::new());
        let writing = Writing { context: &context, target, document, given, progress: &progress, raw };
        let written = writing.send().await?;
        let (ja, en) = ("ファイルからワークフローを置き換えました", "Workflow replaced from file");
        let message = message(context.locale, ja, en, &written.left_out);
        Ok(written.answer(&(message + &kept(context.locale, written.settings(), &own)), false))
    })
}

/// Settings that the file does not have, and n8n keeps all the same: it lays new ones over the old.
fn kept(locale: Locale, settings: &[String], own: &[String]) -> String {
    let kept: Vec<_> = settings.iter().filter(|setting| !own.contains(setting)).map(String::as_str).collect();
    if kept.is_empty() {
        return String::new();
    }
    let kept = kept.join(", ");
    locale.choose(format!("（n8n に残った設定: {kept}）"), format!(" (settings that n8n kept: {kept})"))
}
