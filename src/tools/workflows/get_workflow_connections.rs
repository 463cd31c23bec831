//! `get_workflow_connections`: which output of a node leads to which input of another.

use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;

use super::{ID, MAX_RAW_TOKENS, require_workflow};
use crate::budget::{self, Entry};
use crate::json::{CUT_NAME_CHARS, Excerpt, Projection, cut_name, quoted_name};
use crate::n8n::Progress;
use crate::toolkit::answer::{self, DEFAULT_TOKENS, Truncated, paged};
use crate::toolkit::{Effect, Flag, Integer, Locale, Offset, Text, arguments, nearest};
use crate::tools::{Context, Error, Handler, Tool, ToolCall};
use crate::workflow::graph::{Graph, GraphNode, GraphProjection};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "get_workflow_connections",
    title: "Show a workflow's connections",
    description: "Show how the nodes of an n8n workflow are connected: each node with its inputs and outputs, such as \
                  \"Ship (output 1: false)\" or \"Agent (ai_tool)\".",
    parameters: GetWorkflowConnections::PARAMETERS,
    effect: Effect::Read,
    handler: Handler::of::<GetWorkflowConnections>().with_large_answers(),
};

arguments! {
    struct GetWorkflowConnections {
        id: Text = ID,
        node: Option<Text> = "Only this node, by name or id; limit and offset then count its neighbours.",
        limit: Option<Integer<1, MAX_LIMIT>> = "At most this many nodes.",
        offset: Offset = "Skip this many nodes; take it from truncated.nextOffset.",
        raw: Option<Flag> = "Add n8n's own connections.",
    }
}

/// No answer has room for more.
const MAX_LIMIT: u64 = 10_000;

impl ToolCall for GetWorkflowConnections {
    async fn run(self, context: Arc<Context>, progress: Progress) -> Result<String, Error> {
        let view = View {
            node: self.node,
            offset: usize::try_from(self.offset).unwrap_or(0),
            limit: self.limit.map_or(usize::MAX, |limit| limit as usize),
            raw: self.raw.unwrap_or(false),
            locale: context.locale,
        };
        let projection = GraphProjection.map(move |read| read.map(|graph| graph.map(|graph| view.answer(&graph))));
        require_workflow(context.n8n()?.read_workflow(&self.id, false, &projection, &progress).await?)?
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ConnectionsAnswer<'a> {
    id: &'a str,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<Truncated>,
    graph: Box<RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw_connections: Option<Box<RawValue>>,
}

/// What the caller wants to see.
#[derive(Clone)]
struct View {
    /// One node, whose neighbours are paged; otherwise the nodes themselves are.
    node: Option<String>,
    offset: usize,
    limit: usize,
    raw: bool,
    locale: Locale,
}

impl View {
    fn message(&self) -> &'static str {
        self.locale.choose("ワークフロー接続情報を取得しました", "Workflow connections retrieved")
    }

    fn answer(&self, graph: &Graph) -> Result<String, Error> {
        let Some(wanted) = &self.node else {
            let list = Listed { what: "nodes", total: graph.nodes.len(), entries: self.entries(&graph.nodes, entry) };
            return Ok(self.page(graph, &list, |page| format!("[{}]", page.text)));
        };
        let node = find(graph, wanted)?;
        let neighbours: Vec<_> = node.inputs.iter().chain(&node.outputs).collect();
        let text = |name: &&String| Entry { value: Excerpt::from(name.as_str()), tag: None };
        let entries = self.entries(&neighbours, text);
        let list = Listed { what: "neighbours", total: neighbours.len(), entries };
        let inputs = node.inputs.len().saturating_sub(self.offset);
        Ok(self.page(graph, &list, |page| one_node(node, page, inputs)))
    }

    /// The entries of the page that was requested.
    fn entries<T>(&self, all: &[T], entry: impl Fn(&T) -> Entry) -> Vec<Entry> {
        all.iter().skip(self.offset).take(self.limit).map(entry).collect()
    }

