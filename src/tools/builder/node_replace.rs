//! `node_replace`: gives a node another type.

use std::sync::Arc;

use serde::Serialize;

use super::answer::with_workflow;
use super::location::WorkflowLocation;
use super::{PARAMETERS, WORKFLOW_ID};
use crate::n8n::Progress;
use crate::toolkit::{Arguments, Effect, Kind, Parameter};
use crate::tools::workflows::PUBLISH;
use crate::tools::{Call, Context, Handler, Tool};
use crate::workflow::edit::{self, Replaced, Replacement};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "node_replace",
    title: "Replace a node",
    description: "Give a node another type. It keeps its id, name and position; connections that do not fit \
                  the new type are removed and reported.",
    parameters: &[
        WORKFLOW_ID,
        Parameter::required("targetNodeId", Kind::Text, "The node, by id or name."),
        Parameter::required(
            "newNodeType",
            Kind::Text,
            "The full type, as node_search returns it, or a display name such as Code.",
        ),
        PARAMETERS,
        Parameter::optional(
            "typeVersion",
            Kind::Amount,
            "Default: unchanged if the node keeps its type, else the newest.",
        ),
        PUBLISH,
    ],
    effect: Effect::Overwrite,
    handler: Handler::new(call)
        .answering(&[
            ("success", "boolean"),
            ("nodeId", "string"),
            ("compatibilityReport", "object"),
            ("workflowData", "object"),
        ])
        .with_large_answers(),
};

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

fn call(context: Arc<Context>, mut arguments: Arguments, progress: Progress) -> Call {
    Box::pin(async move {
        let location = WorkflowLocation::of(&arguments.text("workflowId").unwrap_or_default());
        let target = arguments.text("targetNodeId").unwrap_or_default();
        let parameters = arguments.take_object("parameters");
        let node_type = context.catalogue.node_type(&arguments.text("newNodeType").unwrap_or_default())?;
        let version = arguments.amount("typeVersion");
        let edit = move |document: &mut _| {
            let (node_type, known) = (node_type.name.as_str(), node_type.known.as_ref());
            edit::replace_node(document, &target, &Replacement { node_type, known, version, parameters })
        };
        let edited = location.edit(&context, &arguments, &progress, edit).await?;
        let Replaced { id, maintained, removed } = edited.value;
        let compatibility_report = Report { maintained_connections: maintained, removed_connections: removed };
        let answer = Answer { success: true, node_id: id, compatibility_report };
        Ok(with_workflow(&answer, edited.note.as_deref(), &edited.shown))
    })
}
