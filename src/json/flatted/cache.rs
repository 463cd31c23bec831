//! The chunks of a text that were used last.

use std::io;

use crate::json::ReadAt;

/// The size of a chunk, bytes.
pub(super) const CHUNK: u64 = 64 * 1024;

/// How many chunks are held: siblings are neighbours at each depth of a breadth-first text, and no table of what is
/// kept has as many levels.
const CHUNKS: usize = 32;

/// A chunk in memory.
pub(super) struct Chunk {
    /// Its number: it begins at this many times [`CHUNK`].
    number: u64,
    /// When it was last used.
    used: u64,
    /// Where it begins in the text; `None` while the bytes are still those of the source.
    pub position: Option<u64>,
    pub bytes: Vec<u8>,
    /// The borders between elements, as offsets in its text; found when the first element of the chunk is wanted.
    pub borders: Option<Vec<u16>>,
}

impl Chunk {
    /// The text from a position up to the end of the chunk, if the position lies in it.
    pub(super) fn text_from(&self, position: u64) -> Option<&[u8]> {
        let at = usize::try_from(position.checked_sub(self.position?)?).ok()?;
        self.bytes.get(at..).filter(|rest| !rest.is_empty())
    }
}

/// The least recently used chunk makes room for a new one.
#[derive(Default)]
pub(super) struct Cache {
    chunks: Vec<Chunk>,
    /// The place of the chunk that was used last.
    last: usize,
    uses: u64,
}

impl Cache {
    /// The chunk that was used last.
    pub(super) fn last(&self) -> Option<&Chunk> {
        self.chunks.get(self.last)
    }

    /// The chunk with this number; `None` if it is not held.
    pub(super) fn get(&mut self, number: u64) -> Option<&mut Chunk> {
        if self.chunks.get(self.last).is_none_or(|chunk| chunk.number != number) {
            self.last = self.chunks.iter().position(|chunk| chunk.number == number)?;
            self.uses += 1;
            self.chunks[self.last].used = self.uses;
        }
        self.chunks.get_mut(self.last)
    }

    /// Reads the chunk with this number, of `len` bytes, and holds it.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn load(&mut self, number: u64, len: usize, source: &mut dyn ReadAt) -> io::Result<&mut Chunk> {
        let mut chunk = self.free();
        chunk.bytes.resize(len, 0);
        source.read_at(number * CHUNK, &mut chunk.bytes)?;
        self.uses += 1;
        self.last = self.chunks.len();
        self.chunks.push(Chunk { number, used: self.uses, position: None, borders: None, ..chunk });
        Ok(&mut self.chunks[self.last])
    }

    /// The memory of a chunk that was only scanned, or of the oldest one if there is no room for another one.
    ///
    /// What is scanned far ahead so stays in one place, and in the processor's cache.
    fn free(&mut self) -> Chunk {
        let scanned = self.chunks.iter().position(|chunk| chunk.position.is_none());
        let oldest = || (0..self.chunks.len()).min_by_key(|at| self.chunks[*at].used);
        match scanned.or_else(|| oldest().filter(|_| self.chunks.len() == CHUNKS)) {
            Some(at) => self.chunks.swap_remove(at),
            None => Chunk { number: 0, used: 0, position: None, bytes: Vec::new(), borders: None },
        }
    }
}