    /// The answer: the page first, and n8n's own object in the room that it leaves, at least half.
    fn page(&self, graph: &Graph, list: &Listed, write: impl Fn(&budget::Page) -> String) -> String {
        let data = |page: &budget::Page, raw: Option<&budget::Page>| ConnectionsAnswer {
            id: &graph.id,
            name: &graph.name,
            truncated: self.truncated(list, page, raw),
            graph: answer::json(&write(page)),
            raw_connections: raw.map(|page| answer::json(&page.text)),
        };
        let Some(connections) = graph.connections.as_ref().filter(|_| self.raw) else {
            return paged(&list.entries, DEFAULT_TOKENS, |page| answer::success(self.message(), &data(page, None)))
                .text;
        };
        let half = MAX_RAW_TOKENS / 2;
        let shown = paged(&list.entries, half, |page| answer::success(self.message(), &data(page, None))).page;
        let connections = [Entry { value: connections.clone(), tag: None }];
        let both = |raw: &budget::Page| answer::success(self.message(), &data(&shown, Some(raw)));
        paged(&connections, MAX_RAW_TOKENS, both).text
    }

    fn truncated(&self, list: &Listed, page: &budget::Page, raw: Option<&budget::Page>) -> Option<Truncated> {
        let Listed { what, total, .. } = list;
        let mut reasons = Vec::new();
        let omitted = total.saturating_sub(self.offset.saturating_add(page.shown));
        if omitted > 0 {
            reasons.push(format!("{omitted} more {what}: call again with nextOffset as offset"));
        }
        if self.offset > 0 && self.offset >= *total {
            reasons.push(format!("offset {} is beyond the end: there are {total} {what}", self.offset));
        }
        if raw.is_some_and(|raw| raw.clipped > 0) {
            reasons.push("rawConnections are clipped: never write them back".to_owned());
        }
        if page.clipped > 0 {
            let hint =
                if self.node.is_some() { "ask for fewer with limit" } else { "page through one node's with node" };
            reasons.push(format!("neighbours are clipped: {hint}"));
        }
        let clipped = page.clipped + raw.map_or(0, |raw| raw.clipped);
        (!reasons.is_empty()).then(|| Truncated {
            reason: reasons.join("; "),
            next_offset: (omitted > 0).then_some((self.offset + page.shown) as u64),
            clipped_values: (clipped > 0).then_some(clipped),
        })
    }
}

/// A list that an answer shows page by page.
struct Listed {
    /// What its entries are, for a sentence.
    what: &'static str,
    /// Entries in total.
    total: usize,
    /// The elements of the list, starting with the page's first one.
    entries: Vec<Entry>,
}

fn find<'a>(graph: &'a Graph, wanted: &str) -> Result<&'a GraphNode, Error> {
    let name = cut_name(wanted.to_owned());
    let by_name = graph.nodes.iter().find(|node| node.name == name);
    by_name.or_else(|| graph.nodes.iter().find(|node| node.id == *wanted)).ok_or_else(|| {
        let names: Vec<_> = graph.nodes.iter().map(|node| node.name.clone()).collect();
        let nearest = nearest("Nodes", wanted, &names);
        let wanted = quoted_name(wanted, CUT_NAME_CHARS);
        Error::FailedPrecondition(format!("Node {wanted} not found in workflow '{}'. {nearest}", graph.id))
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

/// A graph with one node; of its neighbours on the page, the first `inputs` are inputs.
fn one_node(node: &GraphNode, page: &budget::Page, inputs: usize) -> String {
    #[derive(Serialize)]
    struct Node<'a> {
        node: &'a str,
        id: &'a str,
        r#type: &'a str,
        inputs: &'a [&'a RawValue],
        outputs: &'a [&'a RawValue],
    }
    let text = format!("[{}]", page.text);
    let neighbours: Vec<&RawValue> = serde_json::from_str(&text).unwrap_or_default();
    let (inputs, outputs) = neighbours.split_at(inputs.min(neighbours.len()));
    let node = Node { node: &node.name, id: &node.id, r#type: &node.node_type, inputs, outputs };
    // Keys are strings and no value can fail: there is nothing to report.
    serde_json::to_string(&[node]).unwrap_or_default()
}
