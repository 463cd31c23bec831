//! The answer about a comparison within its budget.

use serde::Serialize;
use serde_json::value::RawValue;

use super::super::first_value::FirstValue;
use super::super::no_data::no_data;
use super::{CompareRequest, Pair};
use crate::budget::Ladder;
use crate::execution::compare::{
    ChangedNode, Comparison, Digest, FieldDifference, First, NodeDifference, Side, ValueDifference, WorkflowDifference,
};
use crate::json::{CUT_NAME_CHARS, cut_json_both, quoted_name, shorten, shorten_name};
use crate::toolkit::Locale;
use crate::toolkit::answer::{Truncated, is_zero, json, success};
use crate::units::counted;

/// The answer as it is sent: as many nodes and as many of their paths as fit.
pub(super) fn compose(pair: Pair<'_>, values: Vec<ValueDifference>, request: &CompareRequest) -> String {
    let message = request.locale.choose("実行を比較しました", "Executions compared");
    let comparison = Comparison::with_values(pair.this.0, pair.other.0, values);
    let answer = Answer { pair, comparison: &comparison };
    let most = DifferenceLimits { nodes: comparison.nodes.len(), paths: 12, chars: CUT_NAME_CHARS };
    most.ladder().largest_that_fits(request.max_tokens, |limits| success(message, &answer.data(limits))).answer
}

/// How many nodes with copied runs are named.
const COPIED: usize = 5;

/// How much is shown.
#[derive(Clone, Copy)]
struct DifferenceLimits {
    nodes: usize,
    /// The most entries of any other list.
    paths: usize,
    /// The most characters of a name or a path.
    chars: usize,
}

impl DifferenceLimits {
    /// Fewer paths, then fewer nodes, then shorter texts, then no nodes and no paths.
    fn ladder(self) -> Ladder<Self> {
        Ladder::new(self)
            .shorter(|limits| &mut limits.paths, |paths| paths - 1, 3)
            .fewer(|limits| &mut limits.nodes, |nodes| nodes * 15 / 16, 5)
            .shorter(|limits| &mut limits.chars, |chars| chars * 3 / 4, 12)
            .fewer(|limits| &mut limits.nodes, |nodes| nodes - 1, 0)
            .shorter(|limits| &mut limits.paths, |paths| paths - 1, 0)
    }
}

