//! An execution as rows, for an export: one for each of its runs ([`RunRowsProjection`]), or one for each of its items
//! ([`ItemRowsProjection`]).
//!
//! An execution can have any number of them, and none is valid before its text was read to the end. So they are written
//! one after another into a [`Spool`], in a temporary file if there are many, and read from there afterwards.

mod items;
mod model_call;
mod runs;

use std::io::{self, BufRead, Read};
use std::marker::PhantomData;
use std::ops::Range;
use std::path::PathBuf;

use indexmap::IndexMap;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use self::items::{ExecutionItems, ItemRow, ItemRowsProjection};
pub use self::model_call::ModelCall;
pub use self::runs::{ExecutionRuns, Output, RowNode, RunError, RunRow, RunRowsProjection};
use crate::json::{InOrder, ReadAt, Spool};

/// Written rows are moved into the spool once they have this many bytes.
const WRITTEN: usize = 32 * 1024;

/// Where the rows are while an execution is read.
#[derive(Clone, Debug, Default)]
pub struct RowSpace {
    /// How many bytes of them are in memory; more are in a temporary file.
    pub in_memory: usize,
    /// The folder of this file, if it is not the system's.
    pub folder: Option<PathBuf>,
}

/// The rows of an execution: the nodes in the order of the text, each with its rows in the order of the runs.
#[derive(Debug)]
pub struct Rows<T> {
    spool: Spool,
    nodes: IndexMap<String, Vec<Range<u64>>>,
    failure: Option<io::ErrorKind>,
    row: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned> Rows<T> {
    /// Passes each row to `each`, with the name of its node.
    ///
    /// # Errors
    /// The temporary file could not be written or read, or `each` fails.
    pub fn each(&mut self, mut each: impl FnMut(&str, T) -> io::Result<()>) -> io::Result<()> {
        if let Some(failure) = self.failure {
            return Err(failure.into());
        }
        let mut line = Vec::new();
        for (node, ranges) in &self.nodes {
            for range in ranges {
                let mut lines = InOrder::new(Section { of: &mut self.spool, range: range.clone() });
                loop {
                    line.clear();
                    if lines.read_until(b'\n', &mut line)? == 0 {
                        break;
                    }
                    each(node, serde_json::from_slice(&line)?)?;
                }
            }
        }
        Ok(())
    }
}

/// A part of a source.
struct Section<T> {
    of: T,
    range: Range<u64>,
}

impl<T: ReadAt> ReadAt for Section<T> {
    fn len(&self) -> u64 {
        self.range.end - self.range.start
    }

    fn read_at(&mut self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.of.read_at(self.range.start + position, buffer)
    }
}

/// Writes the rows of an execution while it is read.
struct RowWriter {
    spool: Spool,
    /// Rows that are not in the spool yet.
    written: Vec<u8>,
    nodes: IndexMap<String, Vec<Range<u64>>>,
    /// The rows of the node that is being read.
    node: Vec<Range<u64>>,
    /// Where the rows of the current run begin.
    run: u64,
    /// Why a row could not be written: the rows are incomplete without it.
    failure: Option<io::ErrorKind>,
}

impl RowWriter {
    fn new(space: &RowSpace) -> Self {
        Self {
            spool: Spool::new(space.in_memory, space.folder.as_deref()),
            written: Vec::new(),
            nodes: IndexMap::new(),
            node: Vec::new(),
            run: 0,
            failure: None,
        }
    }

    fn end(&self) -> u64 {
        self.spool.len() + self.written.len() as u64
    }

    /// The rows of a node follow.
    fn begin_node(&mut self) {
        self.node.clear();
        self.begin_run();
    }

    /// The rows of a run follow. Any rows written for it before no longer count.
    fn begin_run(&mut self) {
        self.run = self.end();
    }

    fn add(&mut self, row: &impl Serialize) {
        // A Vec takes every write.
        let _ = serde_json::to_writer(&mut self.written, row);
        self.written.push(b'\n');
        if self.written.len() >= WRITTEN {
            self.flush();
        }
    }

    fn flush(&mut self) {
        if let Err(error) = self.spool.add(&self.written) {
            self.failure = self.failure.or(Some(error.kind()));
        }
        self.written.clear();
    }

    /// The run has ended; its rows are kept, or left out.
    fn end_run(&mut self, keeps: bool) {
        let range = self.run..self.end();
        self.run = range.end;
        match self.node.last_mut() {
            _ if !keeps || range.is_empty() => {}
            Some(last) if last.end == range.start => last.end = range.end,
            _ => self.node.push(range),
        }
    }

    /// The node has ended. If several have the same name, the last one counts.
    fn end_node(&mut self, name: String) {
        self.nodes.insert(name, std::mem::take(&mut self.node));
    }

    fn finish<T>(mut self) -> Rows<T> {
        self.flush();
        Rows { spool: self.spool, nodes: self.nodes, failure: self.failure, row: PhantomData }
    }
}

/// Reads the name of a workflow.
fn read_name<R: Read>(cursor: &mut crate::json::Cursor<R>) -> Result<Option<String>, crate::json::ReadError> {
    crate::json::member(cursor, "name", crate::json::Cursor::name)
}
