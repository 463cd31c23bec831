//! The rows of an export: one JSON object per line.

use std::io;

use serde::Serialize;
use serde_json::value::RawValue;

use super::Out;
use crate::execution::Failure;
use crate::execution::duration;
use crate::execution::kind::Kind;
use crate::execution::rows::{ExecutionItems, ExecutionRuns, RunRow};
use crate::execution::summary::Summary;
use crate::json::Prefix;
use crate::store::Listed;
use crate::units::iso;

/// Characters of the texts of an error; longer ones are cut with a mark.
const TEXT_CHARS: usize = 1000;

/// An execution.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ExecutionLine<'a> {
    execution_id: &'a str,
    workflow_id: &'a str,
    workflow_name: Option<&'a str>,
    workflow_version_id: Option<&'a str>,
    status: Option<&'a str>,
    mode: Option<&'a str>,
    started_at: Option<&'a str>,
    stopped_at: Option<&'a str>,
    ms: Option<i64>,
    retry_of: Option<&'a str>,
    text_bytes: Option<u64>,
    node_runs: Option<u64>,
    failing_node: Option<&'a str>,
    error_name: Option<&'a str>,
    http_code: Option<&'a str>,
    error_message: Option<String>,
    error_kind: Option<String>,
}

impl<'a> ExecutionLine<'a> {
    /// The row of an execution; without a summary, what its columns say.
    pub(super) fn new(listed: &'a Listed, text_bytes: Option<u64>, summary: Option<&'a Summary>) -> Self {
        let row = &listed.row;
        let error = summary.and_then(|summary| summary.error.as_ref());
        let (started_at, stopped_at) = (row.started_at(), row.stopped_at());
        Self {
            execution_id: row.id(),
            workflow_id: row.workflow_id(),
            workflow_name: summary.and_then(|summary| summary.workflow_name.as_deref()).or(name(listed)),
            workflow_version_id: row.workflow_version(),
            status: row.status(),
            mode: row.mode(),
            started_at,
            stopped_at,
            ms: started_at.zip(stopped_at).and_then(|(from, to)| duration(from, to)),
            retry_of: row.retry_of(),
            text_bytes,
            node_runs: summary.map(own_runs),
            failing_node: error.and_then(|error| error.node_name.as_deref()),
            error_name: error.and_then(|error| error.name.as_ref()).map(|name| name.kept.as_str()),
            http_code: error.and_then(|error| error.http_code.as_deref()),
            error_message: error.and_then(|error| error.message.as_ref()).map(text),
            error_kind: error.and_then(kind),
        }
    }
}

fn name(listed: &Listed) -> Option<&str> {
    listed.workflow_name.as_deref()
}

fn text(prefix: &Prefix) -> String {
    prefix.cut(TEXT_CHARS).0.into_owned()
}

/// How many runs of nodes there are, without those that a retry has copied.
fn own_runs(summary: &Summary) -> u64 {
    summary.nodes.iter().map(|node| node.runs - node.copied_runs).sum()
}

/// The kind of an error: of its message, and of its description, where n8n's `NodeApiError` has the cause.
fn kind(error: &Failure) -> Option<String> {
    let kinds = [&error.message, &error.description].map(|text| text.as_ref().map(|text| Kind::of(&text.kept).fine));
    match kinds {
        [Some(message), Some(description)] => Some(format!("{message}: {description}")),
        [message, description] => message.or(description),
    }
}

/// A run of a node.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RunLine<'a> {
    execution_id: &'a str,
    workflow_id: &'a str,
    workflow_name: Option<&'a str>,
    workflow_version_id: Option<&'a str>,
    execution_status: Option<&'a str>,
    node: &'a str,
    node_type: Option<&'a str>,
    run: u64,
    index: Option<u64>,
    started_at: Option<String>,
    ms: u64,
    status: &'a str,
    items: u64,
    outputs: Vec<u64>,
    from: Vec<Option<&'a str>>,
}

/// Writes the runs of an execution, without those that a retry has copied: they are rows of the execution that it retries.
pub(super) fn run_lines(out: &mut Out, listed: &Listed, mut view: ExecutionRuns) -> io::Result<()> {
    let (nodes, workflow_name) = (&view.nodes, view.workflow_name.as_deref().or(name(listed)));
    view.rows.each(|node, run: RunRow| {
        if run.copied {
            return Ok(());
        }
        out.line(&RunLine {
            execution_id: listed.row.id(),
            workflow_id: listed.row.workflow_id(),
            workflow_name,
            workflow_version_id: listed.row.workflow_version(),
            execution_status: listed.row.status(),
            node,
            node_type: nodes.get(node).and_then(|node| node.node_type.as_deref()),
            run: run.run,
            index: run.index,
            started_at: run.start.and_then(iso),
            ms: run.ms,
            status: &run.status,
            items: run.items(),
            outputs: run.outputs.iter().map(|output| output.items).collect(),
            from: run.sources.iter().map(|source| source.as_ref().map(|source| source.node.as_str())).collect(),
        })
    })
}

/// An item of an output.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ItemLine<'a> {
    execution_id: &'a str,
    workflow_id: &'a str,
    node: &'a str,
    run: u64,
    output: u64,
    item: u64,
    json: Option<&'a RawValue>,
    binary: Option<&'a RawValue>,
    paired_item: Option<&'a RawValue>,
}

/// Writes the items of an execution.
pub(super) fn item_lines(out: &mut Out, listed: &Listed, mut view: ExecutionItems) -> io::Result<()> {
    view.rows.each(|node, item| {
        out.line(&ItemLine {
            execution_id: listed.row.id(),
            workflow_id: listed.row.workflow_id(),
            node,
            run: item.run,
            output: item.output,
            item: item.item,
            json: item.json.as_deref(),
            binary: item.binary.as_deref(),
            paired_item: item.paired_item.as_deref(),
        })
    })
}
