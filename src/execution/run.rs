//! One run of a node: n8n's `ITaskData`. The order of its members differs between kinds of nodes.

use std::io::Read;

use super::items::ItemLists;
use super::members::{Members, members};
use super::order::Start;
use super::runs::RunHead;
use crate::json::{Cursor, Excerpt, Keep, ReadError};

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
    /// A run with its items.
    pub(super) fn new(mut head: RunHead, inputs: ItemLists, outputs: ItemLists) -> Self {
        Self {
            index: head.index,
            start_time: head.start.time,
            execution_time: head.execution_time,
            status: head.status,
            failed: head.failed,
            error: head.error,
            sources: head.sources,
            input_override: head.has_input_lists.then_some(inputs),
            sub_execution: head.children.ids.pop(),
            outputs,
        }
    }

    /// `startTime` in milliseconds since 1970.
    pub fn start_ms(&self) -> Option<f64> {
        Start { index: None, time: self.start_time }.ms()
    }
}

/// An entry of `source`, whether it names a node or not.
#[derive(Default)]
struct SourceEntry {
    node: Option<String>,
    output: u64,
    run: u64,
}

members!(SourceEntry, |source, cursor| match name {
    ("previousNode", Keep::Whole) => source.node = cursor.name()?,
    ("previousNodeOutput", Keep::Whole) => source.output = index(cursor.number()?),
    ("previousNodeRun", Keep::Whole) => source.run = index(cursor.number()?),
});

/// What is kept of a run's `source`.
pub(super) const SOURCES: Keep = Keep::EachElement(&SourceEntry::KEEP);

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
    let source = SourceEntry::read_object(cursor)?.unwrap_or_default();
    Ok(source.node.map(|node| InputSource { node, output: source.output, run: source.run }))
}

/// An index; n8n leaves out 0. A number that cannot be an index becomes one that no array has.
fn index(number: Option<f64>) -> u64 {
    match number {
        None => 0,
        Some(number) if number >= 0.0 && number.fract() == 0.0 => number as u64,
        Some(_) => u64::MAX,
    }
}
