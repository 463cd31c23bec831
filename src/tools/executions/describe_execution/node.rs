//! One node of the description.

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::field_facts::{Fact, PATH_CHARS, TogetherFact, facts};
use super::super::field_lines::{line, together_line, words};
use super::super::summary_answer::{ShownErrorItems, shown_children, shown_errors};
use super::sample::{self, Sample};
use super::shown::Shown;
use super::{Form, flow};
use crate::execution::describe::{DescribedNode, Description};
use crate::execution::fields::{FieldView, Finding};
use crate::execution::summary::NodeSummary;
use crate::json::{shorten, shorten_name};
use crate::node_parameters::{lines, short_type};
use crate::toolkit::answer::json;

/// A node is near something unusual if it ran at most this many places before or after it.
const NEAR: usize = 1;

/// How much is shown of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Detail {
    /// The most characters of what it does.
    pub does: usize,
    /// How many paths are listed with their values.
    pub values: usize,
    /// The most characters of a value in the sample; 0 without a sample.
    pub sample: usize,
}

impl Detail {
    pub(super) const MOST: Self = Self { does: 1200, values: 12, sample: 60 };

    /// The next lower level of detail; the lowest shows only names and counts.
    pub(super) fn less(self) -> Option<Self> {
        const STEPS: [Detail; 7] = [
            Detail { does: 600, values: 8, sample: 60 },
            Detail { does: 400, values: 6, sample: 40 },
            Detail { does: 240, values: 4, sample: 24 },
            Detail { does: 120, values: 3, sample: 16 },
            Detail { does: 80, values: 2, sample: 0 },
            Detail { does: 40, values: 1, sample: 0 },
            Detail { does: 0, values: 0, sample: 0 },
        ];
        STEPS.into_iter().find(|step| step.does < self.does)
    }

    fn is_least(self) -> bool {
        self.does == 0
    }
}

/// A node of the description, and whether it is near something unusual.
pub(super) struct NodeEntry<'d> {
    summary: &'d NodeSummary,
    described: &'d DescribedNode,
    /// Its parameters, one per line, and the facts about its fields, each also in words: the same for every size of the answer.
    lines: Vec<String>,
    facts: Vec<(Vec<Fact>, String)>,
    pub is_near: bool,
}

impl<'d> NodeEntry<'d> {
    /// The nodes in the order of execution.
    pub(super) fn in_order(description: &'d Description) -> Vec<Self> {
        let nodes = &description.summary.nodes;
        let entries = nodes.iter().filter_map(|summary| {
            let described = description.nodes.get(&summary.name)?;
            Some(Self {
                summary,
                described,
                lines: parameter_lines(summary, described),
                facts: described.fields.iter().map(facts).map(with_words).collect(),
                is_near: false,
            })
        });
        let mut entries: Vec<_> = entries.collect();
        entries.sort_by_key(|node| node.summary.position);
        let unusual: Vec<_> = entries.iter().map(Self::is_unusual).collect();
        for (at, node) in entries.iter_mut().enumerate() {
            let near = at.saturating_sub(NEAR)..(at + NEAR + 1).min(unusual.len());
            node.is_near = unusual[near].contains(&true);
        }
        entries
    }

    pub(super) fn name(&self) -> &'d str {
        &self.summary.name
    }

    fn is_unusual(&self) -> bool {
        let node = self.summary;
        let is_split = |finding: Option<Finding>| matches!(finding, Some(Finding::Kinds | Finding::Repeated));
        node.failed_runs > 0
            || node.error_items.is_some()
            || node.empty_runs > 0
            || !flow::unconnected(node, self.described).is_empty()
            || self.described.fields.iter().any(|field| is_split(field.finding()))
            || self.described.together.iter().any(|one| !one.is_of_values())
    }
}

fn with_words(facts: Vec<Fact>) -> (Vec<Fact>, String) {
    let words = words(&facts);
    (facts, words)
}

/// The parameters of a node as lines.
fn parameter_lines(node: &NodeSummary, described: &DescribedNode) -> Vec<String> {
    let node_type = node.node_type.as_deref().unwrap_or_default();
    described.settings.parameters.as_ref().map(|parameters| lines(node_type, parameters)).unwrap_or_default()
}

