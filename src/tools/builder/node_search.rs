//! `node_search`: finds the node type for a task.

use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::answer::plain;
use super::catalogue_cache::HOW_TO_BUILD;
use crate::blocking::blocking;
use crate::budget::{Entry, Page};
use crate::json::{Cursor, Excerpt};
use crate::n8n::{Progress, WorkflowQuery};
use crate::toolkit::answer::{json as written, paged};
use crate::toolkit::{Effect, Text, arguments};
use crate::tools::{Context, Error, Handler, Tool, ToolCall};
use crate::workflow::catalogue::{NodeType, Query};
use crate::workflow::used_types::UsedTypesProjection;

/// The most nodes in an answer.
const MAX_NODES: usize = 25;

/// The most parameters of a node in an answer.
const MAX_PARAMETERS: usize = 8;

/// The most options of a parameter in an answer.
const MAX_OPTIONS: usize = 12;

/// The token budget of this tool.
const MAX_TOKENS: usize = 5000;

/// How many workflows are searched for node types if there is no catalogue.
const WORKFLOWS: u64 = 250;

/// What to do if nothing was found.
const NO_RESULTS: &str =
    "No node type matches. Use English words for what the node does or for the service it calls, or drop the filters.";

/// The tool.
pub static TOOL: Tool = Tool {
    name: "node_search",
    title: "Search node types",
    description: "Find n8n node types by what they do, such as \"send slack message\": id (the full type), name, \
                  description, essential parameters.",
    parameters: NodeSearch::PARAMETERS,
    effect: Effect::Read,
    handler: Handler::of::<NodeSearch>().answering(&[("count", "integer"), ("nodes", "array")]),
};

arguments! {
    struct NodeSearch {
        category: Option<Text> = "Only in this category, such as AI or Communication.",
        keyword: Option<Text> = "What to look for, in words.",
        functionality: Option<Text> = "Only of this kind: trigger, transform, output, or a subcategory.",
    }
}

impl ToolCall for NodeSearch {
    async fn run(self, context: Arc<Context>, progress: Progress) -> Result<String, Error> {
        let Self { category, keyword, functionality } = self;
        let query = Query { keyword, category, functionality };
        let cache = context.catalogue.clone();
        let searched = blocking(move || {
            let Some(catalogue) = cache.catalogue()? else { return Ok::<_, Error>(Err(query)) };
            let found = catalogue.search(&query);
            let note = found.is_empty().then_some(NO_RESULTS);
            Ok(Ok(answer(found.into_iter().take(MAX_NODES).map(node), note)))
        });
        match searched.await? {
            Ok(found) => Ok(found),
            Err(query) => used_types(&context, &query, &progress).await,
        }
    }
}

#[derive(Serialize)]
struct FoundNodeTypes {
    count: usize,
    nodes: Box<RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

fn answer(nodes: impl Iterator<Item = Value>, note: Option<&str>) -> String {
    let entries: Vec<_> = nodes.filter_map(|node| entry(&node)).collect();
    let write = |page: &Page| {
        let nodes = written(&format!("[{}]", page.text));
        plain(&FoundNodeTypes { count: page.shown, nodes, note: note.map(str::to_owned) })
    };
    paged(&entries, MAX_TOKENS, write).text
}

fn entry(node: &Value) -> Option<Entry> {
    const NODE_BYTES: usize = 64 * 1024;
    let value: Excerpt = Cursor::unpruned(node.to_string().as_bytes()).excerpt(NODE_BYTES).ok()?;
    Some(Entry { value, tag: None })
}

fn node(node: &NodeType) -> Value {
    let parameters = node.parameters.iter().take(MAX_PARAMETERS).map(|parameter| {
        let mut shown = json!({"name": parameter.name, "type": parameter.kind});
        if parameter.required {
            shown["required"] = true.into();
        }
        if let Some(default) = &parameter.default {
            shown["default"] = default.clone();
        }
        if !parameter.options.is_empty() {
            shown["options"] = parameter.options.iter().take(MAX_OPTIONS).cloned().collect();
        }
        shown
    });
    json!({
        "id": node.node_type,
        "name": node.display_name,
        "description": node.description,
        "parameters": parameters.collect::<Vec<_>>(),
        "categories": node.categories,
    })
}

/// The answer without a catalogue: the node types that this n8n's workflows use.
async fn used_types(context: &Context, query: &Query, progress: &Progress) -> Result<String, Error> {
    let page = WorkflowQuery { limit: WORKFLOWS, ..WorkflowQuery::default() };
    let used = context.n8n()?.read_workflows(&page, &UsedTypesProjection, progress).await??;
    let wanted: Vec<_> =
        query.keyword.iter().flat_map(|words| words.split_whitespace()).map(str::to_lowercase).collect();
    let fits = |name: &str| wanted.is_empty() || wanted.iter().any(|word| name.to_lowercase().contains(word));
    let nodes = used.into_iter().filter(|name| fits(name)).take(MAX_NODES);
    let nodes = nodes.map(|name| json!({"id": name, "name": name.rsplit('.').next(), "description": "", "parameters": [], "categories": []}));
    let note = format!("{HOW_TO_BUILD} Until then, these are the types that this n8n's workflows use.");
    Ok(answer(nodes, Some(&note)))
}
