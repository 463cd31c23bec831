//! A text that is fetched in growing pieces, only as far as it is read, and kept along with the database's connection.

use std::io;
use std::path::{Path, PathBuf};

use super::error::Error;
use crate::json::{ReadAt, Spool};

/// What is kept in memory before there is a file, bytes.
pub(super) const IN_MEMORY: usize = 1024 * 1024;

/// An empty spool of a text.
pub(super) fn spool(folder: Option<&Path>) -> Spool {
    Spool::new(IN_MEMORY, folder)
}

/// Adds the next bytes of a text.
///
/// # Errors
/// The temporary file cannot be written.
pub(super) fn add(spool: &mut Spool, bytes: &[u8]) -> Result<(), Error> {
    spool.add(bytes).map_err(|error| Error::Spool(error.kind()))
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
        Self { spool: spool(folder.map(PathBuf::as_path)), length, expected: Expected::Prefix, fetch }
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
        while self.spool.len() < end {
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
                add(spool, if told == Expected::All { b"aaaaaa" } else { b"aa" })
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
