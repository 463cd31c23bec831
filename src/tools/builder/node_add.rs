//! `node_add`: adds a node to a workflow.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};

use super::answer::with_workflow;
use super::{NODE_TYPE, WORKFLOW_ID, whole};
use crate::n8n::Progress;
use crate::toolkit::{Effect, Flag, Object, Text, arguments};
use crate::tools::workflows::{EditRequest, PUBLISH, WorkflowLocation};
use crate::tools::{Context, Error, Handler, Tool, ToolCall};
use crate::workflow::Written;
use crate::workflow::edit::{Changed, NewNode, Operation, edited};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "node_add",
    title: "Add a node",
    description: "Add a node to a workflow. By default its name comes from its type, and it is placed right of the others. Several steps at once: edit_workflow.",
    parameters: NodeAdd::PARAMETERS,
    effect: Effect::Add,
    handler: Handler::of::<NodeAdd>()
        .answering(&[("success", "boolean"), ("nodeId", "string"), ("workflowData", "object")])
        .with_large_answers(),
};

arguments! {
    struct NodeAdd {
        workflow_id: Text = WORKFLOW_ID,
        node_type: Text = NODE_TYPE,
        position: Option<Object> = "{x, y}.",
        parameters: Option<Object> = "The node's parameters.",
        name: Option<Text> = "A name that no other node has.",
        publish: Option<Flag> = PUBLISH,
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    success: bool,
    node_id: String,
}

impl ToolCall for NodeAdd {
    async fn run(self, context: Arc<Context>, progress: Progress) -> Result<String, Error> {
        let location = WorkflowLocation::of(&self.workflow_id);
        let position = self.position.map(point).transpose()?;
        let parameters = whole(self.parameters.unwrap_or_default())?;
        let node_type = context.catalogue.node_type(&self.node_type)?;
        let catalogue = context.catalogue.catalogue()?;
        let node = NewNode { node_type, name: self.name, position, parameters, ..NewNode::default() };
        let operation = Operation::AddNode { node, after: None, source_output: None };
        let edit = move |before: &Written| {
            edited(before, |editor| editor.apply(&operation, &|name| catalogue.as_ref()?.find(name)))
        };
        let request = EditRequest { publish: self.publish, ..EditRequest::default() };
        let edited = location.edit(&context, &request, &progress, edit).await?;
        let node_id = edited.value.iter().find_map(Changed::added_id).unwrap_or_default().to_owned();
        let answer = Answer { success: true, node_id };
        Ok(with_workflow(&answer, edited.note().as_deref(), &location.shown(Arc::unwrap_or_clone(edited.after))))
    }
}

/// n8n's canvas is smaller than this.
const MAX_COORDINATE: f64 = 1e6;

fn point(position: Map<String, Value>) -> Result<(f64, f64), Error> {
    let coordinate = |name| position.get(name).and_then(Value::as_f64).filter(|at| at.abs() <= MAX_COORDINATE);
    let point = coordinate("x").zip(coordinate("y"));
    point.ok_or_else(|| Error::argument("position", "must be an object with two numbers, x and y, within a million."))
}
