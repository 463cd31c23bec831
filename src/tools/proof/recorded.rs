//! What an execution recorded, and how it failed.

use crate::execution::recording::{Recording, RecordingProjection};
use crate::n8n::{ExecutionRequest, Progress};
use crate::tools::executions::Read;
use crate::tools::{Context, Error};
use crate::workflow::replay;

/// Characters shown of a message.
pub(super) const MESSAGE_CHARS: usize = 200;

/// The most names of a list.
pub(super) const NAMES: usize = 12;

/// Reads a recording.
pub(super) async fn record(
    context: &Context,
    id: &str,
    projection: &RecordingProjection,
    progress: &Progress,
) -> Result<Recording, Error> {
    let request = ExecutionRequest { id: id.to_owned(), ignore_size_limit: true };
    let Read { view, .. } = context.executions().read(&request, projection, progress).await?;
    Ok(view?)
}

/// At most so many of the entries.
pub(super) fn first<T>(entries: &[T], most: usize) -> &[T] {
    &entries[..most.min(entries.len())]
}

/// The node that failed, and its message.
pub(super) fn failure(recording: &Recording) -> Option<(String, String)> {
    let node = recording.failed_node()?;
    let run = recording.nodes.get(node).and_then(|node| node.runs.last());
    let message = run.and_then(|run| run.error.clone()).unwrap_or_default();
    Some((replay::failed_name(node).to_owned(), message))
}

/// Whether two messages are equal except for numbers and the line of the code.
pub(super) fn alike(one: &str, other: &str) -> bool {
    let plain = |message: &str| -> String {
        let is_line = |rest: &str| rest.starts_with(|first: char| first.is_ascii_digit());
        let line = message.rsplit_once(" [line ").filter(|(_, rest)| is_line(rest));
        let without_line = line.map_or(message, |(before, _)| before);
        without_line.chars().filter(|c| !c.is_ascii_digit()).collect()
    };
    plain(one) == plain(other)
}
