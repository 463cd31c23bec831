//! Prunes a body from a reader that may block: a file, standard input, a test.

use std::io::{self, BufRead};

use super::batch::Batch;
use super::fault::ReadError;
use super::keep::Keep;
use super::prune::Pruner;

/// How much of a buffer is pruned at once, bytes: what is left of it is read while it is still in the processor's cache.
const PIECE_BYTES: usize = 256 * 1024;

/// Reads a body through a pruner, one buffer at a time: an iterator of [`Batch`]es for
/// [`Cursor::over`](super::Cursor::over).
///
/// After an error, which is a [`Fault`](super::Fault) inside an [`io::Error`] or the reader's own, there are no more
/// batches.
pub struct PrunedReader<R> {
    body: R,
    pruner: Option<Pruner>,
}

impl<R: BufRead> PrunedReader<R> {
    /// Reads `body` through `pruner`.
    pub fn new(body: R, pruner: Pruner) -> Self {
        Self { body, pruner: Some(pruner) }
    }

    /// The next batch; at the end of the body the last one. Puts the pruner back if there is more to come.
    fn batch(&mut self, mut pruner: Pruner) -> io::Result<Batch> {
        let chunk = match self.body.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                self.pruner = Some(pruner);
                return Ok(Batch::default());
            }
            chunk => chunk?,
        };
        if chunk.is_empty() {
            return pruner.finish().map_err(io::Error::other);
        }
        let piece = &chunk[..chunk.len().min(PIECE_BYTES)];
        let batch = pruner.feed(piece).map_err(io::Error::other)?;
        let len = piece.len();
        self.body.consume(len);
        self.pruner = Some(pruner);
        Ok(batch)
    }
}

impl<R: BufRead> Iterator for PrunedReader<R> {
    type Item = io::Result<Batch>;

    fn next(&mut self) -> Option<Self::Item> {
        let pruner = self.pruner.take()?;
        Some(self.batch(pruner))
    }
}

/// Checks that a text is one JSON value, as thoroughly as the filter checks what it skips.
///
/// # Errors
/// When it is not, or cannot be read.
pub fn check(text: impl BufRead) -> Result<(), ReadError> {
    PrunedReader::new(text, Pruner::new(Keep::Skip, 0..0)).try_for_each(|batch| batch.map(drop))?;
    Ok(())
}
