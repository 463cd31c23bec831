//! `workflow_load`: reads a workflow from a file, n8n or memory.

use std::sync::Arc;

use serde::Serialize;

use super::answer::with_workflow;
use crate::n8n::Progress;
use crate::toolkit::{Effect, Text, arguments};
use crate::tools::workflows::WorkflowLocation;
use crate::tools::{Context, Error, Handler, Tool, ToolCall};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "workflow_load",
    title: "Load a workflow",
    description: "Read a workflow from a file, n8n or memory, as the builder's tools edit it. get_workflow shows a summary or one \
                  node of a workflow in n8n.",
    parameters: WorkflowLoad::PARAMETERS,
    effect: Effect::Read,
    handler: Handler::of::<WorkflowLoad>()
        .answering(&[("workflowId", "string"), ("workflowData", "object")])
        .with_large_answers(),
};

arguments! {
    struct WorkflowLoad {
        workflow_id_or_path: Text = "A path, an id in n8n, or a mem-… id.",
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    workflow_id: String,
}

impl ToolCall for WorkflowLoad {
    async fn run(self, context: Arc<Context>, progress: Progress) -> Result<String, Error> {
        let workflow_id = self.workflow_id_or_path;
        let location = WorkflowLocation::of(&workflow_id);
        let document = location.shown(location.load(&context, &progress).await?);
        Ok(with_workflow(&Answer { workflow_id }, None, &document))
    }
}
