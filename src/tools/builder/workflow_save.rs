//! `workflow_save`: writes a workflow to a file.

use std::sync::Arc;

use serde_json::json;

use super::WORKFLOW_ID;
use super::location::WorkflowLocation;
use super::refusal::refused;
use crate::n8n::Progress;
use crate::toolkit::{Arguments, Effect, Kind, Parameter};
use crate::tools::{Call, Context, Error, Handler, Tool};
use crate::workflow::{Document, WriteMode};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "workflow_save",
    title: "Save a workflow to a file",
    description: "Write a workflow to a JSON file: the workflow named by workflowId, or a complete workflowData.",
    parameters: &[
        WORKFLOW_ID,
        Parameter::optional(
            "workflowData",
            Kind::Object,
            "A complete workflow (default: the one named by workflowId).",
        ),
        Parameter::required("filePath", Kind::Text, "The file, which is replaced if it exists."),
    ],
    effect: Effect::Overwrite,
    handler: Handler::new(call).answering(&[("success", "boolean"), ("filePath", "string")]),
};

fn call(context: Arc<Context>, mut arguments: Arguments, progress: Progress) -> Call {
    Box::pin(async move {
        let location = WorkflowLocation::of(&arguments.text("workflowId").unwrap_or_default());
        let (document, mode) = match arguments.take(&["workflowData"]).shift_remove("workflowData") {
            Some(serde_json::Value::Object(members)) => {
                let document = Document::of(&members).and_then(|document| document.check().map(|()| document));
                let document = complete(document.map_err(|error| refused(&error))?)?;
                (document, WriteMode::SaveGiven { source: location.source(&context, &progress).await })
            }
            _ => (location.load(&context, &progress).await?, WriteMode::Save),
        };
        let (files, path) = (context.files.clone(), arguments.text("filePath").unwrap_or_default());
        let to = path.clone();
        let file = context.write_file(&path, move || Ok(files.write(&to, document, &mode)?)).await?;
        Ok(json!({"success": true, "filePath": file}).to_string())
    })
}

/// A workflow from a clipped answer holds marks in the place of values.
fn complete(document: Document) -> Result<Document, Error> {
    let text = document.text();
    if text.split("…[+").skip(1).any(is_mark)
        || ["\"…{}\"", "\"…[]\"", "\"…\":\"+"].iter().any(|mark| text.contains(mark))
    {
        return Err(Error::Argument(
            "Argument 'workflowData' is from a clipped answer and not complete. Leave it out to save the workflow named by workflowId."
                .to_owned(),
        ));
    }
    Ok(document)
}

/// Whether the text begins with `123 chars]` or `123 items]`.
fn is_mark(rest: &str) -> bool {
    let unit = rest.trim_start_matches(|char: char| char.is_ascii_digit());
    unit.len() < rest.len() && (unit.starts_with(" chars]") || unit.starts_with(" items]"))
}
