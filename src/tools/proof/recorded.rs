//! What an execution recorded, and how it failed.

use std::collections::HashSet;
use std::sync::Arc;

use crate::execution::recording::{Recording, RecordingKind, RecordingProjection};
use crate::n8n::{ExecutionRequest, Progress};
use crate::tools::executions::Read;
use crate::tools::{Context, Error};
use crate::workflow::replay;

/// Reads a recording, with the items of these nodes.
pub(super) async fn record(
    context: &Context,
    id: &str,
    nodes: HashSet<String>,
    progress: &Progress,
) -> Result<Recording, Error> {
    let request = ExecutionRequest { id: id.to_owned(), ignore_size_limit: true };
    let Read { view, .. } = context.executions().read(&request, &recording_of(nodes), progress).await?;
    Ok(view?)
}

/// Reads a recording that can be played in a copy, with the items of these nodes.
pub(super) fn recording_of(nodes: HashSet<String>) -> RecordingProjection {
    RecordingProjection { nodes: Arc::new(nodes), kind: RecordingKind::Played(replay::hash) }
}

/// The node that failed, and its message.
pub(super) fn failure(recording: &Recording) -> Option<(String, String)> {
    let node = recording.failed_node()?;
    let run = recording.nodes.get(node).and_then(|node| node.runs.last());
    let message = run.and_then(|run| run.error.clone()).unwrap_or_default();
    Some((replay::failed_name(node).to_owned(), message))
}

/// Whether two messages are equal but for numbers and the line of the code.
pub(super) fn alike(one: &str, other: &str) -> bool {
    let plain = |message: &str| -> String {
        let without_line = message.split(" [line ").next().unwrap_or_default();
        without_line.chars().filter(|c| !c.is_ascii_digit()).collect()
    };
    plain(one) == plain(other)
}
