//! The recording of an execution: what each run received and returned, as far as running the workflow again needs it.
//!
//! Of each item only a hash is held, so that two executions can be compared item by item. The items themselves are kept only of
//! the nodes that are named, which are to answer as they did, or which someone takes along: one after another in a [`Spool`], in a
//! temporary file if there are many.

use std::collections::HashSet;
use std::io::{ErrorKind, Read};
use std::ops::Range;
use std::sync::Arc;

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Error;
use super::failure::Failure;
use super::header::Header;
use super::runs::{self, Item, ItemPlace, ItemText, Parts, RunHead, RunObserver, Side};
use super::source::InputSource;
use super::workflow;
use crate::json::{Cursor, Keep, Projection, ReadAt, ReadError, Spool};

/// The most bytes of items that are kept in memory.
pub const ITEMS_IN_MEMORY: usize = 4 * 1024 * 1024;

/// The most bytes of items that are kept: n8n accepts files of 200 MiB together (`N8N_FORMDATA_FILE_SIZE_MAX`).
pub const ITEMS_BYTES: u64 = 150 * 1024 * 1024;

/// The most items whose hashes are held.
const MAX_ITEMS: u64 = 1_000_000;

/// The most runs that are held.
const MAX_RUNS: usize = 100_000;

/// Characters held of the message of a run's error: n8n's are sentences.
const MESSAGE_CHARS: usize = 4000;

/// Reads a [`Recording`].
#[derive(Clone, Debug)]
pub struct RecordingProjection {
    /// The nodes whose items are kept.
    pub nodes: Arc<HashSet<String>>,
    /// What is wanted besides the items.
    pub kind: RecordingKind,
}

/// What a recording is for.
#[derive(Clone, Copy, Debug)]
pub enum RecordingKind {
    /// To be compared and played again: all nodes, with this hash of the `json` of each item, given its JSON text without white
    /// space. The items that are kept have at most [`ITEMS_BYTES`], and those of a run have commas between them.
    Played(fn(&str) -> u64),
    /// To be taken along: the nodes that are named, and nothing of the others. There are as many items as there is room for in
    /// the folder for temporary files, and each ends with a line feed. Hashes are 0; the outputs of sub-nodes count, too.
    Taken,
}

/// What was read.
#[derive(Debug, Default)]
pub struct Recording {
    /// The execution's metadata.
    pub header: Header,
    /// Whether n8n redacted the items.
    pub redacted: bool,
    /// Why the execution failed.
    pub error: Option<Failure>,
    /// The node that was executed last: the failed one of a failed execution.
    pub last_node: Option<String>,
    /// The workflow that ran, as JSON.
    pub workflow: Option<Vec<u8>>,
    /// The nodes that ran, in the order of the body.
    pub nodes: IndexMap<String, RecordedNode>,
    /// The items of the nodes that were named, as JSON.
    pub items: Option<Spool>,
    /// Why it is not whole, if it is not.
    pub incomplete: Option<Incomplete>,
}

/// Why a recording is not whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incomplete {
    /// The items that are kept have more than [`ITEMS_BYTES`].
    Items,
    /// An item has more than 1 MiB.
    LargeItem,
    /// There are more items or runs than are held.
    Runs,
    /// The temporary file cannot be written.
    Disk(ErrorKind),
}

/// A node that ran.
#[derive(Debug, Default)]
pub struct RecordedNode {
    /// Its runs, in their order.
    pub runs: Vec<RecordedRun>,
}

/// A run.
#[derive(Debug, Default)]
pub struct RecordedRun {
    /// Where each of its inputs came from.
    pub sources: Vec<Option<InputSource>>,
    /// Whether it failed.
    pub failed: bool,
    /// The message of its error.
    pub error: Option<String>,
    /// Its `main` outputs.
    pub outputs: Vec<RecordedOutput>,
    /// Where its items are in [`Recording::items`], if they are kept.
    pub items: Range<u64>,
}

/// The items of an output.
#[derive(Debug, Default)]
pub struct RecordedOutput {
    /// The hash of each item's `json`.
    pub hashes: Vec<u64>,
    /// How many of them stand for an error.
    pub errors: u64,
}

impl Recording {
    /// The hashes of the items of an output; empty if the run has no such output.
    pub fn hashes(&self, source: &InputSource) -> &[u64] {
        let run = self.nodes.get(&source.node).and_then(|node| node.runs.get(source.run as usize));
        run.and_then(|run| run.outputs.get(source.output as usize)).map_or(&[], |output| &output.hashes)
    }

