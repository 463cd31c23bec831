//! Bytes at a position.

use std::io;

/// Bytes that can be read at any position: a file, a BLOB of a database, a spool.
///
/// The length and the bytes must not change while they are read.
pub trait ReadAt {
    /// How many bytes there are.
    fn len(&self) -> u64;

    /// Fills `buffer` with the bytes from `position` on.
    ///
    /// # Errors
    /// When the bytes cannot be read, or there are fewer than the buffer needs ([`io::ErrorKind::UnexpectedEof`]).
    fn read_at(&mut self, position: u64, buffer: &mut [u8]) -> io::Result<()>;

    /// Tells that most of the bytes will be read, so that a source that fetches them need not begin with a few.
    fn expect_all(&mut self) {}

    /// Whether there are no bytes.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T: ReadAt + ?Sized> ReadAt for &mut T {
    fn len(&self) -> u64 {
        (**self).len()
    }

    fn read_at(&mut self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        (**self).read_at(position, buffer)
    }

    fn expect_all(&mut self) {
        (**self).expect_all();
    }
}

impl ReadAt for &[u8] {
    fn len(&self) -> u64 {
        (**self).len() as u64
    }

    fn read_at(&mut self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        let from = usize::try_from(position).ok();
        let bytes = from.and_then(|from| self.get(from..from.checked_add(buffer.len())?));
        buffer.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

impl ReadAt for std::fs::File {
    fn len(&self) -> u64 {
        self.metadata().map_or(0, |metadata| metadata.len())
    }

    #[cfg(unix)]
    fn read_at(&mut self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(self, buffer, position)
    }

    #[cfg(not(unix))]
    fn read_at(&mut self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        use std::io::{Read, Seek, SeekFrom};

        self.seek(SeekFrom::Start(position))?;
        self.read_exact(buffer)
    }
}
