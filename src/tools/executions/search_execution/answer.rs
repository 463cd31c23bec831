//! The answer of a search within its budget.

use serde::Serialize;
use serde_json::value::RawValue;

use super::super::no_data::no_values;
use super::SearchRequest;
use crate::budget::Ladder;
use crate::execution::search::{Hit, NodeHits, SearchView};
use crate::json::{CUT_NAME_CHARS, WALKED_LEVELS, shorten, shorten_name};
use crate::toolkit::answer::{Truncated, is_zero, json, success};
use crate::units::counted;

/// The answer as it is sent: as many hits as fit, and the nodes in which they are.
pub(super) fn compose(view: &SearchView, request: &SearchRequest) -> String {
    // No entry takes less than one token.
    let nodes = view.nodes.len().min(request.max_tokens);
    let most = HitLimits { hits: view.hits.len(), nodes, chars: CUT_NAME_CHARS };
    let write = |limits| success(message(request), &data(view, request, limits));
    most.ladder().largest_that_fits(request.max_tokens, write).answer
}

fn message(request: &SearchRequest) -> &'static str {
    request.locale.choose("実行データを検索しました", "Execution searched")
}

/// How much is shown.
#[derive(Clone, Copy)]
struct HitLimits {
    hits: usize,
    nodes: usize,
    /// The most characters of a name, a path or a value.
    chars: usize,
}

impl HitLimits {
    const MIN_CHARS: usize = 12;

    /// Fewer hits, shorter texts, no hits. The nodes, which take few tokens and say most, are dropped last.
    fn ladder(self) -> Ladder<Self> {
        Ladder::new(self)
            .fewer(|limits| &mut limits.hits, |hits| hits * 7 / 8, 5)
            .shorter(|limits| &mut limits.chars, |chars| chars * 3 / 4, 40)
            .fewer(|limits| &mut limits.hits, |hits| hits - 1, 0)
            .shorter(|limits| &mut limits.chars, |chars| chars * 3 / 4, Self::MIN_CHARS)
            .fewer(|limits| &mut limits.nodes, |nodes| nodes * 7 / 8, 0)
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SearchAnswer {
    total: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<Truncated>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    per_node: Vec<ShownNode>,
    hits: Vec<ShownHit>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownNode {
    node_name: String,
    hits: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    outputs: Vec<u64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownHit {
    node_name: String,
    #[serde(skip_serializing_if = "is_zero")]
    run: u64,
    #[serde(skip_serializing_if = "is_zero")]
    output: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    item: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<&'static str>,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    other: Option<Box<RawValue>>,
}

fn data(view: &SearchView, request: &SearchRequest, limits: HitLimits) -> SearchAnswer {
    let node = |node: &NodeHits| ShownNode {
        node_name: shorten_name(&node.name, limits.chars),
        hits: node.hits,
        outputs: if node.outputs.len() > 1 { node.outputs.clone() } else { Vec::new() },
    };
    let mut clipped = 0;
    let hits = view.hits.iter().take(limits.hits).map(|hit| shown_hit(hit, limits, &mut clipped)).collect();
    SearchAnswer {
        total: view.total,
        truncated: truncated(view, request, limits, clipped),
        notes: no_values(&view.header, &view.names, view.redacted),
        per_node: view.nodes.iter().take(limits.nodes).map(node).collect(),
        hits,
    }
}

fn shown_hit(hit: &Hit, limits: HitLimits, clipped: &mut u64) -> ShownHit {
    let mut value = |value: &Option<String>| {
        let value = value.as_deref()?;
        if limits.chars >= CUT_NAME_CHARS || value.len() <= limits.chars {
            return Some(json(value));
        }
        *clipped += 1;
        let text = serde_json::from_str::<String>(value).unwrap_or_else(|_| value.to_owned());
        Some(json(&serde_json::Value::from(shorten(&text, limits.chars)).to_string()))
    };
    ShownHit {
        node_name: shorten_name(&hit.node, limits.chars),
        run: hit.run,
        output: hit.output,
        item: hit.item,
        part: hit.in_input.then_some("input"),
        path: shorten(&hit.path, limits.chars.max(HitLimits::MIN_CHARS)),
        value: value(&hit.value),
        other: value(&hit.other),
    }
}

/// What the limits leave out, and how to see it.
fn truncated(view: &SearchView, request: &SearchRequest, limits: HitLimits, clipped: u64) -> Option<Truncated> {
    let mut reasons = Vec::new();
    // A caller that requests no hits misses none.
    let more = if request.projection.limit == 0 { 0 } else { view.total - limits.hits as u64 };
    if more > 0 {
        let advice = match view.hits.len() > limits.hits {
            true => "use a larger maxTokens, or narrow the search with nodeName, path or a condition",
            false if request.projection.limit as u64 == super::MAX_HITS => {
                "narrow the search with nodeName, path or a condition"
            }
            false => "raise limit, or narrow the search with nodeName, path or a condition",
        };
        reasons.push(format!(
            "There {} {}: {advice}.",
            if more == 1 { "is" } else { "are" },
            counted(more, "more hit", "more hits")
        ));
    }
    let nodes = view.nodes.len() - limits.nodes;
    if nodes > 0 {
        reasons.push(counted(nodes, "more node has hits.", "more nodes have hits."));
    }
    if clipped > 0 {
        reasons.push("Names and values were clipped: a larger maxTokens shows more of them.".to_owned());
    }
    if view.too_large > 0 {
        let items = counted(
            view.too_large,
            "item of more than 1 MiB was not searched.",
            "items of more than 1 MiB were not searched.",
        );
        reasons.push(items);
    }
    if view.too_deep > 0 {
        reasons.push(format!("Values nested deeper than {WALKED_LEVELS} levels were not searched."));
    }
    let clipped_values = (clipped > 0).then_some(clipped);
    (!reasons.is_empty()).then(|| Truncated { reason: reasons.join(" "), next_offset: None, clipped_values })
}
