//! `node_add`: adds a node to a workflow.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};

use super::answer::with_workflow;
use super::location::WorkflowLocation;
use super::{PARAMETERS, WORKFLOW_ID};
use crate::n8n::Progress;
use crate::toolkit::{Arguments, Effect, Kind, Parameter};
use crate::tools::workflows::PUBLISH;
use crate::tools::{Call, Context, Error, Handler, Tool};
use crate::workflow::edit::{self, NewNode};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "node_add",
    title: "Add a node",
    description: "Add a node to a workflow. By default its name comes from its type, and it is placed right of the others.",
    parameters: &[
        WORKFLOW_ID,
        Parameter::required(
            "nodeType",
            Kind::Text,
            "The full type, as node_search returns it, or a display name such as Code.",
        ),
        Parameter::optional("position", Kind::Object, "{x, y}."),
        PARAMETERS,
        Parameter::optional("name", Kind::Text, "A name that no other node has."),
        PUBLISH,
    ],
    effect: Effect::Add,
    handler: Handler::new(call)
        .answering(&[("success", "boolean"), ("nodeId", "string"), ("workflowData", "object")])
        .with_large_answers(),
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    success: bool,
    node_id: String,
}

fn call(context: Arc<Context>, mut arguments: Arguments, progress: Progress) -> Call {
    Box::pin(async move {
        let location = WorkflowLocation::of(&arguments.text("workflowId").unwrap_or_default());
        let (name, position) = (arguments.text("name"), position(&arguments.take(&["position"]))?);
        let parameters = arguments.take_object("parameters");
        let node_type = context.catalogue.node_type(&arguments.text("nodeType").unwrap_or_default())?;
        let edit = move |document: &mut _| {
            let (known, name) = (node_type.known.as_ref(), name.as_deref());
            edit::add_node(document, &NewNode { node_type: &node_type.name, known, name, position, parameters })
        };
        let edited = location.edit(&context, &arguments, &progress, edit).await?;
        let answer = Answer { success: true, node_id: edited.value };
        Ok(with_workflow(&answer, edited.note.as_deref(), &edited.shown))
    })
}

/// The editor's canvas is smaller.
const MAX_COORDINATE: f64 = 1e6;

fn position(given: &Map<String, Value>) -> Result<Option<(f64, f64)>, Error> {
    let Some(position) = given.get("position") else {
        return Ok(None);
    };
    match (position["x"].as_f64(), position["y"].as_f64()) {
        (Some(x), Some(y)) if x.abs() <= MAX_COORDINATE && y.abs() <= MAX_COORDINATE => Ok(Some((x, y))),
        _ => Err(Error::Argument(
            "Argument 'position' must be an object with two numbers, x and y, within a million.".to_owned(),
        )),
    }
}
