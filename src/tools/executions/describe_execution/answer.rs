//! The description within its budget.

use serde::Serialize;
use serde_json::value::RawValue;

use super::super::listed::short_version;
use super::super::summary_answer::{NOTED_CHARS, ShownFailure, notes, shown_failure, workflow_name};
use super::node::{Detail, NodeEntry, shown_node};
use super::shown::Shown;
use super::{DescribeRequest, Form};
use crate::budget::Ladder;
use crate::execution::describe::Description;
use crate::execution::summary::NodeSummary;
use crate::json::{CUT_NAME_CHARS, shorten_name};
use crate::toolkit::answer::{Truncated, success};
use crate::units::counted;

/// How many nodes that did not run are named.
const NOT_RUN: usize = 20;

/// The most characters of a text of the error.
const ERROR_CHARS: usize = 300;

/// The answer as it is sent: as much as fits, with most detail for nodes near something unusual.
pub(super) fn compose(description: &Description, id: Option<&str>, request: DescribeRequest, form: Form) -> String {
    let message = request.locale.choose("実行内容を説明しました", "Execution described");
    let answer = Answer { description, id, form, nodes: NodeEntry::in_order(description) };
    let ladder = Size::ladder(answer.nodes.len());
    ladder.largest_that_fits(request.max_tokens, |size| success(message, &answer.data(size))).answer
}

/// How much is shown.
#[derive(Clone, Copy)]
struct Size {
    /// Detail of nodes that are far from anything unusual.
    far: Detail,
    /// Detail of the others.
    near: Detail,
    /// How many nodes are shown.
    nodes: usize,
    /// The most characters of a name.
    name: usize,
}

impl Size {
    /// First less detail far from anything unusual, then less of the rest; then shorter names, then fewer nodes.
    fn ladder(nodes: usize) -> Ladder<Self> {
        Ladder::new(Self { far: Detail::MOST, near: Detail::MOST, nodes, name: CUT_NAME_CHARS })
            .then(|size| size.far.less().map(|far| Self { far, ..size }))
            .then(|size| size.near.less().map(|near| Self { near, ..size }))
            .shorter(|size| &mut size.name, |chars| chars * 3 / 4, 40)
            .fewer(|size| &mut size.nodes, |nodes| nodes - 1, 1)
            .shorter(|size| &mut size.name, |chars| chars * 3 / 4, 8)
    }
}

struct Answer<'d> {
    description: &'d Description,
    id: Option<&'d str>,
    form: Form,
    /// The nodes in the order of execution.
    nodes: Vec<NodeEntry<'d>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DescriptionAnswer {
    id: Option<String>,
    workflow_name: String,
    status: Option<String>,
    started_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ShownFailure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed_node: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<Truncated>,
    nodes: Vec<Box<RawValue>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_run: Vec<String>,
}

impl Answer<'_> {
    fn data(&self, size: Size) -> DescriptionAnswer {
        let summary = &self.description.summary;
        let header = &summary.header;
        let word = |word: &Option<String>| word.as_ref().map(|word| shorten_name(word, size.name));
        let mut shown = Shown::default();
        let nodes = self.nodes.iter().take(size.nodes).enumerate();
        let nodes = nodes.map(|(at, node)| {
            let detail = if node.is_near { size.near } else { size.far };
            let before = at.checked_sub(1).map(|before| self.nodes[before].name());
            shown_node(node, self.description, before, (detail, size.name, self.form), &mut shown)
        });
        let nodes = nodes.collect();
        DescriptionAnswer {
            id: word(&header.id).or_else(|| self.id.map(str::to_owned)),
            workflow_name: workflow_name(summary, size.name),
            status: word(&header.status),
            started_at: word(&header.started_at),
            version: header.workflow_version.as_deref().map(short_version),
            error: summary.error.as_ref().map(|error| shown_failure(error, ERROR_CHARS.min(4 * size.name))),
            failed_node: failed_node(&summary.nodes).map(|node| shorten_name(node, size.name)),
            notes: notes(summary, 0, NOTED_CHARS.min(size.name), self.form.locale()),
            truncated: self.truncated(size, shown.less),
            nodes,
            not_run: self.not_run(size),
        }
    }

    fn not_run(&self, size: Size) -> Vec<String> {
        let all = &self.description.not_run;
        let most = if size.near == Detail::MOST { NOT_RUN } else { NOT_RUN / 4 };
        let more = all.len().saturating_sub(most);
        let shown = all[..all.len() - more].iter().map(|name| shorten_name(name, size.name));
        shown.chain((more > 0).then(|| format!("…[+{more}]"))).collect()
    }

    /// What the limits leave out, and how to see it.
    fn truncated(&self, size: Size, is_less: bool) -> Option<Truncated> {
        let locale = self.form.locale();
        let mut reasons = Vec::new();
        let nodes = self.nodes.len().saturating_sub(size.nodes);
        if nodes > 0 {
            let more = counted(nodes, "more node", "more nodes");
            reasons.push(locale.choose(format!("ほか {nodes} ノード。"), format!("{more}: use a larger maxTokens.")));
        } else if is_less {
            let less = match (size.far, size.near) {
                (Detail::MOST, Detail::MOST) => locale.choose(
                    "省略した値はノードのタブで見られます。",
                    "…[+n] marks what is left out: use get_execution_fields or get_execution_by_node for one node.",
                ),
                _ => locale.choose(
                    "一部のテキスト、サンプル、値は省略しています。",
                    "Some texts, samples and values are left out: use a larger maxTokens, or get_execution_by_node for one node.",
                ),
            };
            reasons.push(less.to_owned());
        }
        if self.description.is_partial {
            let partial = locale.choose(
                "一部のノードの値は表示しきれません。ノードのフィールドのタブで見られます。",
                "There was no room for the values of some nodes: get_execution_fields shows those of one node.",
            );
            reasons.push(partial.to_owned());
        }
        if self.description.has_more_paths {
            let more = locale.choose(
                "パスが 400 を超えるノードがあり、残りは読み込んでいません。",
                "A node has more than 400 paths; the others were not read: get_execution_fields with path.",
            );
            reasons.push(more.to_owned());
        }
        if self.description.too_large > 0 {
            let items = self.description.too_large;
            reasons.push(locale.choose(
                format!("1 MiB を超える {items} アイテムは読み込んでいません。"),
                counted(items, "item of more than 1 MiB was not read.", "items of more than 1 MiB were not read."),
            ));
        }
        (!reasons.is_empty()).then(|| Truncated { reason: reasons.join(" "), next_offset: None, clipped_values: None })
    }
}

/// The first node that failed, in the order of execution.
fn failed_node(nodes: &[NodeSummary]) -> Option<&String> {
    nodes.iter().find(|node| node.failed_runs > 0).map(|node| &node.name)
}
