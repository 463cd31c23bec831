//! `workflow_save`: writes a workflow to a file.

use std::sync::Arc;

use serde_json::json;

use super::WORKFLOW_ID;
use crate::json::is_clipped;
use crate::n8n::Progress;
use crate::toolkit::{Effect, Object, Text, arguments};
use crate::tools::workflows::{WorkflowLocation, refused};
use crate::tools::{Context, Error, Handler, Tool, ToolCall};
use crate::workflow::{Document, WriteMode};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "workflow_save",
    title: "Save a workflow to a file",
    description: "Write a workflow to a JSON file: the workflow named by workflowId, or a complete workflowData.",
    parameters: WorkflowSave::PARAMETERS,
    effect: Effect::Overwrite,
    handler: Handler::of::<WorkflowSave>().answering(&[("success", "boolean"), ("filePath", "string")]),
};

arguments! {
    struct WorkflowSave {
        workflow_id: Text = WORKFLOW_ID,
        workflow_data: Option<Object> = "A complete workflow (default: the one named by workflowId).",
        file_path: Text = "The file, which is replaced if it exists.",
    }
}

impl ToolCall for WorkflowSave {
    async fn run(self, context: Arc<Context>, progress: Progress) -> Result<String, Error> {
        let location = WorkflowLocation::of(&self.workflow_id);
        let (document, mode) = match self.workflow_data {
            Some(members) => {
                let document = Document::of(&members).and_then(|document| document.check().map(|()| document));
                let document = complete(document.map_err(|error| refused(&error))?)?;
                (document, WriteMode::SaveGiven { source: location.source(&context, &progress).await })
            }
            None => (location.load(&context, &progress).await?, WriteMode::Save),
        };
        let (files, to) = (context.files.clone(), self.file_path.clone());
        let file = context.write_file(&self.file_path, move || Ok(files.write(&to, document, &mode)?)).await?;
        Ok(json!({"success": true, "filePath": file}).to_string())
    }
}

/// Refuses a workflow from a clipped answer, which holds marks in place of values.
fn complete(document: Document) -> Result<Document, Error> {
    if is_clipped(&document.text()) {
        return Err(Error::argument(
            "workflowData",
            "is from a clipped answer and not complete. Leave it out to save the workflow named by workflowId.",
        ));
    }
    Ok(document)
}
