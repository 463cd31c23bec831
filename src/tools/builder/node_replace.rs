//! `node_replace`: another type in the place of a node.

use std::sync::Arc;

use serde::Serialize;

use super::answer::with_workflow;
use super::place::Place;
use super::{PARAMETERS, WORKFLOW_ID};
use crate::n8n::Progress;
use crate::toolkit::{Answers, Arguments, Effect, Kind, Parameter};
use crate::tools::{Call, Context, Tool};
use crate::workflow::edit::{self, Replaced};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "node_replace",
    title: "Replace a node",
    description: "Give a node another type. It keeps its id, name and position; connections that the new type has no \
                  place for are removed and reported.",
    parameters: &[
        WORKFLOW_ID,
        Parameter::required("targetNodeId", Kind::Text, "The node, by id or name."),
        Parameter::required("newNodeType", Kind::Text, "The full type, as node_search gives it."),
        PARAMETERS,
    ],
    ignored: &[],
    answers: Answers::Plain(&[
        ("success", "boolean"),
        ("nodeId", "string"),
        ("compatibilityReport", "object"),
        ("workflowData", "object"),
    ]),
    effect: Effect::Overwrite,
    max_result_chars: Some(120_000),
    call,
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
        let place = Place::of(&arguments.text("workflowId").unwrap_or_default());
        let target = arguments.text("targetNodeId").unwrap_or_default();
        let node_type = arguments.text("newNodeType").unwrap_or_default();
        let parameters = arguments.take_object("parameters");
        let known = context.shelf.known(&node_type)?;
        let edit =
            move |document: &mut _| edit::replace_node(document, &target, &node_type, known.as_ref(), &parameters);
        let (Replaced { id, maintained, removed }, document) = place.edit(&context, &progress, edit).await?;
        let compatibility_report = Report { maintained_connections: maintained, removed_connections: removed };
        Ok(with_workflow(&Answer { success: true, node_id: id, compatibility_report }, &document))
    })
}
