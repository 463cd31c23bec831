//! Bytes that are written once and read at any position, in memory while there are few of them.
//!
//! Beyond that, they are in a temporary file without a name, which only this user can read, and which ends with its
//! owner.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use tempfile::{SpooledTempFile, spooled_tempfile, spooled_tempfile_in};

use super::ReadAt;

/// The bytes that were added, from the beginning.
#[derive(Debug)]
pub struct Spool {
    file: SpooledTempFile,
    filled: u64,
    in_memory: u64,
    /// How many bytes there is room for in memory.
    room: u64,
}

impl Spool {
    /// An empty spool that keeps this many bytes in memory; its file is in `folder`, or else in the system's folder for
    /// temporary files.
    pub fn new(in_memory: usize, folder: Option<&Path>) -> Self {
        let file = folder.map_or_else(|| spooled_tempfile(in_memory), |folder| spooled_tempfile_in(in_memory, folder));
        Self { file, filled: 0, in_memory: in_memory as u64, room: 0 }
    }

    /// Adds the next bytes.
    ///
    /// # Errors
    /// The temporary file cannot be written.
    pub fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        let filled = self.filled + bytes.len() as u64;
        self.grow(filled)?;
        self.file.seek(SeekFrom::Start(self.filled))?;
        self.file.write_all(bytes)?;
        self.filled = filled;
        Ok(())
    }

    /// Doubles the memory, but not beyond what may be in memory: the file's own buffer would grow to almost twice that.
    fn grow(&mut self, filled: u64) -> io::Result<()> {
        if self.room < filled && filled <= self.in_memory {
            self.room = filled.next_power_of_two().min(self.in_memory);
            self.file.set_len(self.room)?;
        }
        Ok(())
    }
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.add(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl ReadAt for Spool {
    fn len(&self) -> u64 {
        self.filled
    }

    fn read_at(&mut self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        if position + buffer.len() as u64 > self.filled {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.file.seek(SeekFrom::Start(position))?;
        self.file.read_exact(buffer)
    }
}
