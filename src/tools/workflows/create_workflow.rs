//! `create_workflow`: a new, inactive workflow from complete nodes and connections.

use std::sync::Arc;

use super::change::{Target, Writing, members, message, not_sent, of_arguments};
use super::{NAME, NOT_SENT, RAW, SETTINGS};
use crate::n8n::Progress;
use crate::toolkit::{Effect, Flag, List, Object, Objects, Text, arguments};
use crate::tools::{Context, Error, Handler, Tool, ToolCall};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "create_workflow",
    title: "Create a workflow",
    description: "Create an n8n workflow from complete nodes and connections; to build one node by \
                  node, use workflow_create (toolset builder). It starts inactive; see set_workflow_active.",
    parameters: CreateWorkflow::PARAMETERS,
    effect: Effect::Add,
    handler: Handler::of::<CreateWorkflow>().with_large_answers(),
};

arguments! {
    struct CreateWorkflow {
        name: Text = NAME,
        nodes: Objects = "Nodes: {id, name, type, typeVersion, position: [x, y], parameters, credentials?, …}.",
        connections: Object = "{\"Source\": {\"main\": [[{\"node\": \"Target\", \"type\": \"main\", \"index\": 0}]]}}.",
        settings: Option<Object> = SETTINGS,
        active: Option<Flag> = "Ignored; n8n sets it.",
        tags: Option<List> = "Ignored.",
        raw: Option<Flag> = RAW,
        ..others: NOT_SENT
    }
}

impl ToolCall for CreateWorkflow {
    async fn run(self, context: Arc<Context>, progress: Progress) -> Result<String, Error> {
        let given = members([
            ("name", Some(self.name.into())),
            ("nodes", Some(self.nodes.into())),
            ("connections", Some(self.connections.into())),
            ("settings", self.settings.map(Into::into)),
        ]);
        let document = of_arguments(&given)?;
        let raw = self.raw.unwrap_or(false);
        let writing = Writing { context: &context, target: Target::New, document, given, progress: &progress, raw };
        let mut written = writing.send().await?;
        written.left_out.extend(not_sent(self.active, self.tags, self.others));
        let message = message(context.locale, "ワークフローを作成しました", "Workflow created", &written.left_out);
        Ok(written.answer(&message, true))
    }
}
