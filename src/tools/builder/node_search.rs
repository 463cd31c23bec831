//! `node_search`: the right node type for what somebody wants to do.

use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::answer::plain;
use super::shelf::HOW_TO_BUILD;
use crate::blocking::blocking;
use crate::budget::{Entry, Page};
use crate::json::{Cursor, Excerpt};
use crate::n8n::{Progress, WorkflowQuery};
use crate::toolkit::answer::{json as written, paged};
use crate::toolkit::{Answers, Arguments, Effect, Kind, Parameter};
use crate::tools::{Call, Context, Error, Tool};
use crate::workflow::catalogue::{NodeType, Query};
use crate::workflow::projections::UsedTypesProjection;

/// Nodes in an answer.
const NODES: usize = 25;

/// Parameters of a node in an answer.
const PARAMETERS: usize = 8;

/// Options of a parameter in an answer.
const OPTIONS: usize = 12;

/// The budget of this tool, tokens.
const MAX_TOKENS: usize = 5000;

/// Workflows whose node types are looked at where there is no catalogue.
const WORKFLOWS: u64 = 250;

/// What to do where nothing was found.
const NOTHING: &str =
    "Nothing fits: use English words for what the node does or the service it talks to, or leave filters out.";

/// The tool.
pub static TOOL: Tool = Tool {
    name: "node_search",
    title: "Search node types",
    description: "Find n8n node types by what they do, such as \"send slack message\": id (the full type), name, \
                  description, essential parameters.",
    parameters: &[
        Parameter::optional("category", Kind::Text, "Only of this category, such as AI or Communication."),
        Parameter::optional("keyword", Kind::Text, "What to look for, in words."),
        Parameter::optional(
            "functionality",
            Kind::Text,
            "Only of this kind: trigger, transform, output, a subcategory.",
        ),
    ],
    ignored: &[],
    answers: Answers::Plain(&[("count", "integer"), ("nodes", "array")]),
    effect: Effect::Read,
    max_result_chars: None,
    call,
};

fn call(context: Arc<Context>, arguments: Arguments, progress: Progress) -> Call {
    Box::pin(async move {
        let query = Query {
            keyword: arguments.text("keyword"),
            category: arguments.text("category"),
            functionality: arguments.text("functionality"),
        };
        let shelf = context.shelf.clone();
        let searched = blocking(move || {
            let Some(catalogue) = shelf.catalogue()? else { return Ok::<_, Error>(Err(query)) };
            let found = catalogue.search(&query);
            let note = found.is_empty().then_some(NOTHING);
            Ok(Ok(answer(found.into_iter().take(NODES).map(node), note)))
        });
        match searched.await? {
            Ok(found) => Ok(found),
            Err(query) => used_types(&context, &query, &progress).await,
        }
    })
}

#[derive(Serialize)]
struct Data {
    count: usize,
    nodes: Box<RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

fn answer(nodes: impl Iterator<Item = Value>, note: Option<&str>) -> String {
    let entries: Vec<_> = nodes.filter_map(|node| entry(&node)).collect();
    let write = |page: &Page| {
        let nodes = written(&format!("[{}]", page.text));
        plain(&Data { count: page.shown, nodes, note: note.map(str::to_owned) })
    };
    paged(&entries, MAX_TOKENS, write).text
}

fn entry(node: &Value) -> Option<Entry> {
    const NODE_BYTES: usize = 64 * 1024;
    let value: Excerpt = Cursor::unpruned(node.to_string().as_bytes()).excerpt(NODE_BYTES).ok()?;
    Some(Entry { value, tag: None })
}

fn node(node: &NodeType) -> Value {
    let parameters = node.parameters.iter().take(PARAMETERS).map(|parameter| {
        let mut shown = json!({"name": parameter.name, "type": parameter.kind});
        if parameter.required {
            shown["required"] = true.into();
        }
        if let Some(default) = &parameter.default {
            shown["default"] = default.clone();
        }
        if !parameter.options.is_empty() {
            shown["options"] = parameter.options.iter().take(OPTIONS).cloned().collect();
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

/// Without a catalogue: the types that the workflows of this n8n use.
async fn used_types(context: &Context, query: &Query, progress: &Progress) -> Result<String, Error> {
    let page = WorkflowQuery { limit: WORKFLOWS, ..WorkflowQuery::default() };
    let used = context.n8n.read_workflows(&page, &UsedTypesProjection, progress).await??;
    let wanted: Vec<_> =
        query.keyword.iter().flat_map(|words| words.split_whitespace()).map(str::to_lowercase).collect();
    let fits = |name: &str| wanted.is_empty() || wanted.iter().any(|word| name.to_lowercase().contains(word));
    let nodes = used.into_iter().filter(|name| fits(name)).take(NODES);
    let nodes = nodes.map(|name| json!({"id": name, "name": name.rsplit('.').next(), "description": "", "parameters": [], "categories": []}));
    let note = format!("{HOW_TO_BUILD} These are the types that this n8n's workflows use.");
    Ok(answer(nodes, Some(&note)))
}
