//! The summary of an execution as an answer of at most 1,000 tokens.

mod guidance;
mod node;
mod notes;

use serde::Serialize;

use self::guidance::Guidance;
use self::node::ShownNode;
pub(super) use self::node::{ShownErrorItems, shown_children, shown_errors};
pub(in crate::tools) use self::notes::notes;
use super::MARK_TOKENS;
use crate::budget::{self, Ladder};
use crate::execution::Failure;
use crate::execution::summary::{NodeSummary, Summary};
use crate::json::{CUT_NAME_CHARS, Prefix, shorten_name};
use crate::toolkit::Locale;
use crate::toolkit::answer::success;

/// The budget of every summary.
pub const MAX_TOKENS: usize = 1000;

/// The most characters of a name or an id in a note, unless there is less room.
pub(in crate::tools) const NOTED_CHARS: usize = 60;

/// The budget of the summary itself, with room left for the source mark.
const ROOM: usize = MAX_TOKENS - MARK_TOKENS;

/// The answer as it is sent. `id` is the requested id, if the execution was requested by id. `offers_check`: whether it may name
/// `check_workflow`.
pub fn compose(summary: &Summary, id: Option<&str>, offset: u64, locale: Locale, offers_check: bool) -> String {
    let message = locale.choose("実行サマリーを取得しました", "Execution summary retrieved");
    Answer { summary, id, offset: usize::try_from(offset).unwrap_or(usize::MAX), message, offers_check }.compose()
}

