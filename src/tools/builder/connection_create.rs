//! `connection_create`: data from one node to another.

use std::sync::Arc;

use serde::Serialize;

use super::WORKFLOW_ID;
use super::answer::with_workflow;
use super::place::Place;
use crate::n8n::Progress;
use crate::toolkit::{Answers, Arguments, Effect, Kind, Parameter};
use crate::tools::{Call, Context, Tool};
use crate::workflow::connections::Port;
use crate::workflow::edit;
use crate::workflow::link::{Wanted, link};

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
        Parameter::optional("sourceOutput", Kind::Word, "Where they leave (default main)."),
        Parameter::optional("targetInput", Kind::Word, "Where they enter (default main)."),
    ],
    ignored: &[],
    answers: Answers::Plain(&[("success", "boolean"), ("connection", "object"), ("workflowData", "object")]),
    effect: Effect::Ensure,
    max_result_chars: Some(120_000),
    call,
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
        let place = Place::of(&arguments.text("workflowId").unwrap_or_default());
        let text = |name| arguments.text(name).unwrap_or_default();
        let word = |name| arguments.text(name).unwrap_or_else(|| "main".to_owned());
        let (source, target) = (text("sourceNodeId"), text("targetNodeId"));
        let (output, input) = (word("sourceOutput"), word("targetInput"));
        let catalogue = context.shelf.catalogue()?;
        let edit = move |document: &mut _| {
            let wanted = Wanted { source: &source, target: &target, output: &output, input: &input };
            let known = |node_type: &str| catalogue.as_ref().and_then(|catalogue| catalogue.find(node_type));
            let link = link(document, &wanted, known)?;
            edit::connect(document, &link)?;
            let id = |name: &str| edit::id(document, name);
            Ok(Shown {
                source_node_id: id(&link.source)?,
                target_node_id: id(&link.target)?,
                source_output: shown(&link.output),
                target_input: shown(&link.input),
            })
        };
        let (connection, document) = place.edit(&context, &progress, edit).await?;
        Ok(with_workflow(&Answer { success: true, connection }, &document))
    })
}

/// `main`, `main:1`.
fn shown(port: &Port) -> String {
    if port.index == 0 { port.kind.clone() } else { format!("{}:{}", port.kind, port.index) }
}
