//! A text that is fetched in growing pieces, only as far as it is read, and kept along with the database's connection.
//!
//! Small texts stay in memory; larger ones are in a temporary file that has no name, readable by this user only, and that
//! ends with the question.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::{SpooledTempFile, spooled_tempfile, spooled_tempfile_in};

use super::error::Error;
use crate::json::ReadAt;

/// What is kept in memory before there is a file, bytes.
pub(super) const IN_MEMORY: usize = 1024 * 1024;

/// The bytes that were fetched, from the beginning.
pub(super) struct Spool {
    file: SpooledTempFile,
    filled: u64,
}

impl Spool {
    /// An empty spool whose file is in `folder`, or else in the system's folder for temporary files.
    pub(super) fn new(folder: Option<&Path>) -> Self {
        let file = folder.map_or_else(|| spooled_tempfile(IN_MEMORY), |folder| spooled_tempfile_in(IN_MEMORY, folder));
        Self { file, filled: 0 }
    }

    /// How many bytes were fetched.
    pub(super) fn filled(&self) -> u64 {
        self.filled
    }

    /// Adds the next bytes.
    ///
    /// # Errors
    /// The temporary file cannot be written.
    pub(super) fn add(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let end = SeekFrom::Start(self.filled);
        let written = self.file.seek(end).and_then(|_| self.file.write_all(bytes));
        written.map_err(|error| Error::Spool(error.kind()))?;
        self.filled += bytes.len() as u64;
        Ok(())
    }
}

impl ReadAt for Spool {
    fn len(&self) -> u64 {
        self.filled
    }

    fn read_at(&mut self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(position))?;
        self.file.read_exact(buffer)
    }
}

/// How much of a text is expected to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    Prefix,
    All,
}

/// A text of known length; `fetch` adds more of it to the spool, at least one byte in each call.
pub(super) struct GrowingText<F> {
    spool: Spool,
    length: u64,
    expected: Expected,
    fetch: F,
}

impl<F: FnMut(&mut Spool, Expected) -> Result<(), Error>> GrowingText<F> {
    pub(super) fn new(folder: Option<&PathBuf>, length: u64, fetch: F) -> Self {
        Self { spool: Spool::new(folder.map(PathBuf::as_path)), length, expected: Expected::Prefix, fetch }
    }
}

impl<F: FnMut(&mut Spool, Expected) -> Result<(), Error>> ReadAt for GrowingText<F> {
    fn len(&self) -> u64 {
        self.length
    }

    fn read_at(&mut self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        let end = position.saturating_add(buffer.len() as u64);
        if end > self.length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        while self.spool.filled() < end {
            (self.fetch)(&mut self.spool, self.expected)?;
        }
        self.spool.read_at(position, buffer)
    }

    fn expect_all(&mut self) {
        self.expected = Expected::All;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;

    #[test]
    fn what_is_expected_is_told_with_each_fetch() {
        for (expected, pieces) in [(Expected::Prefix, 3), (Expected::All, 1)] {
            let mut fetched = 0;
            let mut text = GrowingText::new(None, 6, |spool, told| {
                assert_eq!(told, expected);
                fetched += 1;
                spool.add(if told == Expected::All { b"aaaaaa" } else { b"aa" })
            });
            if expected == Expected::All {
                text.expect_all();
            }
            let mut read = [0; 6];
            text.read_at(0, &mut read).unwrap();
            drop(text);
            assert_eq!((&read, fetched), (b"aaaaaa", pieces));
        }
    }
}
