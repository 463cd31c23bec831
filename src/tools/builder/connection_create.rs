//! `connection_create`: connects an output of one node to an input of another.

use std::sync::Arc;

use serde::Serialize;

use super::WORKFLOW_ID;
use super::answer::with_workflow;
use super::location::WorkflowLocation;
use crate::n8n::Progress;
use crate::toolkit::{Arguments, Effect, Kind, Parameter};
use crate::tools::workflows::PUBLISH;
use crate::tools::{Call, Context, Handler, Tool};
use crate::workflow::connections::PortRef;
use crate::workflow::edit;
use crate::workflow::resolve::{ConnectionRequest, Resolved, resolve};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "connection_create",
    title: "Connect two nodes",
    description: "Connect two nodes of a workflow. An output or input is main, main:1, an index, true or false of an IF, \
                  the name of a Switch's output, or an AI type such as ai_tool.",
    parameters: &[
        WORKFLOW_ID,
        Parameter::required("sourceNodeId", Kind::Text, "The node that the data come from, by id or name."),
        Parameter::required("targetNodeId", Kind::Text, "The node that they go to, by id or name."),
        Parameter::optional("sourceOutput", Kind::Word, "The output they leave by (default main)."),
        Parameter::optional("targetInput", Kind::Word, "The input they enter by (default main)."),
        PUBLISH,
    ],
    effect: Effect::Ensure,
    handler: Handler::new(call)
        .answering(&[("success", "boolean"), ("connection", "object"), ("workflowData", "object")])
        .with_large_answers(),
};

#[derive(Serialize)]
struct Answer {
    success: bool,
    connection: Shown,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    source_node_id: String,
    target_node_id: String,
    source_output: String,
    target_input: String,
}

fn call(context: Arc<Context>, arguments: Arguments, progress: Progress) -> Call {
    Box::pin(async move {
        let location = WorkflowLocation::of(&arguments.text("workflowId").unwrap_or_default());
        let text = |name| arguments.text(name).unwrap_or_default();
        let word = |name| arguments.text(name).unwrap_or_else(|| "main".to_owned());
        let (source, target) = (text("sourceNodeId"), text("targetNodeId"));
        let (output, input) = (word("sourceOutput"), word("targetInput"));
        let catalogue = context.catalogue.catalogue()?;
        let edit = move |document: &mut _| {
            let request = ConnectionRequest { source: &source, target: &target, output: &output, input: &input };
            let node_type = |node_type: &str| catalogue.as_ref().and_then(|catalogue| catalogue.find(node_type));
            let Resolved { connection, source_id, target_id } = resolve(document, &request, node_type)?;
            edit::connect(document, &connection)?;
            Ok(Shown {
                source_node_id: source_id,
                target_node_id: target_id,
                source_output: shown(&connection.output),
                target_input: shown(&connection.input),
            })
        };
        let edited = location.edit(&context, &arguments, &progress, edit).await?;
        let answer = Answer { success: true, connection: edited.value };
        Ok(with_workflow(&answer, edited.note.as_deref(), &edited.shown))
    })
}

/// `main`, `main:1`.
fn shown(port: &PortRef) -> String {
    if port.index == 0 { port.kind.clone() } else { format!("{}:{}", port.kind, port.index) }
}