    /// The hashes of all items that a run received, in the order of its inputs; `None` for a run that received nothing from a node.
    pub fn received(&self, run: &RecordedRun) -> Option<Vec<u64>> {
        let mut sources = run.sources.iter().flatten().peekable();
        sources.peek()?;
        Some(sources.flat_map(|source| self.hashes(source)).copied().collect())
    }

    /// The nodes that ran without having received anything: the triggers.
    pub fn triggers(&self) -> impl Iterator<Item = &str> {
        let is_trigger =
            |node: &RecordedNode| node.runs.first().is_some_and(|run| run.sources.iter().flatten().next().is_none());
        self.nodes.iter().filter(move |(_, node)| is_trigger(node)).map(|(name, _)| name.as_str())
    }

    /// The node that failed, if the execution did.
    pub fn failed_node(&self) -> Option<&str> {
        let failed =
            |name: &&String| self.nodes.get(*name).is_some_and(|node| node.runs.last().is_some_and(|run| run.failed));
        self.error.as_ref()?;
        self.last_node.as_ref().filter(failed).map(String::as_str)
    }
}

impl RecordedNode {
    /// How many items all of its runs returned.
    pub fn items(&self) -> u64 {
        self.runs.iter().flat_map(|run| &run.outputs).map(|output| output.hashes.len() as u64).sum()
    }

    /// How many of them stand for an error.
    pub fn errors(&self) -> u64 {
        self.runs.iter().flat_map(|run| &run.outputs).map(|output| output.errors).sum()
    }
}

impl Projection for RecordingProjection {
    type View = Result<Recording, Error>;
    const KEEP: Keep = Keep::Members(&runs::keep::<Reader>(Keep::Whole));

    fn window(&self) -> Range<u64> {
        0..u64::MAX
    }

    fn read<R: Read>(&self, cursor: Cursor<R>) -> Self::View {
        let execution = runs::read(cursor, |_| Reader::new(self.clone()), workflow::read_json)?;
        let (data, reader) = (execution.data, execution.runs);
        Ok(Recording {
            header: execution.header,
            redacted: data.redacted || data.result.redacted_error.is_some(),
            error: data.result.error.or(data.result.redacted_error),
            last_node: data.result.last_node,
            workflow: execution.workflow,
            nodes: reader.nodes,
            items: reader.items,
            incomplete: reader.incomplete,
        })
    }
}

/// Reads the runs.
struct Reader {
    projection: RecordingProjection,
    nodes: IndexMap<String, RecordedNode>,
    node: RecordedNode,
    outputs: Vec<RecordedOutput>,
    /// Whether the items of this node are kept.
    keeps_items: bool,
    /// Whether the lists that follow are outputs.
    is_output: bool,
    items: Option<Spool>,
    /// Where the items of this run begin.
    run_begin: u64,
    hashes: u64,
    runs: usize,
    incomplete: Option<Incomplete>,
}

/// The parts of an item that are looked at.
#[derive(Deserialize)]
struct Parted<'a> {
    #[serde(borrow)]
    json: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
}

impl Reader {
    fn new(projection: RecordingProjection) -> Self {
        Self {
            projection,
            nodes: IndexMap::new(),
            node: RecordedNode::default(),
            outputs: Vec::new(),
            keeps_items: false,
            is_output: false,
            items: None,
            run_begin: 0,
            hashes: 0,
            runs: 0,
            incomplete: None,
        }
    }

    fn output(&mut self, at: u64) -> Option<&mut RecordedOutput> {
        /// No node has more outputs.
        const MAX_OUTPUTS: usize = 1000;
        let at = usize::try_from(at).ok().filter(|at| *at < MAX_OUTPUTS)?;
        while self.outputs.len() <= at {
            self.outputs.push(RecordedOutput::default());
        }
        self.outputs.get_mut(at)
    }

