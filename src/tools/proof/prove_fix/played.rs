//! How recorded items get into copies: in their code, or, if they are many, as files of the call that starts a copy.

use std::collections::{HashMap, HashSet};
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::{self, BoxStream};

use crate::blocking::blocking;
use crate::execution::recording::{ITEMS_IN_MEMORY, RecordedNode, RecordedRun, Recording};
use crate::json::{ReadAt, Spool};
use crate::n8n::ProductionFile;
use crate::tools::Error;
use crate::workflow::replay::{Played, PlayedItems, PlayedRun};

/// Bytes that are read at once from the recorded items.
const PIECE: u64 = 64 * 1024;

/// What was recorded of the nodes that answer.
pub(super) struct Carried {
    played: HashMap<String, Played>,
    parts: Vec<Part>,
    items: Arc<Mutex<Spool>>,
}

/// What a run did, as a file: its items, and what stands before and after them.
struct Part {
    name: String,
    around: [String; 2],
    items: Range<u64>,
}

impl Carried {
    /// The items of a recording, which are taken out of it.
    ///
    /// # Errors
    /// The temporary file cannot be read.
    pub(super) fn of(recording: &mut Recording, names: &HashSet<String>) -> Result<Self, Error> {
        let mut items = recording.items.take().unwrap_or_else(|| Spool::new(0, None));
        let is_large = items.len() > ITEMS_IN_MEMORY as u64;
        let (mut played, mut parts) = (HashMap::new(), Vec::new());
        for (at, (name, node)) in recording.nodes.iter().enumerate().filter(|(_, (name, _))| names.contains(*name)) {
            let mut runs = Vec::new();
            for (number, run) in node.runs.iter().enumerate() {
                let items = match is_large {
                    true => PlayedItems::InPart(format!("s{at}r{number}")),
                    false => PlayedItems::Here(text(&mut items, run).map_err(unread)?),
                };
                runs.push(played_run(recording, run, items));
            }
            let of_node = Played { runs };
            if is_large {
                parts.extend(parts_of(node, &of_node));
            }
            played.insert(name.clone(), of_node);
        }
        Ok(Self { played, parts, items: Arc::new(Mutex::new(items)) })
    }

    /// What was recorded of a node: nothing of one that did not run.
    pub(super) fn played(&self, name: &str) -> Played {
        self.played.get(name).cloned().unwrap_or_default()
    }

    /// The files of the call that starts a copy.
    pub(super) fn files(&self) -> Vec<ProductionFile> {
        let file = |part: &Part| {
            let [before, after] = part.around.clone().map(Bytes::from);
            let length = before.len() as u64 + (part.items.end - part.items.start) + after.len() as u64;
            let ends = [before, after].map(|bytes| stream::iter([Ok(bytes)]));
            let [before, after] = ends;
            let bytes = before.chain(pieces(self.items.clone(), part.items.clone())).chain(after).boxed();
            ProductionFile { name: part.name.clone(), length, bytes }
        };
        self.parts.iter().map(file).collect()
    }
}

/// The files of a node.
fn parts_of(node: &RecordedNode, played: &Played) -> Vec<Part> {
    let part = |(number, (run, of_run)): (usize, (&RecordedRun, &PlayedRun))| match &of_run.items {
        PlayedItems::InPart(name) => {
            Some(Part { name: name.clone(), around: played.part(number), items: run.items.clone() })
        }
        PlayedItems::Here(_) => None,
    };
    node.runs.iter().zip(&played.runs).enumerate().filter_map(part).collect()
}

fn played_run(recording: &Recording, run: &RecordedRun, items: PlayedItems) -> PlayedRun {
    let outputs: Vec<usize> = run.outputs.iter().map(|output| output.hashes.len()).collect();
    // A run that went on after its error answers with the items that stand for it.
    let error = run.error.clone().filter(|_| run.failed && outputs.iter().all(|items| *items == 0));
    PlayedRun { received: recording.received(run), outputs, items, error }
}

fn text(items: &mut Spool, run: &RecordedRun) -> io::Result<String> {
    let mut text = vec![0; (run.items.end - run.items.start) as usize];
    items.read_at(run.items.start, &mut text)?;
    String::from_utf8(text).map_err(io::Error::other)
}

fn unread(error: io::Error) -> Error {
    Error::FailedPrecondition(format!(
        "A temporary file for the recorded items cannot be read: {}. Nothing was created.",
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
