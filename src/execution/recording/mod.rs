//! The recording of an execution: what each run received and returned, as far as running the workflow again needs it.
//!
//! Of each item only a hash is held, so that two executions can be compared item by item. The items themselves are kept
//! only for named nodes, which are to answer as they did, or whose items are downloaded: one after another in a
//! [`Spool`], in a temporary file if there are many. Items are captured byte for byte; one of more than 1 MiB is read
//! piece by piece.

mod hash;
mod item;

use std::collections::HashSet;
use std::io::{self, ErrorKind, Write};
use std::ops::Range;
use std::sync::Arc;

use indexmap::IndexMap;

use self::hash::chained;
use self::item::ItemHashes;
use super::Error;
use super::failure::Failure;
use super::header::Header;
use super::runs::{self, Item, ItemPlace, ItemText, Parts, RunHead, RunObserver, Side};
use super::source::InputSource;
use super::workflow;
use crate::json::{Capture, Cursor, Keep, Projection, Pruner, ReadAt, ReadError, Spool};

/// The maximum number of bytes of items kept in memory.
pub const ITEMS_IN_MEMORY: usize = 4 * 1024 * 1024;

/// The maximum number of bytes of items kept: n8n accepts files of 200 MiB together (`N8N_FORMDATA_FILE_SIZE_MAX`).
pub const ITEMS_BYTES: u64 = 150 * 1024 * 1024;

/// The maximum number of items whose hashes are held.
const MAX_ITEMS: u64 = 1_000_000;

/// The maximum number of runs held.
const MAX_RUNS: usize = 100_000;

/// Characters held of the message of a run's error: n8n's are sentences.
const MESSAGE_CHARS: usize = 4000;

/// Reads a [`Recording`].
#[derive(Clone, Debug)]
pub struct RecordingProjection(RecordedItems);

/// Which items are read.
#[derive(Clone, Debug)]
enum RecordedItems {
    None,
    /// All are hashed by what they say, however it is written.
    Compared,
    /// All are hashed and kept.
    Every,
    /// All are hashed; those of these nodes are kept, to be replayed.
    All(Arc<HashSet<String>>),
    /// Those of these nodes are kept, to be downloaded.
    Only(Arc<HashSet<String>>),
}

impl RecordingProjection {
    /// Without items: which nodes ran, what fed them, and how they ended.
    pub fn of_runs() -> Self {
        Self(RecordedItems::None)
    }

    /// With the hash of every item.
    pub fn of_items() -> Self {
        Self::keeping(HashSet::new())
    }

    /// With a hash of every item that depends neither on the order of its members nor on how its texts are escaped. (It does for
    /// an item of more than 1 MiB.)
    pub fn of_values() -> Self {
        Self(RecordedItems::Compared)
    }

    /// With the hash of every item, and with the items themselves: for a reader that learns only from the recording which it needs.
    pub fn keeping_all() -> Self {
        Self(RecordedItems::Every)
    }

    /// With the hash of every item, and with the items of these nodes.
    pub fn keeping(nodes: HashSet<String>) -> Self {
        Self(RecordedItems::All(Arc::new(nodes)))
    }

    /// With the items of these nodes, as many as there is room for in the folder for temporary files, and nothing of the other
    /// nodes. The outputs of sub-nodes count, too; an item of more than 1 MiB is refused ([`Incomplete::LargeItem`]).
    pub fn only(nodes: HashSet<String>) -> Self {
        Self(RecordedItems::Only(Arc::new(nodes)))
    }
}

impl RecordedItems {
    /// Whether the items of a node are kept.
    fn keeps(&self, node: &str) -> bool {
        match self {
            Self::None | Self::Compared => false,
            Self::Every => true,
            Self::All(nodes) | Self::Only(nodes) => nodes.contains(node),
        }
    }

    fn are_only_kept(&self) -> bool {
        matches!(self, Self::Only(_))
    }