/// The same answer without a budget: at most `nodes` nodes, but with whole texts.
pub fn compose_for_people(summary: &Summary, nodes: usize) -> String {
    let answer = Answer { summary, id: None, offset: 0, message: "", offers_check: false };
    answer.text(&summary.nodes[..summary.nodes.len().min(nodes)], Lengths::UNLIMITED, None)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SummaryAnswer {
    id: Option<String>,
    workflow_id: Option<String>,
    workflow_name: String,
    status: Option<String>,
    started_at: Option<String>,
    stopped_at: Option<String>,
    duration: Option<i64>,
    mode: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_of: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_success_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wait_till: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_execution: Option<ShownParent>,
    statistics: Statistics,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ShownFailure>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    available_nodes: Vec<ShownNode>,
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted_nodes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<usize>,
    #[serde(rename = "_guidance")]
    guidance: Guidance,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Statistics {
    total_nodes: u64,
    executed_nodes: usize,
    successful_nodes: usize,
    failed_nodes: usize,
    total_items_processed: u64,
}

/// Why an execution failed, for answers.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::tools) struct ShownFailure {
    #[serde(skip_serializing_if = "Option::is_none")]
    node_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    http_code: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownParent {
    id: Option<String>,
    workflow_id: Option<String>,
}

/// The maximum lengths of texts in an answer, in characters.
#[derive(Clone, Copy)]
struct Lengths {
    /// Texts of the error.
    error: usize,
    /// Names in the header.
    header: usize,
    /// Names of nodes.
    node: usize,
    /// n8n's own words, dates and types, which are almost always short.
    word: usize,
    /// How many outputs of a node are listed.
    listed: usize,
    /// Whether the items that a node took are shown.
    inputs: bool,
}

impl Lengths {
    const WHOLE: Self = Self {
        error: 300,
        header: CUT_NAME_CHARS,
        node: CUT_NAME_CHARS,
        word: CUT_NAME_CHARS,
        listed: 20,
        inputs: true,
    };
    const UNLIMITED: Self = Self {
        error: usize::MAX,
        header: usize::MAX,
        node: usize::MAX,
        word: usize::MAX,
        listed: usize::MAX,
        inputs: true,
    };
    const LEAST: usize = 8;

    fn shorter(self) -> Option<Self> {
        let less = |chars: usize| (chars * 3 / 4).max(Self::LEAST);
        if self.inputs {
            return Some(Self { inputs: false, ..self });
        }
        (self.word > Self::LEAST).then(|| Self {
            error: less(self.error),
            header: less(self.header),
            node: less(self.node),
            word: if self.error <= 24 { less(self.word) } else { self.word },
            listed: (self.listed * 3 / 4).max(2),
            inputs: false,
        })
    }
}

struct Answer<'a> {
    summary: &'a Summary,
    id: Option<&'a str>,
    offset: usize,
    message: &'static str,
    offers_check: bool,
}

impl<'a> Answer<'a> {
    /// As many nodes as fit: the largest number with whole names, then one more if it fits with a shortened name.
    fn compose(&self) -> String {
        // No entry takes fewer tokens than this.
        const NODE_TOKENS: usize = 10;
        let nodes = self.summary.nodes.get(self.offset..).unwrap_or_default();
        let most = nodes.len().min(MAX_TOKENS / NODE_TOKENS);
        let whole = self.text(&nodes[..most], Lengths::WHOLE, None);
        if most == nodes.len() && budget::fits(&whole, ROOM) {
            return whole;
        }
        // At least one node, which the example names: other texts are shortened to make room for it.
        let first = &nodes[..nodes.len().min(1)];
        let lengths = Ladder::new(Lengths { inputs: false, ..Lengths::WHOLE }).then(Lengths::shorter);
        let lengths = lengths.largest_that_fits(ROOM, |lengths| self.text(first, lengths, None)).size;
        let numbers = Ladder::new(most).fewer(|nodes| nodes, |nodes| nodes - 1, 1);
        let shown = numbers.largest_that_fits(ROOM, |shown| self.text(&nodes[..shown], lengths, None));
        self.one_more(nodes, shown.size, lengths).unwrap_or(shown.answer)
    }

    /// The answer with one more node under a shortened name, which get_execution_by_node also accepts.
    fn one_more(&self, nodes: &'a [NodeSummary], shown: usize, lengths: Lengths) -> Option<String> {
        let next = nodes.get(shown).filter(|_| shown > 0)?;
        let chars = next.name.chars().count();
        let ladder =
            Ladder::new(chars * 3 / 4).then(|chars| Some(chars * 2 / 3).filter(|chars| *chars >= Lengths::LEAST));
        let last = ladder.largest_that_fits(ROOM, |chars| self.text(&nodes[..=shown], lengths, Some(chars)));
        Some(last.answer).filter(|answer| last.size >= Lengths::LEAST && budget::fits(answer, ROOM))
    }

    fn text(&self, nodes: &'a [NodeSummary], lengths: Lengths, last_name: Option<usize>) -> String {
        success(self.message, &self.data(nodes, lengths, last_name))
    }

    fn data(&self, nodes: &'a [NodeSummary], lengths: Lengths, last_name: Option<usize>) -> SummaryAnswer {
        let header = &self.summary.header;
        let word = |word: &Option<String>| word.as_ref().map(|word| shorten_name(word, lengths.word));
        let mut available_nodes: Vec<_> = nodes.iter().map(|node| ShownNode::new(node, lengths)).collect();
        if let (Some(last), Some(node), Some(chars)) = (available_nodes.last_mut(), nodes.last(), last_name) {
            last.node_name = shorten_name(&node.name, chars);
        }
        let after = self.offset.min(self.summary.nodes.len()) + nodes.len();
        let omitted = self.summary.nodes.len() - after;
        let id = word(&header.id).or_else(|| self.id.map(str::to_owned));
        let guidance = Guidance::new(self.summary, id.as_deref(), nodes.first(), lengths, self.offers_check);
        SummaryAnswer {
            id,
            workflow_id: word(&header.workflow_id),
            workflow_name: workflow_name(self.summary, lengths.header),
            status: word(&header.status),
            started_at: word(&header.started_at),
            stopped_at: word(&header.stopped_at),
            duration: header.duration(),
            mode: word(&header.mode),
            retry_of: word(&header.retry_of),
            retry_success_id: word(&header.retry_success_id),
            wait_till: word(&header.wait_till),
            parent_execution: self
                .summary
                .parent
                .as_ref()
                .map(|parent| ShownParent { id: word(&parent.id), workflow_id: word(&parent.workflow_id) }),
            statistics: statistics(self.summary),
            error: self.summary.error.as_ref().map(|error| shown_failure(error, lengths.error)),
            notes: notes(self.summary, self.offset, lengths.node.min(NOTED_CHARS), Locale::En),
            available_nodes,
            omitted_nodes: (omitted > 0).then_some(omitted),
            next_offset: (omitted > 0).then_some(after),
            guidance,
        }
    }
}

/// The workflow's name, in at most `chars` characters.
pub(super) fn workflow_name(summary: &Summary, chars: usize) -> String {
    let name = summary.workflow_name.as_deref().filter(|name| !name.is_empty());
    shorten_name(name.unwrap_or("Unknown Workflow"), chars)
}

fn statistics(summary: &Summary) -> Statistics {
    let nodes = &summary.nodes;
    Statistics {
        total_nodes: summary.total_nodes,
        executed_nodes: nodes.len(),
        successful_nodes: nodes.iter().filter(|node| node.status == "success").count(),
        failed_nodes: nodes.iter().filter(|node| node.failed_runs > 0).count(),
        total_items_processed: summary.processed(),
    }
}

/// A failure, with texts of at most `chars` characters.
pub(in crate::tools) fn shown_failure(error: &Failure, chars: usize) -> ShownFailure {
    let error = error.readable();
    let text = |text: &Option<Prefix>| text.as_ref().map(|text| text.cut(chars).0.into_owned());
    ShownFailure {
        node_name: error.node_name.as_ref().map(|name| shorten_name(name, CUT_NAME_CHARS.min(chars))),
        name: text(&error.name),
        message: text(&error.message),
        description: text(&error.description),
        http_code: error.http_code.as_ref().map(|code| shorten_name(code, chars)),
    }
}
