//! Finds the elements of a flatted text.

use std::io;

use super::cache::{CHUNK, Cache};
use super::unescape::{unescape, unescaped_len};
use crate::json::block::{Borders, Carry, STRIDE, Scanner};
use crate::json::{FaultKind, ReadAt, ReadError};

/// The maximum work that a text may cause whatever its length, in units of about a nanosecond: half a second.
const MAX_WORK: u64 = 1 << 29;

/// How much more work a text may cause for each of its bytes. What n8n writes needs a few units for each node that
/// passes on the same items.
const WORK_PER_BYTE: u64 = 1024;

/// The work that a value causes, in addition to that for its bytes.
const VALUE_WORK: u64 = 64;

/// The work of a byte of a string, which passes through the filter and its reader.
const STRING_WORK: u64 = 8;

/// The work of reading a chunk again.
const CHUNK_WORK: u64 = CHUNK / 2;

/// After this much work, the source is checked: a cancelled question ends.
const WATCHED_WORK: u64 = 1 << 26;

/// How much is read at once of a text that is scanned.
const AHEAD: u64 = 64 * 1024;

/// Enough bytes of a text in an unknown form to recognize it: as many as `gzip:base64:` has.
const PREFIX_BYTES: u64 = 12;

/// A flatted text: finds its elements, reading no more of it than is needed.
///
/// It holds at most 2 MiB of the text (16 MiB if it is read out of order), and 42 bytes for each 16 KiB that were scanned.
pub struct Flatted<'a> {
    source: Box<dyn ReadAt + 'a>,
    /// The length of the source, bytes.
    len: u64,
    /// Whether the source is the inside of a JSON string.
    is_escaped: bool,
    /// What is known at the start of each scanned chunk.
    marks: Vec<Mark>,
    /// What is known after the last scanned chunk.
    scanned: Mark,
    /// The number of the chunk with the border that was found last.
    last_border_chunk: usize,
    ahead: Ahead,
    cache: Cache,
    /// Bytes that lie in two chunks, side by side.
    joined: Vec<u8>,
    work: u64,
    max_work: u64,
    is_too_expensive: bool,
}

/// The bytes of the source that were last read to be scanned.
#[derive(Default)]
struct Ahead {
    /// The number of the chunk that it begins with.
    number: u64,
    bytes: Vec<u8>,
}

impl Ahead {
    /// The bytes of a chunk, if they are there.
    fn chunk(&self, number: u64) -> Option<&[u8]> {
        let at = usize::try_from(number.checked_sub(self.number)?).ok()?;
        self.bytes.chunks(CHUNK as usize).nth(at)
    }
}

/// What is known at the start of a chunk.
#[derive(Clone, Copy)]
struct Mark {
    /// Where it begins in the text.
    position: u64,
    /// How many borders come before it.
    borders: u64,
    carry: Carry,
}

impl<'a> Flatted<'a> {
    /// A text from a source.
    pub fn new(source: Box<dyn ReadAt + 'a>) -> Self {
        let start = Mark { position: 0, borders: 0, carry: Carry::default() };
        Self {
            len: source.len(),
            max_work: MAX_WORK.saturating_add(source.len().saturating_mul(WORK_PER_BYTE)),
            source,
            is_escaped: false,
            marks: Vec::new(),
            scanned: start,
            last_border_chunk: 0,
            ahead: Ahead::default(),
            cache: Cache::default(),
            joined: Vec::new(),
            work: 0,
            is_too_expensive: false,
        }
    }

    /// A text from a source that is the inside of a JSON string, as `JSON.stringify` writes it: the text is JSON itself,
    /// so that its only escapes are `\"` and `\\`. Positions are those in the text.
    ///
    /// ```
    /// use n8n_lens::json::flatted::Flatted;
    ///
    /// let source = &br#"[{\"name\":\"1\"},\"Ann \\\"B.\\\"\"]"#[..];
    /// assert!(!Flatted::escaped(Box::new(source)).is_undefined()?);
    /// # Ok::<_, n8n_lens::json::ReadError>(())
    /// ```
    pub fn escaped(source: Box<dyn ReadAt + 'a>) -> Self {
        Self { is_escaped: true, ..Self::new(source) }
    }

    /// Allows less work than usual, in units of about a nanosecond.
    #[must_use]
    pub fn with_max_work(mut self, units: u64) -> Self {
        self.max_work = units;
        self
    }

    /// Holds less of the text than usual, in bytes.
    #[must_use]
    pub fn with_room(mut self, bytes: usize) -> Self {
        self.cache = Cache::with_room(bytes);
        self
    }

    /// Whether an expansion ended because its work was too much, which may be lost on the way through a
    /// [`Cursor`](crate::json::Cursor).
    pub fn is_too_expensive(&self) -> bool {
        self.is_too_expensive
    }

    /// The unchanged source, whether or not it is a flatted text.
    pub fn source(&mut self) -> &mut (dyn ReadAt + 'a) {
        &mut *self.source
    }