/// What is said of a field, or of what occurs together: a line, or the facts themselves.
#[derive(Serialize)]
#[serde(untagged)]
enum Said<D> {
    Words(String),
    Data(D),
    /// How many more there are.
    More {
        more: usize,
    },
}

#[derive(Serialize)]
struct FieldFacts<'d> {
    path: String,
    facts: &'d [Fact],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownNode<'d> {
    node: String,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    node_type: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    from: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    runs: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    copied_runs: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    calls: Option<u64>,
    #[serde(rename = "in", skip_serializing_if = "Option::is_none")]
    taken: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    out: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    empty_runs: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_items: Option<ShownErrorItems>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unconnected: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    on_error: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pinned: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    disabled: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    always_output_data: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sub_executions: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    does: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sample: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sample_of: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    values: Vec<Said<FieldFacts<'d>>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    together: Vec<Said<TogetherFact>>,
}

/// A node in this detail; `before` is the node that ran before it, among `all` nodes. In the lowest detail, a node with
/// nothing unusual is a text.
pub(super) fn shown_node(
    entry: &NodeEntry<'_>,
    all: &Description,
    before: Option<&str>,
    (detail, chars, form): (Detail, usize, Form),
    shown: &mut Shown,
) -> Box<RawValue> {
    let (node, described) = (entry.summary, entry.described);
    let name = shorten_name(&node.name, chars);
    if detail.is_least() && !entry.is_near && !node.is_sub_node && node.outputs.is_empty() && node.runs == 1 {
        shown.less = true;
        let taken = flow::input(node).filter(|taken| *taken != node.items);
        let text = match taken {
            Some(taken) => format!("{name}: {taken} -> {}", node.items),
            None => format!("{name}: {}", node.items),
        };
        return json(&Value::from(text).to_string());
    }
    let from: Vec<_> = described.sources.iter().map(|source| flow::source(source, all, chars)).collect();
    // One output of the previous node says nothing new.
    let follows =
        matches!(&described.sources[..], [(source, _)] if Some(source.as_str()) == before && from[0].1.is_none());
    // The execution's own error is shown above its nodes.
    let ended_it = all.summary.error.as_ref().is_some_and(|error| error.node_name.as_ref() == Some(&node.name));
    let sample = shown_sample(entry, &all.nodes, detail, shown);
    let (sample_of, sample) = match (sample, form) {
        (Some(sample), Form::Data(_)) => (sample.node, sample.json),
        (sample, _) => (None, sample.and_then(Sample::value)),
    };
    let entry = ShownNode {
        node_type: node
            .node_type
            .as_deref()
            .map(|it| shorten_name(short_type(it), chars))
            .filter(|_| !detail.is_least()),
        from: if follows || node.is_sub_node { Vec::new() } else { from.into_iter().map(flow::named).collect() },
        runs: (node.runs != 1 && !node.is_sub_node).then_some(node.runs),
        copied_runs: (node.copied_runs > 0).then_some(node.copied_runs),
        calls: node.is_sub_node.then_some(node.runs),
        taken: flow::input(node),
        out: (!node.is_sub_node).then(|| flow::output(node, described)),
        status: (node.status != "success").then(|| shorten_name(&node.status, chars)),
        error: described.error.as_ref().filter(|_| !ended_it).map(|error| shorten(error, 2 * chars)),
        empty_runs: (node.empty_runs > 0).then_some(node.empty_runs),
        error_items: node.error_items.as_ref().map(|items| shown_errors(items, chars)),
        unconnected: flow::unconnected(node, described),
        on_error: described.settings.on_error.as_ref().map(|on_error| shorten_name(on_error, chars)),
        pinned: described.pinned,
        disabled: described.settings.disabled,
        always_output_data: described.settings.always_output_data,
        sub_executions: shown_children(&node.children, chars),
        does: does(entry, detail, shown),
        input: described.input.as_ref().filter(|_| node.is_sub_node).and_then(|input| {
            shown.less |= detail.sample < Detail::MOST.sample;
            (detail.sample > 0).then(|| sample::shown_input(input, detail.sample)).flatten().map(|text| json(&text))
        }),
        sample: sample.map(|text| json(&text)),
        sample_of,
        values: values(entry, (detail, form), shown),
        together: together(entry, (detail, form), shown),
        node: name,
    };
    // As text: a number of a sample can be one that no `Value` holds.
    serde_json::value::to_raw_value(&entry).unwrap_or_default()
}

