//! `workflow_save`: a workflow into a file.

use std::sync::Arc;

use serde_json::json;

use super::WORKFLOW_ID;
use super::place::{Place, refused};
use crate::blocking::blocking;
use crate::n8n::Progress;
use crate::toolkit::{Answers, Arguments, Effect, Kind, Parameter};
use crate::tools::{Call, Context, Error, Tool};
use crate::workflow::Document;

/// The tool.
pub static TOOL: Tool = Tool {
    name: "workflow_save",
    title: "Save a workflow to a file",
    description: "Write a workflow to a JSON file: the one of workflowId as it is, or workflowData, which must be whole.",
    parameters: &[
        WORKFLOW_ID,
        Parameter::optional("workflowData", Kind::Object, "The whole workflow; without it the one of workflowId."),
        Parameter::required("filePath", Kind::Text, "The file, new or in place of what is there."),
    ],
    ignored: &[],
    answers: Answers::Plain(&[("success", "boolean"), ("filePath", "string")]),
    effect: Effect::Overwrite,
    max_result_chars: None,
    call,
};

fn call(context: Arc<Context>, mut arguments: Arguments, progress: Progress) -> Call {
    Box::pin(async move {
        let document = match arguments.take(&["workflowData"]).shift_remove("workflowData") {
            Some(serde_json::Value::Object(members)) => {
                let document = Document::of(&members).and_then(|document| document.check().map(|()| document));
                whole(document.map_err(|error| refused(&error))?)?
            }
            _ => Place::of(&arguments.text("workflowId").unwrap_or_default()).load(&context, &progress).await?,
        };
        let (files, path) = (context.files.clone(), arguments.text("filePath").unwrap_or_default());
        let file = blocking(move || files.write(&path, &document, false)).await?;
        Ok(json!({"success": true, "filePath": file}).to_string())
    })
}

/// A workflow that an answer clipped holds marks where there were values.
fn whole(document: Document) -> Result<Document, Error> {
    let text = document.text();
    if text.split("…[+").skip(1).any(is_mark)
        || ["\"…{}\"", "\"…[]\"", "\"…\":\"+"].iter().any(|mark| text.contains(mark))
    {
        return Err(Error::Argument(
            "Argument 'workflowData' was clipped by an answer and is not whole. Leave it out: the workflow of workflowId is saved then."
                .to_owned(),
        ));
    }
    Ok(document)
}

/// Whether `123 chars]` or `123 items]` stands here.
fn is_mark(rest: &str) -> bool {
    let unit = rest.trim_start_matches(|char: char| char.is_ascii_digit());
    unit.len() < rest.len() && (unit.starts_with(" chars]") || unit.starts_with(" items]"))
}
