//! One run of a node: n8n's `ITaskData`. The order of its members differs between kinds of nodes.

use std::io::Read;

use super::items::{ItemLimits, ItemLists};
use super::order::Start;
use super::{failure, flow};
use crate::json::{Cursor, Excerpt, ReadError};

/// Memory for an error.
pub(super) const ERROR_BYTES: usize = 64 * 1024;

/// No node has more inputs; any further ones are not read.
const MAX_SOURCES: usize = 256;

/// One run of a node.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Which of the node's runs, from 0.
    pub index: u64,
    /// Milliseconds since 1970; seconds in a crashed execution (see [`start_ms`](Self::start_ms)).
    pub start_time: Option<f64>,
    /// How long the run took, ms.
    pub execution_time: Option<f64>,
    /// n8n's `executionStatus`.
    pub status: Option<String>,
    /// Whether it failed.
    pub failed: bool,
    /// The error, if there is one.
    pub error: Option<Excerpt>,
    /// The source of each input; `None` for an input without data.
    pub sources: Vec<Option<InputSource>>,
    /// The input itself, if n8n stores it (for AI sub-nodes and tools).
    pub input_override: Option<ItemLists>,
    /// The execution of the sub-workflow that it started, if it is one.
    pub sub_execution: Option<String>,
    /// The output items.
    pub outputs: ItemLists,
}

/// The output that an input came from (n8n's `ISourceData`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputSource {
    /// The node with this output.
    pub node: String,
    /// Which of its outputs; n8n leaves out 0.
    pub output: u64,
    /// Which of its runs; n8n leaves out 0.
    pub run: u64,
}

impl Run {
    /// Reads run `index`, with as many items as `limits` allow.
    pub(super) fn read<R: Read>(cursor: &mut Cursor<R>, index: u64, limits: &ItemLimits) -> Result<Self, ReadError> {
        let mut run = Self { index, ..Self::default() };
        let mut redacted = None;
        cursor.object(|cursor, member| {
            match member {
                "startTime" => run.start_time = cursor.number()?,
                "executionTime" => run.execution_time = cursor.number()?,
                "executionStatus" => run.status = read_status(cursor)?,
                "error" => run.error = failure::read_whole(cursor, ERROR_BYTES)?,
                "redactedError" => redacted = failure::read_redacted(cursor)?,
                "source" => run.sources = read_sources(cursor)?,
                "metadata" => run.sub_execution = flow::Children::read(cursor)?.ids.pop(),
                "inputOverride" => run.input_override = ItemLists::read(cursor, Some(limits))?,
                "data" => run.outputs = ItemLists::read(cursor, Some(limits))?.unwrap_or_default(),
                _ => cursor.skip()?,
            }
            Ok(())
        })?;
        run.error = run.error.or(redacted);
        run.failed = run.error.is_some() || is_failure(run.status.as_deref());
        Ok(run)
    }

    /// `startTime` in milliseconds since 1970.
    pub fn start_ms(&self) -> Option<f64> {
        Start { index: None, time: self.start_time }.ms()
    }
}

/// Reads an `executionStatus`.
pub(super) fn read_status<R: Read>(cursor: &mut Cursor<R>) -> Result<Option<String>, ReadError> {
    const STATUS_CHARS: usize = 40;
    cursor.text(STATUS_CHARS)
}

/// Whether a run with this `executionStatus` failed, even without an error.
pub(super) fn is_failure(status: Option<&str>) -> bool {
    matches!(status, Some("error" | "crashed"))
}

/// Reads a run's `source`.
pub(super) fn read_sources<R: Read>(cursor: &mut Cursor<R>) -> Result<Vec<Option<InputSource>>, ReadError> {
    let mut sources = Vec::new();
    cursor.array(|cursor, index| {
        let source = read_source(cursor)?;
        if index < MAX_SOURCES as u64 {
            sources.push(source);
        }
        Ok(())
    })?;
    Ok(sources)
}

/// Reads an entry of `source`, or a `sourceOverwrite`.
pub(super) fn read_source<R: Read>(cursor: &mut Cursor<R>) -> Result<Option<InputSource>, ReadError> {
    let (mut node, mut output, mut run) = (None, None, None);
    cursor.object(|cursor, member| {
        match member {
            "previousNode" => node = cursor.name()?,
            "previousNodeOutput" => output = cursor.number::<f64>()?,
            "previousNodeRun" => run = cursor.number::<f64>()?,
            _ => cursor.skip()?,
        }
        Ok(())
    })?;
    Ok(node.map(|node| InputSource { node, output: index(output), run: index(run) }))
}

/// An index; n8n leaves out 0. A number that cannot be an index becomes one that no array has.
fn index(number: Option<f64>) -> u64 {
    match number {
        None => 0,
        Some(number) if number >= 0.0 && number.fract() == 0.0 => number as u64,
        Some(_) => u64::MAX,
    }
}
