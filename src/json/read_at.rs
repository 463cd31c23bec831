//! Bytes at a position.

use std::io::{self, BufRead, Read};

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

    /// Announces that most of the bytes will be read, so that a source that fetches them need not begin with a few.
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

impl<T: ReadAt + ?Sized> ReadAt for Box<T> {
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

/// How much is read at once, bytes.
const PIECE: u64 = 64 * 1024;

/// Reads bytes at positions from the first one to the last one, in pieces of 64 KiB.
pub struct InOrder<T> {
    source: T,
    /// Where the next piece begins.
    position: u64,
    piece: Vec<u8>,
    /// How much of the piece was consumed.
    consumed: usize,
}

impl<T: ReadAt> InOrder<T> {
    /// Reads the bytes of `source`.
    pub fn new(source: T) -> Self {
        Self { source, position: 0, piece: Vec::new(), consumed: 0 }
    }
}

impl<T: ReadAt> BufRead for InOrder<T> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.consumed == self.piece.len() {
            let left = self.source.len().saturating_sub(self.position);
            self.consumed = 0;
            self.piece.resize(left.min(PIECE) as usize, 0);
            if let Err(error) = self.source.read_at(self.position, &mut self.piece) {
                self.piece.clear();
                return Err(error);
            }
            self.position += self.piece.len() as u64;
        }
        Ok(&self.piece[self.consumed..])
    }

    fn consume(&mut self, bytes: usize) {
        self.consumed = (self.consumed + bytes).min(self.piece.len());
    }
}

impl<T: ReadAt> Read for InOrder<T> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
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