#[derive(Serialize)]
struct ComparisonAnswer {
    id: Option<String>,
    with: Option<String>,
    same: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<Truncated>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    nodes: Vec<ShownNode>,
    #[serde(skip_serializing_if = "Option::is_none")]
    workflow: Option<ShownWorkflow>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownNode {
    node_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    only: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<(String, String)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<(u64, u64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outputs: Option<(Vec<u64>, Vec<u64>)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    runs: Option<(u64, u64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    copied_runs: Option<(u64, u64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ms: Option<(u64, u64)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    new_fields: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lost_fields: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fields: Vec<ShownField>,
    #[serde(skip_serializing_if = "is_zero")]
    fields_more: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<FirstValue>,
}

#[derive(Serialize)]
struct ShownField {
    path: String,
    types: (String, String),
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<ShownFirst>,
}

#[derive(Serialize)]
struct ShownFirst {
    #[serde(skip_serializing_if = "is_zero")]
    run: u64,
    #[serde(skip_serializing_if = "is_zero")]
    output: u64,
    item: u64,
    value: Box<RawValue>,
}

#[derive(Serialize)]
struct ShownWorkflow {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changed: Vec<ShownChange>,
    #[serde(rename = "changedMore", skip_serializing_if = "is_zero")]
    changed_more: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    added: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    removed: Vec<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    connections: bool,
    #[serde(skip_serializing_if = "is_zero")]
    cosmetic: u64,
    #[serde(skip_serializing_if = "is_zero")]
    defaults: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownChange {
    node_name: String,
    paths: Vec<ShownPath>,
    #[serde(skip_serializing_if = "is_zero")]
    paths_more: u64,
}

/// A setting, with its value in the other workflow and in this one.
#[derive(Serialize)]
struct ShownPath {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<[Box<RawValue>; 2]>,
}

struct Answer<'a> {
    pair: Pair<'a>,
    comparison: &'a Comparison,
}

impl Answer<'_> {
    fn data(&self, limits: DifferenceLimits) -> ComparisonAnswer {
        let id = |(digest, id): (&Digest, Option<&str>)| digest.header.id.clone().or_else(|| id.map(str::to_owned));
        let mut cut = false;
        let nodes = self.comparison.nodes.iter().take(limits.nodes).map(|node| shown_node(node, limits, &mut cut));
        let nodes = nodes.collect();
        let workflow = self.comparison.workflow.as_ref().map(|workflow| shown_workflow(workflow, limits, &mut cut));
        ComparisonAnswer {
            id: id(self.pair.this),
            with: id(self.pair.other),
            same: self.comparison.same,
            truncated: self.truncated(limits, cut),
            notes: self.notes(),
            nodes,
            workflow,
        }
    }

    /// What the limits leave out, and how to see it.
    fn truncated(&self, limits: DifferenceLimits, cut: bool) -> Option<Truncated> {
        let digests = [self.pair.this.0, self.pair.other.0];
        let mut reasons = Vec::new();
        let nodes = self.comparison.nodes.len().saturating_sub(limits.nodes);
        if nodes > 0 {
            reasons
                .push(format!("{}: use a larger maxTokens.", counted(nodes, "more node differs", "more nodes differ")));
        }
        if cut {
            reasons.push("Lists were cut: get_execution_fields shows all fields of a node.".to_owned());
        }
        if digests.iter().any(|digest| digest.is_partial()) {
            reasons.push(
                "Not all fields were compared: a node has more than 400 paths or items of more than 1 MiB, or all nodes \
                 together have too many paths."
                    .to_owned(),
            );
        }
        if digests.iter().any(|digest| digest.unread_parts() > 0) {
            reasons.push("Parts of a workflow of more than 1 MiB were not compared.".to_owned());
        }
        if digests.iter().any(|digest| !digest.has_workflow()) {
            reasons.push("The workflows were not compared: an execution was stored without one.".to_owned());
        }
        (!reasons.is_empty()).then(|| Truncated { reason: reasons.join(" "), next_offset: None, clipped_values: None })
    }

    /// Why there may be nothing to compare.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for (digest, id) in [self.pair.this, self.pair.other] {
            if !digest.has_nodes() {
                let id = digest.header.id.as_deref().or(id).unwrap_or("?");
                let why = no_data(&digest.header, Locale::En);
                notes.push(format!("No nodes of execution '{id}' can be compared. {why}"));
            }
        }
        notes.extend([self.pair.this.0, self.pair.other.0].into_iter().filter_map(copied));
        let [this, other] = [self.pair.this.0, self.pair.other.0];
        if this.redacted || other.redacted {
            notes.push("n8n redacted the data: the fields of items are not compared.".to_owned());
        }
        let workflows = this.header.workflow_id.as_ref().zip(other.header.workflow_id.as_ref());
        if workflows.is_some_and(|(this, other)| this != other) {
            notes.push("The executions are of different workflows.".to_owned());
        }
        notes
    }
}

/// What a retry did not execute itself.
fn copied(digest: &Digest) -> Option<String> {
    let (header, nodes) = (&digest.header, digest.copied());
    let names: Vec<_> = nodes.iter().take(COPIED).map(|name| quoted_name(name, CUT_NAME_CHARS / 2)).collect();
    let more = nodes.len().saturating_sub(COPIED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let id = |id: &Option<String>| quoted_name(id.as_deref().unwrap_or("?"), CUT_NAME_CHARS / 2);
    (!names.is_empty()).then(|| {
        format!(
            "Execution {} retries {}: what these nodes had output there was copied: {}{more}.",
            id(&header.id),
            id(&header.retry_of),
            names.join(", ")
        )
    })
}

fn shown_node(node: &NodeDifference, limits: DifferenceLimits, cut: &mut bool) -> ShownNode {
    let fields = node.fields.iter().take(limits.paths).map(|field| shown_field(field, limits));
    let fields_more = node.fields.len().saturating_sub(limits.paths);
    *cut |= fields_more > 0;
    ShownNode {
        node_name: shorten_name(&node.name, limits.chars),
        only: node.only.map(|side| if side == Side::This { "this" } else { "other" }),
        status: node.status.clone(),
        items: node.items,
        outputs: node.outputs.clone(),
        runs: node.runs,
        copied_runs: node.copied_runs,
        ms: node.ms,
        new_fields: list(&node.new_fields, "fields", limits, cut),
        lost_fields: list(&node.lost_fields, "fields", limits, cut),
        fields: fields.collect(),
        fields_more: fields_more as u64,
        value: node.value.as_ref().map(|value| FirstValue::of(value, limits.chars)),
    }
}

fn shown_field(field: &FieldDifference, limits: DifferenceLimits) -> ShownField {
    let (this, other) = &field.kinds;
    ShownField {
        path: shorten(&field.path, limits.chars),
        types: (this.join("|"), other.join("|")),
        first: field.first.as_ref().map(shown_first),
    }
}

fn shown_first(First { place, value }: &First) -> ShownFirst {
    ShownFirst { run: place.run, output: place.output, item: place.item, value: json(value) }
}

fn shown_workflow(workflow: &WorkflowDifference, limits: DifferenceLimits, cut: &mut bool) -> ShownWorkflow {
    let changed_more = workflow.changed.len().saturating_sub(limits.paths);
    *cut |= changed_more > 0;
    let changed = workflow.changed.iter().take(limits.paths).map(|node| shown_change(node, limits, cut));
    ShownWorkflow {
        changed: changed.collect(),
        changed_more: changed_more as u64,
        added: list(&workflow.added, "nodes", limits, cut),
        removed: list(&workflow.removed, "nodes", limits, cut),
        connections: workflow.connections,
        cosmetic: workflow.cosmetic,
        defaults: workflow.defaults,
    }
}

fn shown_change(ChangedNode { name, paths }: &ChangedNode, limits: DifferenceLimits, cut: &mut bool) -> ShownChange {
    let paths_more = paths.len().saturating_sub(limits.paths);
    *cut |= paths_more > 0;
    let shown_paths = paths.iter().take(limits.paths).map(|changed| ShownPath {
        path: shorten(&changed.path, limits.chars),
        values: changed.values.as_ref().map(|(old, new)| cut_json_both([old, new], limits.chars).map(|cut| json(&cut))),
    });
    let shown_paths = shown_paths.collect();
    ShownChange { node_name: shorten_name(name, limits.chars), paths: shown_paths, paths_more: paths_more as u64 }
}

/// The first of these texts, and how many more there are.
fn list(texts: &[String], unit: &str, limits: DifferenceLimits, cut: &mut bool) -> Vec<String> {
    let more = texts.len().saturating_sub(limits.paths);
    *cut |= more > 0;
    let rest = (more > 0).then(|| format!("…[+{more} {unit}]"));
    texts.iter().take(limits.paths).map(|text| shorten(text, limits.chars)).chain(rest).collect()
}
