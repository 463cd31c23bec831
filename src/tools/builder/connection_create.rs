//! `connection_create`: connects an output of one node to an input of another.

use std::sync::Arc;

use serde::Serialize;

use super::WORKFLOW_ID;
use super::answer::with_workflow;
use super::location::WorkflowLocation;
use crate::n8n::Progress;
use crate::toolkit::{Effect, Flag, Text, Word, arguments};
use crate::tools::workflows::PUBLISH;
use crate::tools::{Context, Error, Handler, Tool, ToolCall};
use crate::workflow::connections::PortRef;
use crate::workflow::edit;
use crate::workflow::resolve::{ConnectionRequest, Resolved, resolve};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "connection_create",
    title: "Connect two nodes",
    description: "Connect two nodes of a workflow. An output or input is main, main:1, an index, true or false of an IF, \
                  the name of a Switch's output, or an AI type such as ai_tool.",
    parameters: ConnectionCreate::PARAMETERS,
    effect: Effect::Ensure,
    handler: Handler::of::<ConnectionCreate>()
        .answering(&[("success", "boolean"), ("connection", "object"), ("workflowData", "object")])
        .with_large_answers(),
};

arguments! {
    struct ConnectionCreate {
        workflow_id: Text = WORKFLOW_ID,
        source_node_id: Text = "The node that the data come from, by id or name.",
        target_node_id: Text = "The node that they go to, by id or name.",
        source_output: Option<Word> = "The output they leave by (default main).",
        target_input: Option<Word> = "The input they enter by (default main).",
        publish: Option<Flag> = PUBLISH,
    }
}

#[derive(Serialize)]
struct Answer {
    success: bool,
    connection: CreatedConnection,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CreatedConnection {
    source_node_id: String,
    target_node_id: String,
    source_output: String,
    target_input: String,
}

impl ToolCall for ConnectionCreate {
    async fn run(self, context: Arc<Context>, progress: Progress) -> Result<String, Error> {
        let location = WorkflowLocation::of(&self.workflow_id);
        let catalogue = context.catalogue.catalogue()?;
        let edit = move |document: &mut _| {
            let request = ConnectionRequest {
                source: &self.source_node_id,
                target: &self.target_node_id,
                output: self.source_output.as_deref().unwrap_or("main"),
                input: self.target_input.as_deref().unwrap_or("main"),
            };
            let node_type = |node_type: &str| catalogue.as_ref().and_then(|catalogue| catalogue.find(node_type));
            let Resolved { connection, source_id, target_id } = resolve(document, &request, node_type)?;
            edit::connect(document, &connection)?;
            Ok(CreatedConnection {
                source_node_id: source_id,
                target_node_id: target_id,
                source_output: shown(&connection.output),
                target_input: shown(&connection.input),
            })
        };
        let edited = location.edit(&context, self.publish, &progress, edit).await?;
        let answer = Answer { success: true, connection: edited.value };
        Ok(with_workflow(&answer, edited.note.as_deref(), &edited.shown))
    }
}

/// `main`, `main:1`.
fn shown(port: &PortRef) -> String {
    if port.index == 0 { port.kind.clone() } else { format!("{}:{}", port.kind, port.index) }
}
