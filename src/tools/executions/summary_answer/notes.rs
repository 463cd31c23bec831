//! What a reader must know to interpret a summary.

use super::super::no_data::no_data;
use crate::execution::summary::{NodeSummary, Summary};
use crate::json::{quoted_name, shorten_name};
use crate::toolkit::Locale;
use crate::units::counted;

/// The notes of a summary, with at most `chars` characters of each name. Agents receive them in English.
pub(in crate::tools) fn notes(summary: &Summary, offset: usize, chars: usize, locale: Locale) -> Vec<String> {
    let header = &summary.header;
    let status = header.status.as_deref().unwrap_or_default();
    let mut notes = Vec::new();
    if summary.nodes.is_empty() {
        notes.push(no_data(header, locale));
    } else if offset >= summary.nodes.len() {
        let nodes = counted(summary.nodes.len(), "node", "nodes");
        notes.push(format!("offset {offset} is beyond the end: the execution has {nodes}."));
    }
    if summary.redacted {
        let redacted = locale.choose(
            "n8n がデータを秘匿しています。アイテムは数えられますが、値は含まれません。",
            "n8n redacted the data: items are counted, but their values are not included.",
        );
        notes.push(redacted.to_owned());
    }
    if header.abandoned {
        notes.push(abandoned(summary, chars, locale));
    }
    if status == "crashed" && !summary.nodes.is_empty() {
        notes.push(crashed(&summary.nodes, chars, locale));
    }
    notes.extend(copied(summary, chars, locale));
    notes
}

/// What is known of an execution that was running when n8n stopped.
fn abandoned(summary: &Summary, chars: usize, locale: Locale) -> String {
    let node = summary.current_node.as_ref().map(|node| quoted_name(node, chars));
    let place = node.map(|node| locale.choose(format!("ノード {node} の途中で"), format!("; it was at node {node}")));
    let place = place.unwrap_or_default();
    locale.choose(
        format!("n8n は{place}停止しています。この実行は再開されません。n8n は次に起動したとき、クラッシュとして記録します。"),
        format!("n8n is not running{place}. This execution does not go on: n8n marks it as crashed when it starts again."),
    )
}

/// Which data of an execution is real if n8n crashed during it.
fn crashed(nodes: &[NodeSummary], chars: usize, locale: Locale) -> String {
    const RECOVERED: &str = "from its event log, with times in whole seconds and placeholders for items";
    const RECOVERED_JA: &str = "イベントログから復元され、時刻は秒単位、アイテムは仮のものです";
    let crashed = locale.choose("この実行の途中で n8n がクラッシュしました。", "n8n crashed during this execution");
    let is_recovered = |node: &&NodeSummary| node.recovered_runs > 0;
    match (nodes.iter().filter(is_recovered).count(), nodes.iter().find(is_recovered)) {
        (0, _) | (_, None) => locale.choose(
            format!("{crashed}それまでに保存されたデータを表示しています。"),
            format!("{crashed}: what it had saved until then is shown."),
        ),
        (all, _) if all == nodes.len() => locale.choose(
            format!("{crashed}実行されたものは{RECOVERED_JA}。"),
            format!("{crashed}. What ran was recovered {RECOVERED}."),
        ),
        (1, Some(node)) => {
            let node = quoted_name(&node.name, chars);
            locale.choose(
                format!("{crashed}ノード {node} は{RECOVERED_JA}。ほかのノードは n8n が保存したとおりです。"),
                format!("{crashed}. Node {node} was recovered {RECOVERED}; the other nodes are as n8n had saved them."),
            )
        }
        (recovered, _) => {
            let all = nodes.len();
            locale.choose(
                format!("{crashed}{all} ノード中 {recovered} ノードは{RECOVERED_JA}。ほかは n8n が保存したとおりです。"),
                format!(
                    "{crashed}. {recovered} of {all} nodes were recovered {RECOVERED}; the others are as n8n had saved them."
                ),
            )
        }
    }
}

/// What a retry copied.
fn copied(summary: &Summary, chars: usize, locale: Locale) -> Option<String> {
    let of = shorten_name(summary.header.retry_of.as_ref()?, chars);
    let copied = summary.nodes.iter().filter(|node| node.copied_runs > 0).count();
    let nodes = counted(copied, "node", "nodes");
    (copied > 0).then(|| {
        locale.choose(
            format!("実行 '{of}' の再試行です。そこで {copied} ノードが出力したものはコピーされ、処理数には含まれません。"),
            format!(
                "This execution retries execution '{of}': what {nodes} had output there was copied and is not counted as processed."
            ),
        )
    })
}
