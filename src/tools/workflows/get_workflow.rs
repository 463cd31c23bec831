//! `get_workflow`: one workflow in a line, whole, or one of its nodes.

use std::sync::Arc;

use serde::Serialize;

use super::{ID, RAW, raw};
use crate::json::Excerpt;
use crate::n8n::Progress;
use crate::tools::answer::success;
use crate::tools::{Arguments, Call, Context, Effect, Error, Kind, Parameter, Tool, nearest};
use crate::workflow::outline::{self, Outline};
use crate::workflow::whole::{self, Whole};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "get_workflow",
    title: "Get a workflow",
    description: "Get one n8n workflow: name, active, tags and number of nodes. raw: true shows nodes, connections and \
                  settings; node shows one node whole.",
    parameters: &[
        ID,
        Parameter::optional("node", Kind::Text, "Show only this node, by name or id, with all its keys."),
        RAW,
    ],
    effect: Effect::Read,
    max_result_chars: Some(120_000),
    call,
};

fn call(context: Arc<Context>, arguments: Arguments, progress: Progress) -> Call {
    Box::pin(async move {
        let id = arguments.text("id").unwrap_or_default();
        let node = arguments.text("node");
        let message = context.locale.choose("ワークフローを取得しました", "Workflow retrieved");
        if node.is_none() && !arguments.flag("raw") {
            let outline = context.n8n.read_workflow(&id, outline::KEEP, &progress, outline::read).await??;
            return Ok(success(message, &Data::from(outline)));
        }
        // Clipping is work: it stays on the thread that reads.
        let read = move |cursor| {
            let whole = whole::read(cursor)?;
            match node {
                Some(node) => one_node(message, &id, &whole, &node),
                None => Ok(raw::answer(message, &whole)),
            }
        };
        let id = arguments.text("id").unwrap_or_default();
        context.n8n.read_workflow(&id, whole::KEEP, &progress, read).await?
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Data {
    id: String,
    name: String,
    active: bool,
    node_count: u64,
    tags: Vec<String>,
}

impl From<Outline> for Data {
    fn from(outline: Outline) -> Self {
        let tags = outline.tag_names();
        Self { id: outline.id, name: outline.name, active: outline.active, node_count: outline.nodes, tags }
    }
}

fn one_node(message: &str, id: &str, whole: &Whole, wanted: &str) -> Result<String, Error> {
    let Some(node) = whole.node(wanted) else {
        let names = nearest("Nodes", wanted, &whole.node_names());
        return Err(Error::NotThere(format!("Node '{wanted}' not found in workflow '{id}'. {names}")));
    };
    let word = |member| whole.text(member).map_or_else(Excerpt::null, |text| text.as_str().into());
    let members = vec![("id", word("id")), ("name", word("name")), ("node", node.clone())];
    Ok(raw::show(message, &Excerpt::object(members), &[]))
}
