//! Finds the elements of a flatted text.

use std::io;

use super::cache::{CHUNK, Cache, Chunk};
use crate::json::block::{Borders, Carry, Masks, STRIDE, Scanner};
use crate::json::{FaultKind, ReadAt, ReadError};

/// The most work that a text may cause, bytes that are read or walked over, besides a few times its length. It is twice
/// as much as n8n can send of an execution at all (a JavaScript string has at most 2^29 characters).
const MAX_WORK: u64 = 1024 * 1024 * 1024;

/// A flatted text: finds its elements, reading no more of it than is needed.
///
/// It holds at most 32 chunks of 64 KiB, and 32 bytes for each chunk that was scanned.
pub struct Flatted<'a> {
    source: Box<dyn ReadAt + 'a>,
    len: u64,
    /// What is known at the beginning of each scanned chunk.
    marks: Vec<Mark>,
    /// What is known after the last scanned chunk.
    scanned: Mark,
    cache: Cache,
    /// Bytes that lie in two chunks, side by side.
    joined: Vec<u8>,
    work: u64,
    max_work: u64,
    /// Why the source could not be read.
    failure: Option<io::Error>,
}

/// What is known at the beginning of a chunk.
#[derive(Clone, Copy)]
struct Mark {
    /// How many borders come before it.
    borders: u64,
    carry: Carry,
    in_container: bool,
}

impl<'a> Flatted<'a> {
    /// A text from a source.
    pub fn new(source: Box<dyn ReadAt + 'a>) -> Self {
        let start = Mark { borders: 0, carry: Carry::default(), in_container: false };
        Self {
            len: source.len(),
            source,
            marks: Vec::new(),
            scanned: start,
            cache: Cache::default(),
            joined: Vec::new(),
            work: 0,
            max_work: MAX_WORK,
            failure: None,
        }
    }

    /// Allows less work than usual, in bytes that are read or walked over besides a few times the length of the text.
    #[must_use]
    pub fn with_max_work(mut self, bytes: u64) -> Self {
        self.max_work = bytes;
        self
    }