    /// The same text for a reader that comes first: its work does not count here.
    pub fn by_ref(&mut self) -> Flatted<'_> {
        let is_escaped = self.is_escaped;
        Flatted { is_escaped, ..Flatted::new(Box::new(self.source())) }
    }

    /// Whether the source is the inside of a JSON string.
    pub fn is_escaped(&self) -> bool {
        self.is_escaped
    }

    /// The first 12 bytes of the source, unchanged; they begin with a bracket if it is a flatted text.
    ///
    /// # Errors
    /// When the source cannot be read.
    pub fn prefix(&mut self) -> io::Result<Vec<u8>> {
        let mut prefix = vec![0; self.len.min(PREFIX_BYTES) as usize];
        self.source.read_at(0, &mut prefix)?;
        Ok(prefix)
    }

    /// Whether the text is `[]`, which stands for no value at all.
    ///
    /// # Errors
    /// When the text cannot be read, or does not begin like a flatted text.
    pub fn is_undefined(&mut self) -> Result<bool, ReadError> {
        Ok(self.element(0)?.is_none())
    }

    /// Whether the text ends with a bracket: one that was cut off does not.
    ///
    /// # Errors
    /// When the source cannot be read.
    pub fn is_closed(&mut self) -> io::Result<bool> {
        let mut last = [0];
        self.source.read_at(self.len.saturating_sub(1), &mut last)?;
        Ok(last == *b"]")
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
        let number = self.chunk_with_border(index);
        let mark = self.marks[number];
        let at = (index - mark.borders - 1) as usize;
        let carry = if self.is_escaped { mark.carry.unescaped() } else { mark.carry };
        self.text_of(number)?;
        let borders = self.cache.borders(|text| borders(text, carry, number == 0));
        Ok(borders.get(at).map(|border| mark.position + u64::from(*border) + 1))
    }

    /// The number of the chunk with this border, which was scanned: the last one with fewer borders before it.
    fn chunk_with_border(&mut self, border: u64) -> usize {
        let number = self.last_border_chunk;
        let after = self.marks.get(number + 1).unwrap_or(&self.scanned);
        // Siblings are neighbours.
        if self.marks[number].borders >= border || after.borders < border {
            self.last_border_chunk = self.marks.partition_point(|mark| mark.borders < border) - 1;
        }
        self.last_border_chunk
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
        let is_at_hand = self.cache.last().is_some_and(|chunk| chunk.text_from(position).is_some());
        if !is_at_hand && !self.ends_before(position)? {
            self.text_of(self.chunk_of(position))?;
        }
        let piece = self.cache.last().and_then(|chunk| chunk.text_from(position));
        piece.ok_or_else(|| FaultKind::EndedEarly.at(self.scanned.position).into())
    }

    /// The number of the chunk with this position, which was scanned.
    fn chunk_of(&self, position: u64) -> usize {
        match self.is_escaped {
            true => self.marks.partition_point(|mark| mark.position <= position) - 1,
            // A position in the text is one in the source.
            false => (position / CHUNK) as usize,
        }
    }

    /// Whether no byte is at a position: the text ends before it.
    ///
    /// # Errors
    /// When the text cannot be read, or is broken up to there.
    pub(super) fn ends_before(&mut self, position: u64) -> Result<bool, ReadError> {
        while self.scanned.position <= position {
            if self.marks.len() as u64 == self.chunks() {
                return Ok(true);
            }
            self.scan_next()?;
        }
        Ok(false)
    }

    /// At least `want` bytes from a position, fewer only at the end of the text; a chunk at most.
    ///
    /// # Errors
    /// When the text cannot be read, or ends before.
    pub(super) fn bytes(&mut self, position: u64, want: usize) -> Result<&[u8], ReadError> {
        let here = self.piece(position)?.len();
        if here >= want || self.ends_before(position + here as u64)? {
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

    /// Accounts for a value whose bytes were walked over.
    ///
    /// # Errors
    /// When the text causes too much work.
    pub(super) fn value_work(&mut self, bytes: u64, position: u64) -> Result<(), ReadError> {
        self.work(VALUE_WORK + bytes, position)
    }

    /// Accounts for a piece of a string.
    ///
    /// # Errors
    /// When the text causes too much work.
    pub(super) fn string_work(&mut self, bytes: u64, position: u64) -> Result<(), ReadError> {
        self.work(VALUE_WORK + STRING_WORK * bytes, position)
    }

    /// Accounts for work.
    ///
    /// # Errors
    /// When the text causes too much of it, or the source is gone.
    pub(super) fn work(&mut self, units: u64, position: u64) -> Result<(), ReadError> {
        let before = self.work;
        self.work += units;
        if self.work > self.max_work {
            self.is_too_expensive = true;
            return Err(FaultKind::Expansion.at(position).into());
        }
        if before / WATCHED_WORK == self.work / WATCHED_WORK {
            return Ok(());
        }
        self.source.read_at(0, &mut []).map_err(ReadError::Io)
    }

    fn chunks(&self) -> u64 {
        self.len.div_ceil(CHUNK)
    }

    /// Holds the text of a chunk that was scanned.
    fn text_of(&mut self, number: usize) -> Result<(), ReadError> {
        let (mark, number) = (self.marks[number], number as u64);
        if self.cache.get(number).is_some() {
            return Ok(());
        }
        let mut chunk = self.cache.free(number);
        chunk.bytes.clear();
        match self.ahead.chunk(number) {
            Some(bytes) => chunk.bytes.extend_from_slice(bytes),
            None => {
                self.work(CHUNK_WORK, mark.position)?;
                let begin = number * CHUNK;
                chunk.bytes.resize((self.len - begin).min(CHUNK) as usize, 0);
                self.source.read_at(begin, &mut chunk.bytes).map_err(ReadError::Io)?;
            }
        }
        chunk.position = mark.position;
        if self.is_escaped {
            unescape(&mut chunk.bytes, mark.carry.in_escape());
        }
        self.cache.put(chunk);
        Ok(())
    }

    /// Reads the chunks that are scanned next, if the last ones were.
    fn read_ahead(&mut self, number: u64) -> Result<(), ReadError> {
        if self.ahead.chunk(number).is_some() {
            return Ok(());
        }
        let begin = number * CHUNK;
        self.ahead.number = number;
        self.ahead.bytes.resize((self.len - begin).min(AHEAD) as usize, 0);
        let read = self.source.read_at(begin, &mut self.ahead.bytes);
        if read.is_err() {
            self.ahead.bytes.clear();
        }
        read.map_err(ReadError::Io)
    }

    /// Scans one more chunk.
    fn scan_next(&mut self) -> Result<(), ReadError> {
        if self.len == 0 {
            return Err(FaultKind::EndedEarly.at(0).into());
        }
        let (number, before, is_escaped) = (self.marks.len() as u64, self.scanned, self.is_escaped);
        let is_last = number + 1 == self.chunks();
        self.read_ahead(number)?;
        let bytes = self.ahead.chunk(number).unwrap_or_default();
        let is_first = number == 0;
        if is_first && bytes[0] != b'[' {
            return Err(FaultKind::Unexpected(bytes[0]).at(0).into());
        }
        let (after, misplaced) = match is_escaped {
            true => before.scan::<true>(bytes, is_first),
            false => before.scan::<false>(bytes, is_first),
        };
        let position = |at: usize| match is_escaped {
            true => before.position + unescaped_len(&bytes[..at], before.carry.in_escape()) as u64,
            false => before.position + at as u64,
        };
        match misplaced.map(|at| (bytes[at], at)) {
            // Outside of containers only the last bracket closes anything.
            Some((b']', at)) if is_last && at + 1 == bytes.len() => {}
            Some((b']', at)) => return Err(FaultKind::Trailing.at(position(at + 1)).into()),
            Some((byte @ (b'[' | b'{' | b'}'), at)) => return Err(FaultKind::Unexpected(byte).at(position(at)).into()),
            Some((_, at)) => return Err(FaultKind::Escape.at(position(at)).into()),
            None if is_last => return Err(FaultKind::EndedEarly.at(after.position).into()),
            None => {}
        }
        self.marks.push(std::mem::replace(&mut self.scanned, after));
        Ok(())
    }
}

impl Mark {
    /// Scans the chunk that begins here. Returns what is known after it, and the first byte that is misplaced.
    fn scan<const ESCAPED: bool>(self, chunk: &[u8], is_first: bool) -> (Self, Option<usize>) {
        let mut after = Self { position: self.position + chunk.len() as u64, ..self };
        let (mut scanner, mut masks, mut misplaced) = (Scanner::from(self.carry), Borders::<ESCAPED>::new(), None);
        for (from, stride) in strides(chunk, is_first) {
            scanner.scan(stride, &mut masks);
            misplaced = misplaced.or_else(|| {
                let place = masks.misplaced(stride.len()).filter(|place| *place < stride.len());
                Some(from + place?)
            });
        }
        after.borders += masks.count;
        after.carry = scanner.carry();
        if ESCAPED {
            // Each escape has two of these characters; the first one may be in the chunk before, the second in the next.
            let [before, in_next] = [self.carry, after.carry].map(|carry| u64::from(carry.in_escape()));
            after.position -= (masks.escapable + in_next).saturating_sub(before) / 2;
        }
        (after, misplaced)
    }
}

/// The parts of a chunk that are scanned, and where they begin in it.
fn strides(chunk: &[u8], is_first: bool) -> impl Iterator<Item = (usize, &[u8])> {
    // The outer bracket is not scanned, so that what is in it counts as outside of containers.
    let skipped = usize::from(is_first);
    chunk[skipped..].chunks(STRIDE).enumerate().map(move |(at, stride)| (skipped + at * STRIDE, stride))
}

/// The borders between elements in the text of a chunk, as offsets.
fn borders(text: &[u8], carry: Carry, is_first: bool) -> Vec<u16> {
    let mut scanner = Scanner::from(carry);
    let (mut masks, mut found) = (Borders::<false>::new(), Vec::new());
    for (from, stride) in strides(text, is_first) {
        scanner.scan(stride, &mut masks);
        let next = |at| masks.border(at, stride.len());
        found.extend(std::iter::successors(next(0), |at| next(at + 1)).map(|place| (from + place) as u16));
    }
    found
}
