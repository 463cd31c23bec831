//! Prunes a body ahead, on a thread of its own.

use std::io::{self, BufRead};
use std::sync::mpsc::{IntoIter, sync_channel};

use super::batch::Batch;
use super::prune::Pruner;
use super::pruned_reader::PrunedReader;

/// How many batches wait to be read.
const BATCHES: usize = 2;

/// What the filter leaves of a body, which another thread prunes ahead: an iterator of [`Batch`]es for
/// [`Cursor::over`](super::Cursor::over).
pub struct PruneAhead(IntoIter<io::Result<Batch>>);

impl PruneAhead {
    /// Starts a thread that prunes `body`; it ends with the body, or when this iterator is dropped.
    pub fn new(body: impl BufRead + Send + 'static, pruner: Pruner) -> Self {
        let (sender, batches) = sync_channel(BATCHES);
        std::thread::spawn(move || {
            // Each batch wakes the other thread, which an empty one is not worth.
            let worthwhile = |batch: &io::Result<Batch>| {
                batch.as_ref().map_or(true, |batch| !batch.is_empty() || batch.has_replacement)
            };
            for batch in PrunedReader::new(body, pruner).filter(worthwhile) {
                if sender.send(batch).is_err() {
                    return;
                }
            }
        });
        Self(batches.into_iter())
    }
}

impl Iterator for PruneAhead {
    type Item = io::Result<Batch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }
}