    /// Why the source could not be read, if that is what ended an expansion: the source's own error, whose type the way
    /// through a [`Cursor`](crate::json::Cursor) may lose.
    pub fn take_failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }

    /// The length of the text, bytes.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Whether the text is `[]`, which stands for no value at all.
    ///
    /// # Errors
    /// When the text cannot be read, or does not begin like a flatted text.
    pub fn is_undefined(&mut self) -> Result<bool, ReadError> {
        Ok(self.element(0)?.is_none())
    }

    /// The position of an element; `None` if there is no such element.
    ///
    /// # Errors
    /// When the text cannot be read, or is broken up to there.
    pub(super) fn element(&mut self, index: u64) -> Result<Option<u64>, ReadError> {
        if self.marks.is_empty() {
            self.scan_next()?;
        }
        if index == 0 {
            return Ok((self.byte(1)? != b']').then_some(1));
        }
        while self.scanned.borders < index {
            if self.marks.len() as u64 == self.chunks() {
                return Ok(None);
            }
            self.scan_next()?;
        }
        // The last chunk with fewer borders before it has this one.
        let chunk = self.marks.partition_point(|mark| mark.borders < index) - 1;
        let mark = self.marks[chunk];
        let at = (index - mark.borders - 1) as usize;
        let first = chunk as u64 * CHUNK;
        let chunk = self.chunk(chunk as u64)?;
        let borders = chunk.borders.get_or_insert_with(|| borders(&chunk.bytes, mark, first == 0));
        Ok(borders.get(at).map(|border| first + u64::from(*border) + 1))
    }

    /// The byte at a position.
    ///
    /// # Errors
    /// When the text cannot be read, or ends before.
    pub(super) fn byte(&mut self, position: u64) -> Result<u8, ReadError> {
        let bytes = self.piece(position)?;
        Ok(bytes[0])
    }

    /// The bytes from a position up to the end of its chunk, at least one.
    ///
    /// # Errors
    /// When the text cannot be read, or ends before.
    pub(super) fn piece(&mut self, position: u64) -> Result<&[u8], ReadError> {
        if position >= self.len {
            return Err(FaultKind::EndedEarly.at(self.len).into());
        }
        let chunk = self.chunk(position / CHUNK)?;
        Ok(&chunk.bytes[(position % CHUNK) as usize..])
    }

    /// At least `want` bytes from a position, fewer only at the end of the text; a chunk at most.
    ///
    /// # Errors
    /// When the text cannot be read, or ends before.
    pub(super) fn bytes(&mut self, position: u64, want: usize) -> Result<&[u8], ReadError> {
        let here = self.piece(position)?.len();
        if here >= want || position + here as u64 == self.len {
            return self.piece(position);
        }
        let mut joined = std::mem::take(&mut self.joined);
        joined.clear();
        joined.extend_from_slice(self.piece(position)?);
        let next = self.piece(position + here as u64)?;
        joined.extend_from_slice(&next[..next.len().min(want - here)]);
        self.joined = joined;
        Ok(&self.joined)
    }

    /// Accounts for bytes that were walked over.
    ///
    /// # Errors
    /// When the text causes too much work.
    pub(super) fn work(&mut self, bytes: u64, position: u64) -> Result<(), ReadError> {
        self.work += bytes;
        if self.work > self.max_work.saturating_add(self.len.saturating_mul(4)) {
            return Err(FaultKind::Expansion.at(position).into());
        }
        Ok(())
    }

    fn chunks(&self) -> u64 {
        self.len.div_ceil(CHUNK)
    }

    fn chunk(&mut self, number: u64) -> Result<&mut Chunk, ReadError> {
        if self.cache.get(number).is_none() {
            let len = (self.len - number * CHUNK).min(CHUNK);
            self.work(len, number * CHUNK)?;
            if let Err(error) = self.cache.load(number, len as usize, &mut *self.source) {
                let copy = io::Error::new(error.kind(), error.to_string());
                self.failure = Some(error);
                return Err(ReadError::Io(copy));
            }
        }
        // It is there: this finds it without a search.
        self.cache.get(number).ok_or_else(|| FaultKind::EndedEarly.at(self.len).into())
    }

    /// Scans one more chunk.
    fn scan_next(&mut self) -> Result<(), ReadError> {
        let (number, mut mark) = (self.marks.len() as u64, self.scanned);
        if self.len == 0 {
            return Err(FaultKind::EndedEarly.at(0).into());
        }
        let bytes = &self.chunk(number)?.bytes;
        let first = number * CHUNK;
        // The outer bracket is not scanned, so that what is in it counts as outside of containers.
        let skipped = usize::from(number == 0);
        if number == 0 && bytes[0] != b'[' {
            return Err(FaultKind::Unexpected(bytes[0]).at(0).into());
        }
        let mut scanner = Scanner::from(mark.carry);
        let mut misplaced = None;
        for (at, stride) in bytes[skipped..].chunks(STRIDE).enumerate() {
            let mut masks = Borders::new(mark.in_container);
            scanner.scan(stride, &mut masks);
            mark.borders += masks.count;
            mark.in_container = masks.in_container();
            misplaced = misplaced.or_else(|| {
                let place = Masks::next(&masks.misplaced, 0, stride.len())?;
                Some((stride[place], first + (skipped + at * STRIDE + place) as u64))
            });
        }
        mark.carry = scanner.carry();
        let last = first + bytes.len() as u64 == self.len;
        match misplaced {
            // Outside of containers only the last bracket closes anything.
            Some((b']', at)) if at + 1 == self.len => {}
            Some((b']', at)) => return Err(FaultKind::Trailing.at(at + 1).into()),
            Some((byte, at)) => return Err(FaultKind::Unexpected(byte).at(at).into()),
            None if last => return Err(FaultKind::EndedEarly.at(self.len).into()),
            None => {}
        }
        self.marks.push(std::mem::replace(&mut self.scanned, mark));
        Ok(())
    }
}

/// The borders between elements in a chunk, as offsets.
fn borders(bytes: &[u8], mark: Mark, is_first: bool) -> Vec<u16> {
    let mut scanner = Scanner::from(mark.carry);
    let mut in_container = mark.in_container;
    let mut found = Vec::new();
    let skipped = usize::from(is_first);
    for (at, stride) in bytes[skipped..].chunks(STRIDE).enumerate() {
        let mut masks = Borders::new(in_container);
        scanner.scan(stride, &mut masks);
        in_container = masks.in_container();
        let first = skipped + at * STRIDE;
        let next = |from| Masks::next(&masks.borders, from, stride.len());
        found.extend(std::iter::successors(next(0), |at| next(at + 1)).map(|place| (first + place) as u16));
    }
    found
}
