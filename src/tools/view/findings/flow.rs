//! What nodes did with their items that a person may not have meant.

use serde_json::json;

use super::sentence::{Sentence, counted, number, place};
use crate::execution::is_failure;
use crate::execution::summary::{NodeSummary, Summary};
use crate::json::shorten;
use crate::toolkit::Locale;

/// The most sentences; the others are counted.
const MOST: usize = 5;

/// The sentences about nodes, the most serious first. Failures leave out the node that `error` names and crashed nodes; other
/// sentences cover them.
pub(in crate::tools::view) fn of_flow(summary: &Summary, locale: Locale) -> Vec<Sentence> {
    let error = summary.error.as_ref();
    let ended = match error {
        Some(_) => Ended::ByAnother,
        None if summary.header.status.as_deref().is_some_and(is_failure) => Ended::Unknown,
        None => Ended::No,
    };
    let mut nodes: Vec<_> = summary.nodes.iter().map(|summary| Flow { summary, locale }).collect();
    nodes.sort_by_key(|flow| flow.summary.position);
    let is_covered = |node: &NodeSummary| {
        node.status == "crashed"
            || error.is_some_and(|error| error.node_name.as_ref().is_none_or(|name| *name == node.name))
    };
    let failed = nodes.iter().filter(|flow| !is_covered(flow.summary)).filter_map(|flow| flow.failed(ended));
    let found = failed
        .chain(nodes.iter().filter_map(Flow::error_items))
        .chain(nodes.iter().flat_map(Flow::unconnected))
        .chain(nodes.iter().filter_map(Flow::empty_runs));
    let mut found: Vec<_> = found.collect();
    let more = found.len().saturating_sub(MOST) as u64;
    found.truncate(MOST);
    if more > 0 {
        found.push(Sentence::default().text(counted(locale, more, "ほか {} 件", "{} more", "{} more")));
    }
    found
}

/// Whether it is a Filter: what it discards leads nowhere on purpose.
pub(in crate::tools::view) fn is_filter(node: &NodeSummary) -> bool {
    node.node_type.as_deref().is_some_and(|name| name.ends_with(".filter"))
}

/// How many runs returned nothing; 0 if they may be those that failed, which is said elsewhere.
pub(in crate::tools::view) fn empty_runs(node: &NodeSummary) -> u64 {
    if node.empty_runs > node.failed_runs { node.empty_runs } else { 0 }
}

/// Whether a failure ended the execution.
#[derive(Clone, Copy)]
enum Ended {
    /// That of another node.
    ByAnother,
    /// It was not stored which.
    Unknown,
    No,
}

/// A node, and the language of its sentences.
struct Flow<'n> {
    summary: &'n NodeSummary,
    locale: Locale,
}