    /// The separator between the items of a run.
    fn separator(&self) -> &'static [u8] {
        if self.are_only_kept() { b"\n" } else { b"," }
    }

    /// The maximum number of bytes of items kept.
    fn most_bytes(&self) -> u64 {
        if self.are_only_kept() { u64::MAX } else { ITEMS_BYTES }
    }
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
    /// The kept items, as JSON: those of a run with commas between them, or line feeds if they are
    /// downloaded.
    pub items: Option<Spool>,
    /// Why it is incomplete, if it is.
    pub incomplete: Option<Incomplete>,
}

/// Why a recording is incomplete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incomplete {
    /// The kept items have more than [`ITEMS_BYTES`].
    Items,
    /// An item of more than 1 MiB has half of a surrogate pair, or a character that can stand for one; or is for a
    /// download.
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
    /// One hash of the names, types and sizes of all their files.
    pub files: u64,
    /// One hash of what they came from, `pairedItem`.
    pub pairing: u64,
    /// How many of them stand for an error.
    pub errors: u64,
    /// How many of them have neither values nor files.
    pub empty: u64,
    /// How many of them contain U+FFFD: the API of n8n 2.41 puts it for characters of large items.
    pub replaced: u64,
}

impl Recording {
    /// The outputs that a run received, in the order of its inputs.
    pub fn inputs<'a>(&'a self, run: &'a RecordedRun) -> impl Iterator<Item = &'a RecordedOutput> {
        run.sources.iter().flatten().filter_map(|source| {
            let run = self.nodes.get(&source.node)?.runs.get(source.run as usize)?;
            run.outputs.get(source.output as usize)
        })
    }

    /// The hashes of all items that a run received; `None` for a run that received nothing from a node.
    pub fn received(&self, run: &RecordedRun) -> Option<Vec<u64>> {
        run.sources.iter().flatten().next()?;
        Some(self.inputs(run).flat_map(|output| &output.hashes).copied().collect())
    }

    /// The hashes of the items that a run read; `once`: only the first that it received. `None` as above.
    pub fn read(&self, run: &RecordedRun, once: bool) -> Option<Vec<u64>> {
        let mut items = self.received(run)?;
        items.truncate(if once { 1 } else { usize::MAX });
        Some(items)
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
        match self.0 {
            RecordedItems::None => 0..0,
            _ => 0..u64::MAX,
        }
    }

    /// Byte for byte: a node of a copy answers what was recorded, half of a surrogate pair included. A download has
    /// U+FFFD in its place, like everything that is shown.
    fn pruner(&self) -> Pruner {
        let pruner = Pruner::new(Self::KEEP, self.window()).with_whole_strings();
        if self.0.are_only_kept() { pruner } else { pruner.capturing(Capture::all()) }
    }

