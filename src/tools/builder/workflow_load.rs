//! `workflow_load`: a workflow from a file, from n8n, or from memory.

use std::sync::Arc;

use serde::Serialize;

use super::answer::with_workflow;
use super::place::Place;
use crate::n8n::Progress;
use crate::toolkit::{Answers, Arguments, Effect, Kind, Parameter};
use crate::tools::{Call, Context, Tool};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "workflow_load",
    title: "Load a workflow",
    description: "Read a workflow from a file, from n8n, or from memory.",
    parameters: &[Parameter::required("workflowIdOrPath", Kind::Text, "A path, an id in n8n, or mem-….")],
    ignored: &[],
    answers: Answers::Plain(&[("workflowId", "string"), ("workflowData", "object")]),
    effect: Effect::Read,
    max_result_chars: Some(120_000),
    call,
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    workflow_id: String,
}

fn call(context: Arc<Context>, arguments: Arguments, progress: Progress) -> Call {
    Box::pin(async move {
        let workflow_id = arguments.text("workflowIdOrPath").unwrap_or_default();
        let document = Place::of(&workflow_id).load(&context, &progress).await?;
        Ok(with_workflow(&Answer { workflow_id }, &document))
    })
}