impl Flow<'_> {
    fn name(&self) -> Sentence {
        Sentence::default().strong(&self.summary.name).text(": ")
    }

    fn failed(&self, ended: Ended) -> Option<Sentence> {
        let first = self.summary.first_failed?;
        let (ja, one, many) = match ended {
            Ended::ByAnother => ("{} ランも失敗しました", "{} run failed, too", "{} runs failed, too"),
            Ended::Unknown => ("{} ランが失敗しました", "{} run failed", "{} runs failed"),
            Ended::No => (
                "{} ランが失敗し、そのまま続行しました",
                "{} run failed, but the execution continued",
                "{} runs failed, but the execution continued",
            ),
        };
        let words = counted(self.locale, self.summary.failed_runs, ja, one, many);
        Some(self.name().link(words, place(&self.summary.name, &json!({ "run": first }))))
    }

    fn error_items(&self) -> Option<Sentence> {
        let items = self.summary.error_items.as_ref()?;
        let words = counted(
            self.locale,
            items.count,
            "{} 件が失敗し、そのまま続行しました:",
            "{} item failed, but the execution continued:",
            "{} items failed, but the execution continued:",
        );
        let first = &items.first;
        let to = json!({"run": first.run, "out": first.output, "item": first.item});
        let message = shorten(&first.message.cut(usize::MAX).0, 200);
        Some(self.name().link(words, place(&self.summary.name, &to)).text(format!(" {message}")))
    }

    fn unconnected(&self) -> impl Iterator<Item = Sentence> {
        let NodeSummary { name, outputs, output_labels: labels, items, .. } = self.summary;
        let is_filter = is_filter(self.summary);
        self.summary.unconnected.iter().filter(move |_| !is_filter).map(move |output| {
            let at = usize::try_from(*output).unwrap_or(usize::MAX);
            let items = outputs.get(at).copied().unwrap_or(if at == 0 { *items } else { 0 });
            let (ja, one, many) = ("{} 件に行き先がありません", "{} item goes nowhere", "{} items go nowhere");
            let words = counted(self.locale, items, ja, one, many);
            let label = labels.get(at).map_or_else(|| output.to_string(), |label| shorten(label, 30));
            let why =
                self.locale.choose(format!("（出力「{label}」）"), format!(": output “{label}” is not connected"));
            self.name().link(words, place(name, &json!({ "out": output }))).text(why)
        })
    }

    fn empty_runs(&self) -> Option<Sentence> {
        let NodeSummary { name, runs, .. } = self.summary;
        let empty = empty_runs(self.summary);
        (empty > 0 && empty < *runs).then(|| {
            let (empty, runs) = (number(empty), number(*runs));
            let words = self.locale.choose(
                format!("{runs} ラン中 {empty} が何も返しませんでした"),
                format!("{empty} of {runs} runs returned nothing"),
            );
            self.name().link(words, place(name, &json!({})))
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::execution::summary::SummaryProjection;
    use crate::json::Projection;

    /// An execution with nodes, each with its runs; the last one leads nowhere.
    fn summary(nodes: Value, error: Value) -> Summary {
        let names: Vec<_> = nodes.as_object().unwrap().keys().cloned().collect();
        let link = |to: &str| json!({"main": [[], [{"node": to, "type": "main", "index": 0}]]});
        let connections: Value =
            names.windows(2).map(|pair| (pair[0].clone(), link(&pair[1]))).collect::<serde_json::Map<_, _>>().into();
        let types: Vec<_> = names
            .iter()
            .map(|name| json!({"name": name, "type": "n8n-nodes-base.if", "onError": "continueRegularOutput"}))
            .collect();
        let body = json!({"id": "7", "status": if error.is_null() { "success" } else { "error" },
            "data": {"resultData": {"runData": nodes, "error": error}},
            "workflowData": {"nodes": types, "connections": connections}});
        SummaryProjection.read_from(body.to_string().as_bytes()).unwrap()
    }

    fn run(index: u64, failed: bool, first: u64) -> Value {
        let items: Vec<_> = (0..first).map(|_| json!({"json": {}})).collect();
        let status = if failed { "error" } else { "success" };
        json!({"executionIndex": index, "startTime": 1_795_226_662_000_u64 + index, "executionStatus": status, "data": {"main": [items, [{"json": {}}]]}})
    }

    #[test]
    fn the_most_serious_comes_first_and_the_cause_is_told_elsewhere() {
        let mut nodes = json!({
            "Leads": [run(0, false, 2)], "Fails": [run(1, false, 0), run(2, true, 0), run(3, true, 0)],
            "Ends": [run(4, true, 0)], "Last": [run(5, false, 0)],
        });
        let said =
            |summary: &Summary, locale| -> Vec<_> { of_flow(summary, locale).iter().map(Sentence::plain).collect() };
        let error = json!({"message": "no", "node": {"name": "Ends"}});
        let failed = summary(nodes.clone(), error);
        let leads = "Leads: 2 items go nowhere: output “true” is not connected";
        assert_eq!(said(&failed, Locale::En), ["Fails: 2 runs failed, too", leads]);
        assert_eq!(
            said(&failed, Locale::Ja),
            ["Fails: 2 ランも失敗しました", "Leads: 2 件に行き先がありません（出力「true」）"]
        );
        let good = summary(nodes.clone(), Value::Null);
        let went_on =
            ["Fails: 2 runs failed, but the execution continued", "Ends: 1 run failed, but the execution continued"];
        assert_eq!(said(&good, Locale::En), [&went_on[..], &[leads]].concat());
        let mut unknown = good;
        unknown.header.status = Some("error".to_owned());
        assert_eq!(said(&unknown, Locale::En), ["Fails: 2 runs failed", "Ends: 1 run failed", leads]);
        for at in 10..16 {
            nodes[format!("More {at}")] = json!([run(at, false, 1)]);
        }
        let many = said(&summary(nodes, Value::Null), Locale::En);
        assert_eq!((many.len(), &*many[1], &*many[5]), (6, went_on[1], "3 more"));
    }
}
