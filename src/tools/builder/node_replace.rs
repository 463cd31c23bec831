//! `node_replace`: replaces the type of a node.

use std::sync::Arc;

use serde::Serialize;

use super::answer::with_workflow;
use super::{NODE_TYPE, WORKFLOW_ID, whole};
use crate::n8n::Progress;
use crate::toolkit::{Amount, Effect, Flag, Object, Text, arguments};
use crate::tools::workflows::{EditRequest, PUBLISH, WorkflowLocation};
use crate::tools::{Context, Error, Handler, Tool, ToolCall};
use crate::workflow::Written;
use crate::workflow::edit::{Replaced, Replacement, edited};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "node_replace",
    title: "Replace a node",
    description: "Change a node's type. It keeps its id, name and position; connections that do not fit \
                  the new type are removed and reported.",
    parameters: NodeReplace::PARAMETERS,
    effect: Effect::Overwrite,
    handler: Handler::of::<NodeReplace>()
        .answering(&[
            ("success", "boolean"),
            ("nodeId", "string"),
            ("compatibilityReport", "object"),
            ("workflowData", "object"),
        ])
        .with_large_answers(),
};

arguments! {
    struct NodeReplace {
        workflow_id: Text = WORKFLOW_ID,
        target_node_id: Text = "The node, by id or name.",
        new_node_type: Text = NODE_TYPE,
        parameters: Option<Object> = "Default: unchanged if the node keeps its type, else none.",
        type_version: Option<Amount> = "Default: unchanged if the node keeps its type, else the newest.",
        publish: Option<Flag> = PUBLISH,
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    success: bool,
    node_id: String,
    compatibility_report: Report,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    maintained_connections: Vec<String>,
    removed_connections: Vec<String>,
}

impl ToolCall for NodeReplace {
    async fn run(self, context: Arc<Context>, progress: Progress) -> Result<String, Error> {
        let location = WorkflowLocation::of(&self.workflow_id);
        let parameters = self.parameters.map(whole).transpose()?;
        let node_type = context.catalogue.node_type(&self.new_node_type)?;
        let catalogue = context.catalogue.catalogue()?;
        let replacement = Replacement { node_type, version: self.type_version, parameters };
        let edit = move |before: &Written| {
            let types = |name: &str| catalogue.as_ref()?.find(name);
            edited(before, |editor| editor.replace(&self.target_node_id, &replacement, &types))
        };
        let request = EditRequest { publish: self.publish, ..EditRequest::default() };
        let edited = location.edit(&context, &request, &progress, edit).await?;
        let note = edited.note();
        let Replaced { id, maintained, removed } = edited.value;
        let compatibility_report = Report { maintained_connections: maintained, removed_connections: removed };
        let answer = Answer { success: true, node_id: id, compatibility_report };
        Ok(with_workflow(&answer, note.as_deref(), &location.shown(Arc::unwrap_or_clone(edited.after))))
    }
}