    fn read(&self, cursor: Cursor<'_>) -> Self::View {
        let execution = runs::read(cursor, |_| Reader::new(self.0.clone()), workflow::read_json)?;
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
    wanted: RecordedItems,
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

impl Reader {
    fn new(wanted: RecordedItems) -> Self {
        Self {
            wanted,
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

    /// Reads an item, and keeps it if its node's items are kept.
    fn read_item(&mut self, item: Item<'_, '_>) -> Result<Option<ItemHashes>, ReadError> {
        if self.hashes >= MAX_ITEMS {
            self.incomplete = self.incomplete.or(Some(Incomplete::Runs));
            return item.skip().map(|()| None);
        }
        if self.wanted.are_only_kept() {
            return self.keep_line(item);
        }
        let is_compared = matches!(self.wanted, RecordedItems::Compared);
        let mut keeper = Keeper { reader: self, has_begun: false };
        let hashes = match item {
            // The window holds every item, or none.
            Item::Omitted(_) => return Ok(None),
            Item::Captured(json) if is_compared => {
                Some(item::by_value(&compact(&json)).map_err(|kind| ReadError::Syntax(format!("{kind} in an item")))?)
            }
            Item::Captured(json) => Some(item::read(&compact(&json), &mut keeper).map_err(ReadError::Io)?),
            Item::Unread(cursor) => item::stream(cursor, &mut keeper)?,
        };
        self.hashes += 1;
        if hashes.is_none() {
            self.incomplete = self.incomplete.or(Some(Incomplete::LargeItem));
        }
        Ok(hashes)
    }

    /// Keeps an item as a line, without hashes.
    fn keep_line(&mut self, item: Item<'_, '_>) -> Result<Option<ItemHashes>, ReadError> {
        match item.text()? {
            ItemText::Json(json) => {
                let mut keeper = Keeper { reader: self, has_begun: false };
                keeper.write_all(compact(&json).as_bytes()).map_err(ReadError::Io)?;
                self.hashes += 1;
                return Ok(Some(ItemHashes::default()));
            }
            // The window holds every item.
            ItemText::Omitted => {}
            ItemText::TooLarge => self.incomplete = self.incomplete.or(Some(Incomplete::LargeItem)),
        }
        Ok(None)
    }

    /// The output in which an item counts, if it does.
    fn counted(&self, place: ItemPlace) -> Option<u64> {
        let output = match self.wanted.are_only_kept() {
            true => self.keeps_items.then_some(place.output),
            false => place.main_output,
        };
        output.filter(|_| self.is_output)
    }

    /// How many bytes of items are kept so far.
    fn kept_bytes(&self) -> u64 {
        self.items.as_ref().map_or(0, ReadAt::len)
    }
}

/// Keeps an item, if its node's items are kept and there is room; otherwise notes why not, and reading goes on.
struct Keeper<'a> {
    reader: &'a mut Reader,
    /// Whether a byte of the item is kept.
    has_begun: bool,
}

impl Write for Keeper<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Reader { items, run_begin, keeps_items, incomplete, wanted, .. } = &mut *self.reader;
        if *keeps_items && incomplete.is_none() {
            let items = items.get_or_insert_with(|| Spool::new(ITEMS_IN_MEMORY, None));
            let before = if self.has_begun || items.len() == *run_begin { b"" } else { wanted.separator() };
            self.has_begun = true;
            *incomplete = match items.add(before).and_then(|()| items.add(bytes)) {
                Ok(()) if items.len() > wanted.most_bytes() => Some(Incomplete::Items),
                Ok(()) => None,
                Err(error) => Some(Incomplete::Disk(error.kind())),
            };
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl RunObserver for Reader {
    const PARTS: Parts =
        Parts::REDACTED.and(Parts::END).and(Parts::STATUS).and(Parts::ERROR).and(Parts::SOURCES).and(Parts::OUTPUTS);

    fn begin_node(&mut self, name: &str) {
        (self.node, self.outputs) = (RecordedNode::default(), Vec::new());
        self.keeps_items = self.wanted.keeps(name);
        self.run_begin = self.kept_bytes();
    }

    fn begin_lists(&mut self, _: u64, side: Side) {
        self.outputs = Vec::new();
        self.run_begin = self.kept_bytes();
        self.is_output = matches!(side, Side::Outputs);
    }

    fn item(&mut self, place: ItemPlace, item: Item<'_, '_>) -> Result<(), ReadError> {
        let Some(output) = self.counted(place) else { return item.skip() };
        let Some(hashes) = self.read_item(item)? else { return Ok(()) };
        if let Some(output) = self.output(output) {
            output.hashes.push(hashes.json);
            output.files = chained(output.files, hashes.files);
            output.pairing = chained(output.pairing, hashes.pairing);
            output.errors += u64::from(hashes.is_error);
            output.empty += u64::from(!hashes.has_content);
            output.replaced += u64::from(hashes.is_replaced);
        }
        Ok(())
    }

    fn end_list(&mut self, end: ItemPlace) {
        // An output without items is one, too.
        if let Some(output) = self.counted(end) {
            self.output(output);
        }
    }

    fn end_run(&mut self, run: RunHead) -> Result<(), ReadError> {
        if self.wanted.are_only_kept() && !self.keeps_items {
            return Ok(());
        }
        self.runs += 1;
        if self.runs > MAX_RUNS {
            self.incomplete = self.incomplete.or(Some(Incomplete::Runs));
            return Ok(());
        }
        let items = self.run_begin..self.kept_bytes();
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
