//! The chunks of a text that were used last.

/// The size of a chunk, bytes of the source: what is read at once of a text that is read out of order.
pub(super) const CHUNK: u64 = 16 * 1024;

/// How much is held of a text that is read in order, bytes: siblings are neighbours at each depth of a breadth-first text, and
/// no table of what is kept has many levels.
const ROOM: usize = 2 * 1024 * 1024;

/// The maximum held, bytes.
const MAX_ROOM: usize = 16 * 1024 * 1024;

/// How much more is held each time that a chunk is read again out of order, bytes: the items that a Sort node returns
/// refer to its input in no order.
const MORE_ROOM: usize = 8 * CHUNK as usize;

/// In the table of places: the chunk was never held, or is not held anymore.
const NEVER_HELD: u16 = u16::MAX;
const LET_GO: u16 = u16::MAX - 1;

/// A chunk in memory.
#[derive(Default)]
pub(super) struct Chunk {
    /// Its number: it begins at this many times [`CHUNK`] in the source.
    pub number: u64,
    /// Whether it was used since it was last considered for removal.
    used: bool,
    /// Where it begins in the text.
    pub position: u64,
    pub bytes: Vec<u8>,
    /// The borders between elements, as offsets in its text; found when the first element of the chunk is wanted.
    pub borders: Option<Vec<u16>>,
}

impl Chunk {
    /// The text from a position up to the end of the chunk, if the position lies in it.
    pub(super) fn text_from(&self, position: u64) -> Option<&[u8]> {
        let at = usize::try_from(position.checked_sub(self.position)?).ok()?;
        self.bytes.get(at..).filter(|rest| !rest.is_empty())
    }

    /// The memory that it takes, bytes.
    fn held(&self) -> usize {
        CHUNK as usize + self.borders.as_ref().map_or(0, |borders| borders.capacity() * size_of::<u16>())
    }
}

/// A chunk that was not used for a while makes room for a new one.
pub(super) struct Cache {
    chunks: Vec<Chunk>,
    /// The place of each chunk that was ever held, by its number.
    places: Vec<u16>,
    /// The place of the chunk that was used last.
    last: usize,
    /// The place of the chunk that is considered next when one must make room.
    hand: usize,
    /// The memory that the chunks take, bytes.
    held: usize,
    /// How much they may take.
    room: usize,
    most_room: usize,
}

impl Default for Cache {
    fn default() -> Self {
        Self::with_room(MAX_ROOM)
    }
}

impl Cache {
    /// A cache that never holds more than this, or one chunk.
    pub(super) fn with_room(most: usize) -> Self {
        let room = ROOM.min(most);
        Self { chunks: Vec::new(), places: Vec::new(), last: 0, hand: 0, held: 0, room, most_room: most }
    }

    /// The chunk that was used last.
    pub(super) fn last(&self) -> Option<&Chunk> {
        self.chunks.get(self.last)
    }

    /// The chunk with this number; `None` if it is not held.
    pub(super) fn get(&mut self, number: u64) -> Option<&mut Chunk> {
        if self.chunks.get(self.last).is_none_or(|chunk| chunk.number != number) {
            self.last = self.place(number).filter(|place| *place < LET_GO)?.into();
        }
        let chunk = self.chunks.get_mut(self.last)?;
        chunk.used = true;
        Some(chunk)
    }

    /// A chunk to be filled and [put](Self::put) in: the memory of one that made room, if there is not enough for both.
    pub(super) fn free(&mut self, number: u64) -> Chunk {
        let follows_another = number > 0 && self.place(number - 1).is_some_and(|place| place < LET_GO);
        if !follows_another && self.place(number) == Some(LET_GO) {
            self.room = (self.room + MORE_ROOM).min(self.most_room);
        }
        let mut chunk = Chunk::default();
        while self.held + CHUNK as usize > self.room {
            let Some(removed) = self.remove() else { break };
            chunk = removed;
        }
        Chunk { number, used: true, position: 0, borders: None, bytes: chunk.bytes }
    }

    /// Holds a chunk.
    pub(super) fn put(&mut self, chunk: Chunk) {
        self.last = self.chunks.len();
        self.move_to(chunk.number, self.last as u16);
        self.held += chunk.held();
        self.chunks.push(chunk);
    }

    /// The borders in the chunk that was used last, which `find` finds the first time.
    pub(super) fn borders(&mut self, find: impl FnOnce(&[u8]) -> Vec<u16>) -> &[u16] {
        let Some(chunk) = self.chunks.get_mut(self.last) else { return &[] };
        if chunk.borders.is_none() {
            self.held -= chunk.held();
            chunk.borders = Some(find(&chunk.bytes));
            self.held += chunk.held();
        }
        chunk.borders.as_deref().unwrap_or_default()
    }

    /// Removes the first chunk, from the hand on, that was not used since the hand passed it.
    fn remove(&mut self) -> Option<Chunk> {
        loop {
            self.hand = if self.hand < self.chunks.len() { self.hand } else { 0 };
            let chunk = self.chunks.get_mut(self.hand)?;
            if !std::mem::take(&mut chunk.used) {
                break;
            }
            self.hand += 1;
        }
        let removed = self.chunks.swap_remove(self.hand);
        self.held -= removed.held();
        self.move_to(removed.number, LET_GO);
        if let Some(moved) = self.chunks.get(self.hand) {
            self.move_to(moved.number, self.hand as u16);
        }
        Some(removed)
    }

    fn place(&self, number: u64) -> Option<u16> {
        self.places.get(usize::try_from(number).ok()?).copied()
    }

    fn move_to(&mut self, number: u64, place: u16) {
        let number = number as usize;
        if self.places.len() <= number {
            self.places.resize(number + 1, NEVER_HELD);
        }
        self.places[number] = place;
    }
}
