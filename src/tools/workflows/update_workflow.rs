//! `update_workflow`: changes parts of a workflow, though n8n only replaces whole ones.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::change::{Target, Writing, message, refused};
use super::{CONNECTIONS, ID, NODES, NOT_SENT, PUBLISH, Publishing, RAW, SETTINGS};
use crate::n8n::Progress;
use crate::toolkit::{Arguments, Effect, Kind, Parameter};
use crate::tools::{Call, Context, Error, Handler, Tool};
use crate::workflow::{Document, PublishedVersion};

/// The members that this tool changes.
const CHANGED: [&str; 4] = ["name", "nodes", "connections", "settings"];

/// The tool.
pub static TOOL: Tool = Tool {
    name: "update_workflow",
    title: "Update a workflow",
    description: "Change parts of an n8n workflow: what you give replaces what is there (settings one by one), everything \
                  else stays. nodes must be all nodes: read them first with get_workflow raw: true. If the workflow is \
                  active, production changes at once.",
    parameters: &[
        ID,
        Parameter::optional("name", Kind::Text, "1 to 128 characters."),
        Parameter { description: "All nodes, as in get_workflow raw: true.", required: false, ..NODES },
        Parameter { description: "All connections.", required: false, ..CONNECTIONS },
        SETTINGS,
        PUBLISH,
        Parameter::optional("active", Kind::Flag { default: None }, "Ignored; use set_workflow_active."),
        Parameter::optional("tags", Kind::List, "Ignored."),
        RAW,
    ],
    effect: Effect::Overwrite,
    handler: Handler::new(call).ignoring(&NOT_SENT).with_large_answers(),
};

fn call(context: Arc<Context>, mut arguments: Arguments, progress: Progress) -> Call {
    Box::pin(async move {
        let id = arguments.text("id").unwrap_or_default();
        let given = arguments.take(&CHANGED);
        if given.is_empty() {
            return Err(Error::Argument(
                "There is nothing to change: give name, nodes, connections or settings. set_workflow_active changes active; tags cannot be changed here."
                    .to_owned(),
            ));
        }
        let _lock = context.n8n()?.lock_workflow(&id).await?;
        let (document, published) = document(&context, &id, &given, &progress).await?;
        let raw = arguments.flag("raw");
        let target = Target::Existing { id: &id, publishing: Publishing::new(published, &arguments) };
        let writing = Writing { context: &context, target, document, given, progress: &progress, raw };
        let mut written = writing.send().await?;
        written.left_out.extend(arguments.names(&NOT_SENT[..]).filter(|name| name != "id"));
        let message = message(context.locale, "ワークフローを更新しました", "Workflow updated", &written.left_out);
        Ok(written.answer(&(message + &written.outcome.remark(context.locale)), false))
    })
}

/// The workflow as n8n has it, with the given members in place of its own; and what is published of it.
async fn document(
    context: &Context,
    id: &str,
    given: &Map<String, Value>,
    progress: &Progress,
) -> Result<(Document, PublishedVersion), Error> {
    let text = context.n8n()?.workflow_text(id, progress).await?;
    let mut document = Document::parse(&text).map_err(|error| refused("n8n's workflow cannot be used", &error))?;
    let published = document.published();
    document.keep_only(&CHANGED);
    document.merge(given).map_err(|error| refused("These arguments cannot be used", &error))?;
    Ok((document, published))
}
