//! `node_add`: one more node.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};

use super::answer::with_workflow;
use super::place::Place;
use super::{PARAMETERS, WORKFLOW_ID};
use crate::n8n::Progress;
use crate::toolkit::{Answers, Arguments, Effect, Kind, Parameter};
use crate::tools::{Call, Context, Error, Tool};
use crate::workflow::edit::{self, NewNode};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "node_add",
    title: "Add a node",
    description: "Add a node to a workflow. Without a name it gets one from its type, without a position it stands right \
                  of the others.",
    parameters: &[
        WORKFLOW_ID,
        Parameter::required("nodeType", Kind::Text, "The full type, as node_search gives it."),
        Parameter::optional("position", Kind::Object, "{x, y}."),
        PARAMETERS,
        Parameter::optional("name", Kind::Text, "A name that no other node has."),
    ],
    ignored: &[],
    answers: Answers::Plain(&[("success", "boolean"), ("nodeId", "string"), ("workflowData", "object")]),
    effect: Effect::Add,
    max_result_chars: Some(120_000),
    call,
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Added {
    success: bool,
    node_id: String,
}

fn call(context: Arc<Context>, mut arguments: Arguments, progress: Progress) -> Call {
    Box::pin(async move {
        let place = Place::of(&arguments.text("workflowId").unwrap_or_default());
        let node_type = arguments.text("nodeType").unwrap_or_default();
        let (name, position) = (arguments.text("name"), position(&arguments.take(&["position"]))?);
        let parameters = arguments.take_object("parameters");
        let known = context.shelf.known(&node_type)?;
        let edit = move |document: &mut _| {
            let (known, name) = (known.as_ref(), name.as_deref());
            edit::add_node(document, &NewNode { node_type: &node_type, known, name, position, parameters })
        };
        let (node_id, document) = place.edit(&context, &progress, edit).await?;
        Ok(with_workflow(&Added { success: true, node_id }, &document))
    })
}

/// The editor's canvas is smaller.
const FARTHEST: f64 = 1e6;

fn position(given: &Map<String, Value>) -> Result<Option<(f64, f64)>, Error> {
    let Some(position) = given.get("position") else {
        return Ok(None);
    };
    match (position["x"].as_f64(), position["y"].as_f64()) {
        (Some(x), Some(y)) if x.abs() <= FARTHEST && y.abs() <= FARTHEST => Ok(Some((x, y))),
        _ => Err(Error::Argument(
            "Argument 'position' must be an object with two numbers, x and y, within a million.".to_owned(),
        )),
    }
}