/// What a node does, one fact per line.
fn does(entry: &NodeEntry<'_>, detail: Detail, shown: &mut Shown) -> Option<String> {
    let text = entry.lines.join("\n");
    shown.less |= text.chars().count() > detail.does;
    (!text.is_empty() && detail.does > 0).then(|| shorten(&text, detail.does))
}

/// The first item, or what it has in addition to the item of a node that it came from.
fn shown_sample(
    entry: &NodeEntry<'_>,
    nodes: &IndexMap<String, DescribedNode>,
    detail: Detail,
    shown: &mut Shown,
) -> Option<Sample> {
    let item = entry.described.sample.as_ref()?;
    shown.less |= detail.sample < Detail::MOST.sample;
    if detail.sample == 0 {
        return None;
    }
    let sources = entry.described.sources.iter().filter(|(source, _)| *source != entry.summary.name);
    let mut of_sources = sources.filter_map(|(source, _)| {
        let node = nodes.get(source)?;
        Some((source.as_str(), node.sample.as_ref()?, node.sample_hash == entry.described.sample_hash))
    });
    let like = of_sources.find_map(|(source, before, is_same)| match is_same {
        true => Some(Sample::same(source)),
        false => sample::besides(item, source, before, detail.sample),
    });
    like.or_else(|| Some(Sample { node: None, json: Some(sample::shown(item, detail.sample)?) }))
}

/// How values are distributed at paths whose distribution was not shown before.
fn values<'e>(
    entry: &'e NodeEntry<'_>,
    (detail, form): (Detail, Form),
    shown: &mut Shown,
) -> Vec<Said<FieldFacts<'e>>> {
    let fields = entry.described.fields.iter().zip(&entry.facts);
    let fields = fields.filter_map(|(field, facts)| Some((field, field.finding()?, facts)));
    // A value that the node sets itself, as its parameters show.
    let is_set = |field: &FieldView| {
        let value = field.values.first().and_then(|(value, _)| serde_json::from_str::<Value>(value).ok());
        let text =
            value.map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned)).unwrap_or_default();
        entry.lines.contains(&format!("{} = {text}", field.path))
    };
    let fields = fields.filter(|(field, finding, _)| *finding != Finding::Constant || !is_set(field));
    let new: Vec<_> =
        fields.filter(|(field, finding, (_, words))| shown.is_new(&field.path, *finding, words)).collect();
    let more = new.len().saturating_sub(detail.values);
    shown.less |= more > 0;
    let said = new.iter().take(detail.values).map(|(field, _, (facts, words))| match form {
        Form::Words => Said::Words(line(&field.path, words)),
        Form::Data(_) => Said::Data(FieldFacts { path: shorten(&field.path, PATH_CHARS), facts }),
    });
    let mut said: Vec<_> = said.collect();
    if more > 0 && !said.is_empty() {
        said.push(match form {
            Form::Words => Said::Words(format!("…[+{more}]")),
            Form::Data(_) => Said::More { more },
        });
    }
    // What a node has too many of is not shown at a later one that did not make it, unless it is only for want of tokens.
    if detail == Detail::MOST {
        new.iter().skip(detail.values).for_each(|(field, _, (_, words))| shown.add_left_out(&field.path, words));
    }
    for (field, finding, (_, words)) in new.into_iter().take(detail.values) {
        shown.add(&field.path, finding, words.clone());
    }
    said
}

/// Values that occur together, unless the same was shown before.
fn together(entry: &NodeEntry<'_>, (detail, form): (Detail, Form), shown: &mut Shown) -> Vec<Said<TogetherFact>> {
    let most = detail.values / 2;
    let new: Vec<_> = entry.described.together.iter().filter(|one| shown.is_new_together(one)).collect();
    shown.less |= new.len() > most;
    let said = new.iter().take(most).map(|one| match form {
        Form::Words => Said::Words(together_line(one)),
        Form::Data(_) => Said::Data((*one).into()),
    });
    let said = said.collect();
    new.into_iter().take(most).for_each(|one| shown.tell_together(one));
    said
}