    fn add(&mut self, output: u64, text: &str) {
        self.hashes += 1;
        if self.hashes > MAX_ITEMS {
            self.incomplete = self.incomplete.or(Some(Incomplete::Runs));
            return;
        }
        let parted: Option<Parted<'_>> = serde_json::from_str(text).ok();
        let json = parted.as_ref().and_then(|item| item.json).map_or("{}", RawValue::get);
        let hash = match self.projection.kind {
            RecordingKind::Played(hash) => hash(json),
            RecordingKind::Taken => 0,
        };
        let is_error = parted.as_ref().is_some_and(|item| item.error.is_some()) || json.starts_with(r#"{"error":"#);
        if self.keeps_items && self.incomplete.is_none() {
            self.incomplete = self.keep(text).err();
        }
        let Some(output) = self.output(output) else { return };
        output.hashes.push(hash);
        output.errors += u64::from(is_error);
    }

    /// Keeps an item.
    fn keep(&mut self, text: &str) -> Result<(), Incomplete> {
        let begin = self.run_begin;
        let items = self.items.get_or_insert_with(|| Spool::new(ITEMS_IN_MEMORY, None));
        let is_taken = matches!(self.projection.kind, RecordingKind::Taken);
        if !is_taken && items.len() + text.len() as u64 > ITEMS_BYTES {
            return Err(Incomplete::Items);
        }
        let before = if !is_taken && items.len() > begin { "," } else { "" };
        let after = if is_taken { "\n" } else { "" };
        let added = items.add(before.as_bytes()).and_then(|()| items.add(text.as_bytes()));
        let added = added.and_then(|()| items.add(after.as_bytes()));
        added.map_err(|error| Incomplete::Disk(error.kind()))
    }

    /// The output in which an item counts, if it does.
    fn counted(&self, place: ItemPlace) -> Option<u64> {
        let output = match self.projection.kind {
            RecordingKind::Played(_) => place.main_output,
            RecordingKind::Taken => self.keeps_items.then_some(place.output),
        };
        output.filter(|_| self.is_output)
    }

    /// How many bytes of items are kept so far.
    fn kept(&self) -> u64 {
        self.items.as_ref().map_or(0, ReadAt::len)
    }
}

impl RunObserver for Reader {
    const PARTS: Parts =
        Parts::REDACTED.and(Parts::END).and(Parts::STATUS).and(Parts::ERROR).and(Parts::SOURCES).and(Parts::OUTPUTS);

    fn begin_node(&mut self, name: &str) {
        (self.node, self.outputs) = (RecordedNode::default(), Vec::new());
        self.keeps_items = self.projection.nodes.contains(name);
        self.run_begin = self.kept();
    }

    fn begin_lists(&mut self, _: u64, side: Side) {
        self.outputs = Vec::new();
        self.run_begin = self.kept();
        self.is_output = matches!(side, Side::Outputs);
    }

    fn item<R: Read>(&mut self, place: ItemPlace, item: Item<'_, R>) -> Result<(), ReadError> {
        let Some(output) = self.counted(place) else { return item.skip() };
        match item.text()? {
            ItemText::Json(json) => self.add(output, &compact(&json)),
            // The window holds every item.
            ItemText::Omitted => {}
            ItemText::TooLarge => self.incomplete = Some(Incomplete::LargeItem),
        }
        Ok(())
    }

    fn end_list(&mut self, end: ItemPlace) {
        // Also an output without items is one.
        if let Some(output) = self.counted(end) {
            self.output(output);
        }
    }

    fn end_run(&mut self, run: RunHead) -> Result<(), ReadError> {
        if matches!(self.projection.kind, RecordingKind::Taken) && !self.keeps_items {
            return Ok(());
        }
        self.runs += 1;
        if self.runs > MAX_RUNS {
            self.incomplete = self.incomplete.or(Some(Incomplete::Runs));
            return Ok(());
        }
        let items = self.run_begin..self.kept();
        self.run_begin = items.end;
        let message = run.error.as_ref().and_then(|error| error.member("message").unwrap_or(error).text());
        self.node.runs.push(RecordedRun {
            sources: run.sources,
            failed: run.failed,
            error: message.map(|message| message.chars().take(MESSAGE_CHARS).collect()),
            outputs: std::mem::take(&mut self.outputs),
            items,
        });
        Ok(())
    }

    fn end_node(&mut self, name: String) {
        self.nodes.insert(name, std::mem::take(&mut self.node));
    }
}

/// The text without the white space between its tokens: as `JSON.stringify` writes it.
fn compact(json: &[u8]) -> String {
    let (mut compact, mut in_string, mut escaped) = (Vec::with_capacity(json.len()), false, false);
    for byte in json {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' if !in_string => continue,
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ => {}
        }
        compact.push(*byte);
    }
    String::from_utf8(compact).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
