//! The expansion as an iterator: a few kilobytes at a time, however long a string or an array is.

use std::io;

use super::super::edit::{Edit, Step};
use super::super::token::ElementValue;
use super::Expansion;
use crate::json::{Batch, Fault, Pruner, ReadError};

/// A batch is returned once it has this many bytes.
const BATCH_BYTES: usize = 32 * 1024;

impl<E: Edit> Expansion<'_, '_, E> {
    /// Continues until there is a batch; returns whether there is more to come.
    fn advance(&mut self, pruner: &mut Pruner) -> Result<bool, ReadError> {
        if !self.begun {
            self.begun = true;
            for text in self.before {
                self.insert(pruner, text, Pruner::feed)?;
            }
            match self.edit.root() {
                step @ Step::Look { .. } => self.expand(pruner, ElementValue::Reference(0), step)?,
                step => self.resolve(pruner, 0, step)?,
            }
        }
        while self.left_bytes + pruner.selection().pending() < BATCH_BYTES {
            if self.string.is_some() {
                self.string(pruner.selection())?;
            } else if self.open.is_empty() {
                if !self.follow(pruner)? {
                    return Ok(false);
                }
            } else {
                self.part(pruner)?;
            }
        }
        Ok(true)
    }

    /// Filters the next piece of what comes after the value; returns whether there was one.
    fn follow(&mut self, pruner: &mut Pruner) -> Result<bool, ReadError> {
        if !std::mem::replace(&mut self.ended, true) {
            pruner.end_spliced();
        }
        let Some(after) = &mut self.after else { return Ok(false) };
        let mut piece = vec![0; BATCH_BYTES];
        let bytes = after.read(&mut piece)?;
        self.insert(pruner, &piece[..bytes], Pruner::feed)?;
        Ok(bytes > 0)
    }

    /// Filters JSON that is not in the flatted text.
    pub(super) fn insert(
        &mut self,
        pruner: &mut Pruner,
        json: &[u8],
        feed: fn(&mut Pruner, &[u8]) -> Result<Batch, Fault>,
    ) -> Result<(), ReadError> {
        self.left_bytes += pruner.selection().pending() + json.len();
        self.left.append(feed(pruner, json)?);
        Ok(())
    }
}

impl<E: Edit> Iterator for Expansion<'_, '_, E> {
    type Item = io::Result<Batch>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut pruner = self.pruner.take()?;
        let more = match self.advance(&mut pruner) {
            Ok(more) => more,
            Err(error) => return Some(Err(into_io(error))),
        };
        let mut batch = std::mem::take(&mut self.left);
        self.left_bytes = 0;
        batch.append(pruner.take());
        if more {
            self.pruner = Some(pruner);
            return Some(Ok(batch));
        }
        Some(finish(pruner, batch).map_err(io::Error::other))
    }
}

/// The last batch.
fn finish(pruner: Pruner, mut batch: Batch) -> Result<Batch, Fault> {
    batch.append(pruner.finish()?);
    Ok(batch)
}

fn into_io(error: ReadError) -> io::Error {
    match error {
        ReadError::Fault(fault) => io::Error::other(fault),
        ReadError::Io(error) => error,
        ReadError::Syntax(message) => io::Error::other(message),
    }
}
