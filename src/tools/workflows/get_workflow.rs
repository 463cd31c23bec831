//! `get_workflow`: one workflow, as a summary, in full, or one of its nodes.

use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;

use super::{ID, RAW, raw, require_workflow};
use crate::budget::{Entry, Page};
use crate::json::{CUT_NAME_CHARS, Excerpt, Projection, quoted_name};
use crate::n8n::Progress;
use crate::toolkit::answer::{self, DEFAULT_TOKENS, Truncated, paged};
use crate::toolkit::{Effect, Flag, Locale, Text, arguments, nearest};
use crate::tools::{Context, Error, Handler, Tool, ToolCall};
use crate::units::counted;
use crate::workflow::PublishedVersion;
use crate::workflow::node::{NodeLookup, NodeLookupProjection};
use crate::workflow::outline::{Outline, OutlineProjection};
use crate::workflow::raw::RawProjection;

/// The tool.
pub static TOOL: Tool = Tool {
    name: "get_workflow",
    title: "Get a workflow",
    description: "Get one n8n workflow: name, active, tags and number of nodes. raw: true shows nodes, connections and \
                  settings; node shows one node in full. For a workflow file, use workflow_load (toolset \
                  builder).",
    parameters: GetWorkflow::PARAMETERS,
    effect: Effect::Read,
    handler: Handler::of::<GetWorkflow>().with_large_answers(),
};

arguments! {
    struct GetWorkflow {
        id: Text = ID,
        node: Option<Text> = "Show only this node, by name or id, with all its keys.",
        raw: Option<Flag> = RAW,
    }
}

impl ToolCall for GetWorkflow {
    async fn run(self, context: Arc<Context>, progress: Progress) -> Result<String, Error> {
        let (n8n, locale, id) = (context.n8n()?, context.locale, self.id);
        // Clipping takes time, so it runs on the reading thread.
        if let Some(wanted) = self.node {
            let projection = NodeLookupProjection { node: wanted.clone() }
                .map(move |read| read.map(|found| found.map(|found| node(message(locale), &found, &wanted))));
            return require_workflow(n8n.read_workflow(&id, false, &projection, &progress).await?)?;
        }
        if self.raw == Some(true) {
            let projection = RawProjection
                .map(move |read| read.map(|workflow| workflow.map(|workflow| raw::answer(message(locale), &workflow))));
            return require_workflow(n8n.read_workflow(&id, true, &projection, &progress).await?);
        }
        let projection = OutlineProjection
            .map(move |read| read.map(|outline| outline.map(|outline| small(message(locale), &outline))));
        require_workflow(n8n.read_workflow(&id, false, &projection, &progress).await?)
    }
}

fn message(locale: Locale) -> &'static str {
    locale.choose("ワークフローを取得しました", "Workflow retrieved")
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WorkflowAnswer<'a> {
    id: &'a str,
    name: &'a str,
    active: bool,
    published_version: PublishedVersion,
    node_count: u64,
    tags: Box<RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<Truncated>,
}

fn small(message: &str, outline: &Outline) -> String {
    let tags: Vec<_> = outline.tag_names().map(|value| Entry { value, tag: None }).collect();
    let write = |page: &Page| {
        let left_out = outline.tags() - page.shown as u64;
        let reason = counted(left_out, "more tag", "more tags");
        let data = WorkflowAnswer {
            id: &outline.id,
            name: &outline.name,
            active: outline.active,
            published_version: outline.published,
            node_count: outline.nodes,
            tags: answer::json(&format!("[{}]", page.text)),
            truncated: (left_out > 0).then_some(Truncated { reason, next_offset: None, clipped_values: None }),
        };
        answer::success(message, &data)
    };
    paged(&tags, DEFAULT_TOKENS, write).text
}

fn node(message: &str, found: &NodeLookup, wanted: &str) -> Result<String, Error> {
    let Some(node) = &found.node else {
        let names = nearest("Nodes", wanted, &found.names);
        let wanted = quoted_name(wanted, CUT_NAME_CHARS);
        return Err(Error::FailedPrecondition(format!("Node {wanted} not found in workflow '{}'. {names}", found.id)));
    };
    let word = |text: &String| Excerpt::from(text.as_str());
    let members = vec![("id", word(&found.id)), ("name", word(&found.name)), ("node", node.clone())];
    Ok(raw::show(message, &Excerpt::object(members), &[], "this node does not fit"))
}
