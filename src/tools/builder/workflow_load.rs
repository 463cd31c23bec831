//! `workflow_load`: reads a workflow from a file, n8n or memory.

use std::sync::Arc;

use serde::Serialize;

use super::answer::with_workflow;
use super::location::WorkflowLocation;
use crate::n8n::Progress;
use crate::toolkit::{Arguments, Effect, Kind, Parameter};
use crate::tools::{Call, Context, Handler, Tool};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "workflow_load",
    title: "Load a workflow",
    description: "Read a workflow from a file, n8n or memory, as the builder's tools edit it. get_workflow shows a summary or one \
                  node of a workflow in n8n.",
    parameters: &[Parameter::required("workflowIdOrPath", Kind::Text, "A path, an id in n8n, or a mem-… id.")],
    effect: Effect::Read,
    handler: Handler::new(call).answering(&[("workflowId", "string"), ("workflowData", "object")]).with_large_answers(),
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    workflow_id: String,
}

fn call(context: Arc<Context>, arguments: Arguments, progress: Progress) -> Call {
    Box::pin(async move {
        let workflow_id = arguments.text("workflowIdOrPath").unwrap_or_default();
        let location = WorkflowLocation::of(&workflow_id);
        let document = location.shown(location.load(&context, &progress).await?);
        Ok(with_workflow(&Answer { workflow_id }, None, &document))
    })
}
