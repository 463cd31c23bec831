//! One run of a node: n8n's `ITaskData`. The order of its keys differs between kinds of nodes.

use std::io::Read;

use super::failure;
use super::items::{Ports, Room};
use crate::json::{Cursor, Excerpt, ReadError};

/// What is kept of an error.
const ERROR_BYTES: usize = 64 * 1024;

/// No node has more inputs; what stands behind is not read.
const SOURCES: usize = 256;

/// A run as far as it is shown.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Its place among the node's runs.
    pub index: u64,
    /// Epoch milliseconds; a crashed execution's are seconds.
    pub start_time: Option<f64>,
    /// Milliseconds.
    pub execution_time: Option<f64>,
    /// n8n's `executionStatus`.
    pub status: Option<String>,
    /// Whether it failed.
    pub failed: bool,
    /// The error, if there is one.
    pub error: Option<Excerpt>,
    /// Where each input came from; `None` for an input without data.
    pub sources: Vec<Option<Source>>,
    /// The input itself, where n8n stores it (AI sub-nodes and tools).
    pub input_override: Option<Ports>,
    /// The outputs.
    pub outputs: Ports,
}

/// An output that became an input (n8n's `ISourceData`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The node that put it out.
    pub node: String,
    /// Which of its outputs; 0 where n8n leaves it out.
    pub output: u64,
    /// Which of its runs; 0 where n8n leaves it out.
    pub run: u64,
}

impl Run {
    /// Reads run `index`, with as many items as there is `room` for.
    pub(super) fn read<R: Read>(cursor: &mut Cursor<R>, index: u64, room: &Room) -> Result<Self, ReadError> {
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
                "inputOverride" => run.input_override = Ports::read(cursor, Some(room))?,
                "data" => run.outputs = Ports::read(cursor, Some(room))?.unwrap_or_default(),
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
        // n8n writes seconds into the executions that it recovers after a crash.
        const SECONDS_BELOW: f64 = 1e11;
        self.start_time.map(|start| if start < SECONDS_BELOW { start * 1000.0 } else { start })
    }
}

/// n8n's word for how a run ended.
pub(super) fn read_status<R: Read>(cursor: &mut Cursor<R>) -> Result<Option<String>, ReadError> {
    const STATUS_CHARS: usize = 40;
    cursor.text(STATUS_CHARS)
}

/// Whether a run with this `executionStatus` failed, even without an error.
pub(super) fn is_failure(status: Option<&str>) -> bool {
    matches!(status, Some("error" | "crashed"))
}

fn read_sources<R: Read>(cursor: &mut Cursor<R>) -> Result<Vec<Option<Source>>, ReadError> {
    let mut sources = Vec::new();
    cursor.array(|cursor, index| {
        let source = read_source(cursor)?;
        if index < SOURCES as u64 {
            sources.push(source);
        }
        Ok(())
    })?;
    Ok(sources)
}

fn read_source<R: Read>(cursor: &mut Cursor<R>) -> Result<Option<Source>, ReadError> {
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
    Ok(node.map(|node| Source { node, output: index(output), run: index(run) }))
}

/// An index that n8n leaves out where it is 0. One that no array has leads nowhere.
fn index(number: Option<f64>) -> u64 {
    match number {
        None => 0,
        Some(number) if number >= 0.0 && number.fract() == 0.0 => number as u64,
        Some(_) => u64::MAX,
    }
}
