//! How recorded items get into copies: in the nodes' code or, if there are many, as files of the call that starts a copy.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use futures::StreamExt;
use futures::stream::{self, BoxStream};

use crate::blocking::blocking;
use crate::execution::recording::{ITEMS_IN_MEMORY, RecordedRun, Recording};
use crate::json::{ReadAt, Spool};
use crate::n8n::ProductionFile;
use crate::tools::Error;
use crate::workflow::replay::{Played, PlayedItems, PlayedRun};

/// How many bytes are read at once.
const PIECE: u64 = 64 * 1024;

/// How many bytes of packed items are held in memory.
const PACKED_IN_MEMORY: usize = 1024 * 1024;

/// The recordings of the nodes that answer from them.
pub(super) struct Carried {
    played: HashMap<String, Played>,
    parts: Vec<Part>,
    /// The files, one after another.
    packed: Arc<Mutex<Spool>>,
}

/// A run as a file: its items, and the text before and after them, packed.
struct Part {
    name: String,
    bytes: Range<u64>,
}

impl Carried {
    /// Takes the items of these nodes out of a recording; `is_once` says which of them read only the first item that they receive.
    ///
    /// # Errors
    /// A temporary file cannot be read or written.
    pub(super) fn of(
        recording: &mut Recording,
        names: &HashSet<String>,
        is_once: impl Fn(&str) -> bool,
    ) -> Result<Self, Error> {
        let mut items = recording.items.take().unwrap_or_else(|| Spool::new(0, None));
        let (mut of_nodes, mut parts) = (HashMap::new(), Vec::new());
        let runs = recording.nodes.iter().filter(|(name, _)| names.contains(*name)).flat_map(|(_, node)| &node.runs);
        let is_large = runs.map(|run| run.items.end - run.items.start).sum::<u64>() > ITEMS_IN_MEMORY as u64;
        let mut packed = Spool::new(PACKED_IN_MEMORY, None);
        for (at, (name, node)) in recording.nodes.iter().enumerate().filter(|(_, (name, _))| names.contains(*name)) {
            let once = is_once(name);
            let mut played = Played { runs: node.runs.iter().map(|run| played_run(recording, run, once)).collect() };
            for (number, run) in node.runs.iter().enumerate() {
                played.runs[number].items = match is_large {
                    true => {
                        let part = format!("s{at}r{number}");
                        let begin = packed.len();
                        let size = pack(&played.part(number), &mut items, &run.items, &mut packed).map_err(unusable)?;
                        parts.push(Part { name: part.clone(), bytes: begin..packed.len() });
                        PlayedItems::InPart { name: part, size }
                    }
                    false => PlayedItems::Here(text(&mut items, run).map_err(unusable)?),
                };
            }
            of_nodes.insert(name.clone(), played);
        }
        Ok(Self { played: of_nodes, parts, packed: Arc::new(Mutex::new(packed)) })
    }

    /// The recording of a node, which is empty for one that did not run.
    pub(super) fn played(&self, name: &str) -> Played {
        self.played.get(name).cloned().unwrap_or_default()
    }

    /// The files of the call that starts a copy.
    pub(super) fn files(&self) -> Vec<ProductionFile> {
        let file = |part: &Part| ProductionFile {
            name: part.name.clone(),
            length: part.bytes.end - part.bytes.start,
            bytes: pieces(self.packed.clone(), part.bytes.clone()),
        };
        self.parts.iter().map(file).collect()
    }
}

/// Packs the items of a run, and the text before and after them; returns the unpacked size in bytes.
fn pack([before, after]: &[String; 2], items: &mut Spool, run: &Range<u64>, packed: &mut Spool) -> io::Result<u64> {
    let mut packer = DeflateEncoder::new(packed, Compression::fast());
    packer.write_all(before.as_bytes())?;
    let mut position = run.start;
    while position < run.end {
        let mut piece = vec![0; PIECE.min(run.end - position) as usize];
        items.read_at(position, &mut piece)?;
        packer.write_all(&piece)?;
        position += piece.len() as u64;
    }
    packer.write_all(after.as_bytes())?;
    packer.finish()?;
    Ok(before.len() as u64 + (run.end - run.start) + after.len() as u64)
}

/// A run, without its items; `once`: it read only the first of those that it received.
fn played_run(recording: &Recording, run: &RecordedRun, once: bool) -> PlayedRun {
    let outputs: Vec<usize> = run.outputs.iter().map(|output| output.hashes.len()).collect();
    // A run that continued after its error answers with the items that stand for it.
    let error = run.error.clone().filter(|_| run.failed && outputs.iter().all(|items| *items == 0));
    PlayedRun { received: recording.read(run, once), outputs, error, ..PlayedRun::default() }
}

fn text(items: &mut Spool, run: &RecordedRun) -> io::Result<String> {
    let mut text = vec![0; (run.items.end - run.items.start) as usize];
    items.read_at(run.items.start, &mut text)?;
    String::from_utf8(text).map_err(io::Error::other)
}

fn unusable(error: io::Error) -> Error {
    Error::FailedPrecondition(format!(
        "A temporary file for the recorded items cannot be used: {}. Nothing was created.",
        error.kind()
    ))
}

/// The bytes in this range.
fn pieces(items: Arc<Mutex<Spool>>, range: Range<u64>) -> BoxStream<'static, io::Result<Bytes>> {
    let next = move |position: u64| {
        let (items, end) = (items.clone(), range.end.min(position + PIECE));
        async move {
            if position >= end {
                return None;
            }
            let read = blocking(move || {
                let mut piece = vec![0; (end - position) as usize];
                items.lock().unwrap_or_else(PoisonError::into_inner).read_at(position, &mut piece).map(|()| piece)
            });
            Some((read.await.map(Bytes::from), end))
        }
    };
    stream::unfold(range.start, next).boxed()
}
