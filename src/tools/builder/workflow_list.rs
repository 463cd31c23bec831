//! `workflow_list`: the workflow files in a folder.

use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;

use super::answer::plain;
use crate::blocking::blocking;
use crate::budget::{Entry, Page};
use crate::json::Excerpt;
use crate::n8n::Progress;
use crate::toolkit::answer::{DEFAULT_TOKENS, is_zero, json, paged};
use crate::toolkit::{Effect, IntegerOr, Text, arguments};
use crate::tools::{Context, Error, Handler, Tool, ToolCall};
use crate::workflow::folder::{self, WorkflowFile};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "workflow_list",
    title: "List workflow files",
    description: "List the workflow files in a folder; list_workflows lists those in n8n.",
    parameters: WorkflowList::PARAMETERS,
    effect: Effect::Read,
    handler: Handler::of::<WorkflowList>().answering(&[("workflows", "array"), ("total", "integer")]),
};

arguments! {
    struct WorkflowList {
        directory_path: Option<Text> = "The folder (default: the one for workflow files).",
        limit: IntegerOr<50, 1, 1000> = "At most this many.",
        offset: IntegerOr<0, 0, 1_000_000> = "Skip this many.",
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    workflows: Box<RawValue>,
    total: usize,
    /// The offset of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<usize>,
    /// JSON files that are not workflows.
    #[serde(skip_serializing_if = "is_zero")]
    skipped: usize,
}

impl ToolCall for WorkflowList {
    async fn run(self, context: Arc<Context>, _progress: Progress) -> Result<String, Error> {
        let files = context.files.clone();
        let Self { directory_path, limit, offset } = self;
        blocking(move || {
            let directory = files.open_folder(directory_path.as_deref())?;
            let folder = directory.path();
            let (found, skipped) = folder::list(&directory).map_err(|error| {
                Error::FailedPrecondition(format!("The folder {} cannot be read: {error}.", folder.display()))
            })?;
            let shown = found.iter().skip(offset as usize).take(limit as usize);
            let entries: Vec<_> = shown.map(|file| entry(file, folder)).collect();
            let write = |page: &Page| {
                let workflows = json(&format!("[{}]", page.text));
                let after = offset as usize + page.shown;
                let next_offset = (after < found.len()).then_some(after);
                plain(&Answer { workflows, total: found.len(), next_offset, skipped })
            };
            Ok(paged(&entries, DEFAULT_TOKENS, write).text)
        })
        .await
    }
}

fn entry(file: &WorkflowFile, folder: &std::path::Path) -> Entry {
    let text = |text: &str| Excerpt::from(text);
    let path = folder.join(&file.file);
    let modified = file.modified.and_then(|modified| Timestamp::try_from(modified).ok());
    let value = Excerpt::object(vec![
        ("id", file.id.as_deref().map_or_else(Excerpt::null, text)),
        ("name", text(&file.name)),
        ("path", text(&path.to_string_lossy())),
        ("lastModified", modified.map_or_else(Excerpt::null, |at| text(&at.to_string()))),
    ]);
    Entry { value, tag: None }
}
