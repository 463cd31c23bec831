//! `create_workflow`: a new workflow, not active.

use std::sync::Arc;

use super::change::{Target, Writing, message, of_arguments};
use super::{NOT_SENT, RAW};
use crate::n8n::Progress;
use crate::toolkit::{Answers, Arguments, Effect, Kind, Parameter};
use crate::tools::{Call, Context, Tool};

/// What n8n takes.
const SENT: [&str; 4] = ["name", "nodes", "connections", "settings"];

/// The tool.
pub static TOOL: Tool = Tool {
    name: "create_workflow",
    title: "Create a workflow",
    description: "Create an n8n workflow. It is not active, and active and tags are not sent: n8n does not take them here.",
    parameters: &[
        Parameter::required("name", Kind::Text, "1 to 128 characters."),
        NODES,
        CONNECTIONS,
        SETTINGS,
        Parameter::optional("active", Kind::Flag { default: None }, "Not sent."),
        Parameter::optional("tags", Kind::List, "Not sent."),
        RAW,
    ],
    ignored: &NOT_SENT,
    answers: Answers::Envelope,
    effect: Effect::Add,
    max_result_chars: Some(120_000),
    call,
};

pub(super) const NODES: Parameter = Parameter::required(
    "nodes",
    Kind::Objects,
    "Nodes: {id, name, type, typeVersion, position: [x, y], parameters, credentials?, …}.",
);

pub(super) const CONNECTIONS: Parameter = Parameter::required(
    "connections",
    Kind::Object,
    "{\"Source\": {\"main\": [[{\"node\": \"Target\", \"type\": \"main\", \"index\": 0}]]}}.",
);

pub(super) const SETTINGS: Parameter = Parameter::optional("settings", Kind::Object, "n8n's workflow settings.");

fn call(context: Arc<Context>, mut arguments: Arguments, progress: Progress) -> Call {
    Box::pin(async move {
        let given = arguments.take(&SENT);
        let document = of_arguments(&given)?;
        let raw = arguments.flag("raw");
        let writing = Writing { context: &context, target: Target::New, document, given, progress: &progress, raw };
        let mut written = writing.send().await?;
        written.left_out.extend(arguments.names(&NOT_SENT));
        let message = message(context.locale, "ワークフローを作成しました", "Workflow created", &written.left_out);
        Ok(written.answer(&message, true))
    })
}
