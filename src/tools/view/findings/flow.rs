//! What a node did with its items that may not be intended.

use serde_json::json;

use super::sentence::{Sentence, counted, grouped, place};
use super::unescaped;
use crate::execution::summary::NodeSummary;
use crate::json::shorten;
use crate::toolkit::Locale;

/// A node as these sentences see it.
pub(in crate::tools::view) struct NodeFlow<'a> {
    pub summary: &'a NodeSummary,
    /// How many of its runs failed, and the first of them, if that is known.
    pub failed: Option<(u64, u64)>,
    /// The labels that n8n gives its outputs.
    pub labels: &'a [String],
}

/// The sentences about a node. `ended`: its failure ended the execution, which is reported elsewhere.
pub(in crate::tools::view) fn of_flow(flow: &NodeFlow<'_>, ended: bool, locale: Locale) -> Vec<Sentence> {
    let NodeFlow { summary, failed, labels } = flow;
    let name = || Sentence::default().strong(&summary.name).text(": ");
    let mut found = Vec::new();
    if let Some((count, first)) = failed.filter(|(count, _)| *count > 0 && !ended) {
        let words = counted(
            locale,
            count,
            "{} ランが失敗し、そのまま続行しました",
            "{} run failed, and it went on",
            "{} runs failed, and it went on",
        );
        found.push(name().link(words, place(&summary.name, &json!({ "run": first }))));
    } else if summary.failed && failed.is_none() && !ended {
        let words = locale.choose("失敗し、そのまま続行しました", "it failed, and the execution went on");
        found.push(name().link(words, place(&summary.name, &json!({}))));
    }
    if let Some(items) = &summary.error_items {
        let words = counted(
            locale,
            items.count,
            "{} 件が失敗し、そのまま続行しました:",
            "{} item failed, and it went on:",
            "{} items failed, and it went on:",
        );
        let first = &items.first;
        let to = place(&summary.name, &json!({"run": first.run, "out": first.output, "item": first.item}));
        let message = shorten(&unescaped(&first.message.cut(usize::MAX).0), 200);
        found.push(name().link(words, to).text(format!(" {message}")));
    }
    // Items that a Filter discards lead nowhere on purpose.
    let is_filter = summary.node_type.as_deref().is_some_and(|name| name.ends_with(".filter"));
    for output in summary.unconnected.iter().filter(|_| !is_filter) {
        let at = usize::try_from(*output).unwrap_or(usize::MAX);
        let items = summary.outputs.get(at).copied().unwrap_or(if at == 0 { summary.items } else { 0 });
        let words =
            counted(locale, items, "{} 件に行き先がありません", "{} item leads nowhere", "{} items lead nowhere");
        let label = labels.get(at).map_or_else(|| output.to_string(), |label| shorten(label, 30));
        let after = locale.choose(format!("（出力「{label}」）"), format!("after the output “{label}”"));
        found.push(name().link(words, place(&summary.name, &json!({ "out": output }))).text(format!(" {after}")));
    }
    if summary.empty_runs > 0 && summary.empty_runs < summary.runs {
        let (empty, runs) = (grouped(summary.empty_runs), grouped(summary.runs));
        let words = locale.choose(
            format!("{runs} ラン中 {empty} が何も返しませんでした"),
            format!("{empty} of {runs} runs returned nothing"),
        );
        found.push(name().link(words, place(&summary.name, &json!({}))));
    }
    found
}
