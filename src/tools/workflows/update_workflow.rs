//! `update_workflow`: changes parts of a workflow, although n8n only replaces whole ones.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::change::{Target, Writing, members, message, not_sent, refused};
use super::{ID, NAME, NOT_SENT, PUBLISH, Publishing, RAW, SETTINGS};
use crate::n8n::Progress;
use crate::toolkit::{Effect, Flag, List, Object, Objects, Text, arguments};
use crate::tools::{Context, Error, Handler, Tool, ToolCall};
use crate::workflow::{Document, PublishedVersion};

/// The members that this tool changes.
const CHANGED: [&str; 4] = ["name", "nodes", "connections", "settings"];

/// The tool.
pub static TOOL: Tool = Tool {
    name: "update_workflow",
    title: "Update a workflow",
    description: "Replace fields of an n8n workflow (for parts: edit_workflow): the fields you pass replace the current ones \
                  (settings are merged by key). nodes must be all nodes: read them first with get_workflow raw: true. If the \
                  workflow is active, production changes at once.",
    parameters: UpdateWorkflow::PARAMETERS,
    effect: Effect::Overwrite,
    handler: Handler::of::<UpdateWorkflow>().with_large_answers(),
};

arguments! {
    struct UpdateWorkflow {
        id: Text = ID,
        name: Option<Text> = NAME,
        nodes: Option<Objects> = "All nodes, as in get_workflow raw: true.",
        connections: Option<Object> = "All connections.",
        settings: Option<Object> = SETTINGS,
        publish: Option<Flag> = PUBLISH,
        active: Option<Flag> = "Ignored; use set_workflow_active.",
        tags: Option<List> = "Ignored.",
        raw: Option<Flag> = RAW,
        ..others: NOT_SENT
    }
}

impl ToolCall for UpdateWorkflow {
    async fn run(self, context: Arc<Context>, progress: Progress) -> Result<String, Error> {
        let id = self.id;
        let given = members([
            ("name", self.name.map(Into::into)),
            ("nodes", self.nodes.map(Into::into)),
            ("connections", self.connections.map(Into::into)),
            ("settings", self.settings.map(Into::into)),
        ]);
        if given.is_empty() {
            return Err(Error::arguments(
                "There is nothing to change: pass name, nodes, connections or settings. set_workflow_active changes active; tags cannot be changed here.",
            ));
        }
        let _lock = context.n8n()?.lock_workflow(&id).await?;
        let (document, published) = document(&context, &id, &given, &progress).await?;
        let raw = self.raw.unwrap_or(false);
        let target = Target::Existing { id: &id, publishing: Publishing { before: published, wanted: self.publish } };
        let writing = Writing { context: &context, target, document, given, progress: &progress, raw };
        let mut written = writing.send().await?;
        written.left_out.extend(not_sent(self.active, self.tags, self.others));
        let message = message(context.locale, "ワークフローを更新しました", "Workflow updated", &written.left_out);
        Ok(written.answer(&(message + &written.outcome.remark(context.locale)), false))
    }
}

/// The workflow from n8n, with the passed members in place of its own; and what is published of it.
async fn document(
    context: &Context,
    id: &str,
    given: &Map<String, Value>,
    progress: &Progress,
) -> Result<(Document, PublishedVersion), Error> {
    let text = context.n8n()?.workflow_text(id, false, progress).await?;
    let mut document = Document::parse(&text).map_err(|error| refused("n8n's workflow cannot be used", &error))?;
    let published = document.published();
    document.keep_only(&CHANGED);
    document.merge(given).map_err(|error| refused("These arguments cannot be used", &error))?;
    Ok((document, published))
}
