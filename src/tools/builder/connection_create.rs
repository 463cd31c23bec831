//! `connection_create`: connects an output of one node to an input of another.

use std::sync::Arc;

use serde::Serialize;

use super::WORKFLOW_ID;
use super::answer::with_workflow;
use crate::n8n::Progress;
use crate::toolkit::{Effect, Flag, Text, Word, arguments};
use crate::tools::workflows::{EditRequest, PUBLISH, WorkflowLocation};
use crate::tools::{Context, Error, Handler, Tool, ToolCall};
use crate::workflow::Written;
use crate::workflow::connections::PortRef;
use crate::workflow::edit::resolve::{Resolved, resolve};
use crate::workflow::edit::{ConnectionRequest, Operation, edited};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "connection_create",
    title: "Connect two nodes",
    description: "Connect two nodes of a workflow. An output or input is main, main:1, an index, true or false of an IF, \
                  the name of a Switch's output, or an AI type such as ai_tool. Several steps at once: edit_workflow.",
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
        let word = |word: Option<String>| word.unwrap_or_else(|| "main".to_owned());
        let (output, input) = (word(self.source_output), word(self.target_input));
        let edit = move |before: &Written| {
            let types = |name: &str| catalogue.as_ref()?.find(name);
            edited(before, |editor| {
                let ends = [editor.find_by_id(&self.source_node_id)?, editor.find_by_id(&self.target_node_id)?];
                let resolved = resolve(editor, ends, [&output, &input], &types)?;
                editor.apply(&Operation::AddConnection(ConnectionRequest::from(&resolved.connection)), &types)?;
                Ok(resolved)
            })
        };
        let request = EditRequest { publish: self.publish, ..EditRequest::default() };
        let edited = location.edit(&context, &request, &progress, edit).await?;
        let note = edited.note();
        let Resolved { connection, source_id, target_id } = edited.value;
        let connection = CreatedConnection {
            source_node_id: source_id,
            target_node_id: target_id,
            source_output: shown(&connection.output),
            target_input: shown(&connection.input),
        };
        let answer = Answer { success: true, connection };
        Ok(with_workflow(&answer, note.as_deref(), &location.shown(Arc::unwrap_or_clone(edited.after))))
    }
}

/// Formats a port: `main`, `main:1`.
fn shown(port: &PortRef) -> String {
    if port.index == 0 { port.kind.clone() } else { format!("{}:{}", port.kind, port.index) }
}
