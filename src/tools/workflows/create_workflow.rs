//! `create_workflow`: a new, inactive workflow from complete nodes and connections.

use std::sync::Arc;

use super::change::{Target, Writing, message, of_arguments};
use super::{CONNECTIONS, NODES, NOT_SENT, RAW, SETTINGS};
use crate::n8n::Progress;
use crate::toolkit::{Arguments, Effect, Kind, Parameter};
use crate::tools::{Call, Context, Handler, Tool};

/// What n8n accepts of the arguments.
const SENT: [&str; 4] = ["name", "nodes", "connections", "settings"];

/// The tool.
pub static TOOL: Tool = Tool {
    name: "create_workflow",
    title: "Create a workflow",
    description: "Create an n8n workflow from complete nodes and connections; to build one node by \
                  node, use workflow_create (toolset builder). It starts inactive; see set_workflow_active.",
    parameters: &[
        Parameter::required("name", Kind::Text, "1 to 128 characters."),
        NODES,
        CONNECTIONS,
        SETTINGS,
        Parameter::optional("active", Kind::Flag { default: None }, "Ignored; n8n sets it."),
        Parameter::optional("tags", Kind::List, "Ignored."),
        RAW,
    ],
    effect: Effect::Add,
    handler: Handler::new(call).ignoring(&NOT_SENT).with_large_answers(),
};

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
