//! `get_workflow_connections`: which node feeds which.

use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;

use super::{ID, MAX_RAW_TOKENS, RAW, there};
use crate::budget::{self, Entry};
use crate::json::{Excerpt, Projection};
use crate::n8n::Progress;
use crate::toolkit::answer::{self, DEFAULT_TOKENS, Truncated, paged};
use crate::toolkit::{Answers, Arguments, Effect, Kind, Locale, Parameter};
use crate::tools::{Call, Context, Tool};
use crate::workflow::graph::{Graph, GraphNode};
use crate::workflow::projections::GraphProjection;

/// The tool.
pub static TOOL: Tool = Tool {
    name: "get_workflow_connections",
    title: "Show a workflow's connections",
    description: "Show how the nodes of an n8n workflow are connected: for each node the names of its inputs and \
                  outputs; connections other than main are named with their type.",
    parameters: &[
        ID,
        Parameter::optional(
            "offset",
            Kind::Integer { range: 0..=u64::MAX, default: Some(0) },
            "Skip so many nodes; take it from truncated.nextOffset.",
        ),
        Parameter { description: "Add n8n's own connections.", ..RAW },
    ],
    ignored: &[],
    answers: Answers::Envelope,
    effect: Effect::Read,
    max_result_chars: Some(120_000),
    call,
};

fn call(context: Arc<Context>, arguments: Arguments, progress: Progress) -> Call {
    Box::pin(async move {
        let id = arguments.text("id").unwrap_or_default();
        let offset = usize::try_from(arguments.integer("offset").unwrap_or(0)).unwrap_or(usize::MAX);
        let raw = arguments.flag("raw");
        let locale = context.locale;
        let projection =
            GraphProjection.map(move |read| read.map(|graph| graph.map(|graph| answer(locale, &graph, offset, raw))));
        there(context.n8n.read_workflow(&id, false, &projection, &progress).await?)
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Data<'a> {
    id: &'a str,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<Truncated>,
    graph: Box<RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw_connections: Option<Box<RawValue>>,
}

/// The answer as it is sent: the graph first, and n8n's object in what room that leaves, at least half.
fn answer(locale: Locale, graph: &Graph, offset: usize, raw: bool) -> String {
    let message = locale.choose("ワークフロー接続情報を取得しました", "Workflow connections retrieved");
    let nodes = graph.nodes.get(offset..).unwrap_or_default();
    let entries: Vec<_> = nodes.iter().map(entry).collect();
    let data = |page: &budget::Page, raw_connections: Option<&budget::Page>| Data {
        id: &graph.id,
        name: &graph.name,
        truncated: truncated(page, nodes.len(), offset, raw_connections),
        graph: answer::json(&format!("[{}]", page.text)),
        raw_connections: raw_connections.map(|page| answer::json(&page.text)),
    };
    let Some(connections) = graph.connections.as_ref().filter(|_| raw) else {
        return paged(&entries, DEFAULT_TOKENS, |page| answer::success(message, &data(page, None))).text;
    };
    let shown = paged(&entries, MAX_RAW_TOKENS / 2, |page| answer::success(message, &data(page, None))).page;
    let connections = [Entry { value: connections.clone(), tag: None }];
    paged(&connections, MAX_RAW_TOKENS, |page| answer::success(message, &data(&shown, Some(page)))).text
}

fn truncated(graph: &budget::Page, nodes: usize, offset: usize, raw: Option<&budget::Page>) -> Option<Truncated> {
    let mut reasons = Vec::new();
    let omitted = nodes - graph.shown;
    if omitted > 0 {
        reasons.push(format!("{omitted} more nodes: ask again with nextOffset as offset"));
    }
    let clipped = graph.clipped + raw.map_or(0, |raw| raw.clipped);
    if raw.is_some_and(|raw| raw.clipped > 0) {
        reasons.push("rawConnections are clipped: never write them back".to_owned());
    }
    if graph.clipped > 0 {
        reasons.push("lists of neighbours are clipped".to_owned());
    }
    (!reasons.is_empty()).then(|| Truncated {
        reason: reasons.join("; "),
        next_offset: (omitted > 0).then_some((offset + graph.shown) as u64),
        clipped_values: (clipped > 0).then_some(clipped),
    })
}

fn entry(node: &GraphNode) -> Entry {
    let names = |names: &[String]| Excerpt::array(names.iter().map(|name| Excerpt::from(name.as_str())));
    let value = Excerpt::object(vec![
        ("node", Excerpt::from(node.name.as_str())),
        ("id", Excerpt::from(node.id.as_str())),
        ("type", Excerpt::from(node.node_type.as_str())),
        ("inputs", names(&node.inputs)),
        ("outputs", names(&node.outputs)),
    ]);
    Entry { value, tag: None }
}
