//! Containers that are captured as they are written, at the speed of skipping: all of them, or those with something in it.

use memchr::memmem;

use super::pick::Pick;

/// The most bytes of a value that is captured as it is written.
const WRITTEN_BYTES: usize = 1024 * 1024;

/// Which containers are captured.
pub(super) enum Sought {
    All,
    /// Those that are picked.
    Picked(Box<dyn Pick>),
    /// Those in which a member has this name, which is here between its quotes.
    Member(Box<memmem::Finder<'static>>),
}

impl Sought {
    /// Containers in which a member has this name.
    pub(super) fn member(name: &str) -> Self {
        let quoted = serde_json::Value::from(name).to_string();
        Self::Member(Box::new(memmem::Finder::new(&quoted).into_owned()))
    }
}

/// A piece of a chunk of the body.
#[derive(Clone, Copy)]
pub(super) struct Piece<'a> {
    pub chunk: &'a [u8],
    pub start: usize,
    pub end: usize,
}

impl<'a> Piece<'a> {
    pub(super) fn bytes(self) -> &'a [u8] {
        &self.chunk[self.start..self.end]
    }
}

/// The container that is being captured. Nothing of it is copied unless it lies in several chunks.
pub(super) struct AsWritten {
    sought: Sought,
    /// Its bytes in the chunks before this one.
    held: Vec<u8>,
    /// Where the rest of it begins in this chunk.
    from: usize,
    /// Whether more of it was passed over than is captured.
    is_too_large: bool,
    /// Whether the member that is sought may be in it.
    is_candidate: bool,
    /// Whether the member may be in this piece, once that is known.
    in_piece: Option<bool>,
}

impl AsWritten {
    pub(super) fn new(sought: Sought) -> Self {
        Self { sought, held: Vec::new(), from: 0, is_too_large: false, is_candidate: false, in_piece: None }
    }

    /// Another piece follows.
    pub(super) fn begin_piece(&mut self) {
        self.in_piece = None;
    }

    /// A container begins at this index of the chunk.
    pub(super) fn begin(&mut self, at: usize) {
        self.held.clear();
        self.from = at;
        (self.is_too_large, self.is_candidate) = (false, false);
    }

    /// Holds what this chunk has of the container.
    pub(super) fn hold(&mut self, chunk: &[u8]) {
        if self.len(chunk.len()) > WRITTEN_BYTES {
            // It is only counted: nothing of it is needed.
            (self.is_too_large, self.held) = (true, Vec::new());
        }
        if !self.is_too_large {
            hold_more(&mut self.held, &chunk[self.from..]);
        }
        self.from = 0;
    }

    /// The container has the bytes of the piece up to `end`; returns whether it is small enough.
    pub(super) fn extend(&mut self, piece: Piece<'_>, end: usize) -> bool {
        if matches!(self.sought, Sought::Member(_)) {
            self.is_candidate |= self.is_in_piece(piece);
            return true;
        }
        self.len(piece.start + end) <= WRITTEN_BYTES
    }

    /// The container up to this index of the piece.
    pub(super) fn begun(&self, piece: Piece<'_>, at: usize) -> Vec<u8> {
        [&self.held[..], &piece.chunk[self.from..piece.start + at]].concat()
    }

    /// The container, which ends at this index of the piece; `None` if it is only counted. `element` is the number of its
    /// array, and its place in it.
    pub(super) fn found<'a>(&'a mut self, piece: Piece<'a>, end: usize, element: (u64, u64)) -> Option<&'a [u8]> {
        let end = piece.start + end;
        let is_cut = !self.held.is_empty();
        if matches!(self.sought, Sought::Member(_))
            && (self.is_too_large || self.len(end) > WRITTEN_BYTES || !(self.is_candidate || is_cut))
        {
            return None;
        }
        if is_cut {
            hold_more(&mut self.held, &piece.chunk[self.from..end]);
            self.from = end;
        }
        let json = if is_cut { &self.held[..] } else { &piece.chunk[self.from..end] };
        let is_wanted = match &mut self.sought {
            Sought::All => true,
            Sought::Picked(pick) => pick.picks(element.0, element.1, json),
            Sought::Member(name) => has_member(name, json),
        };
        is_wanted.then_some(json)
    }

    fn len(&self, end: usize) -> usize {
        self.held.len() + end - self.from
    }

    /// Whether the name of the member is in the piece, or begins before it. One look at all containers of a piece
    /// takes less time than one at each.
    fn is_in_piece(&mut self, piece: Piece<'_>) -> bool {
        let Sought::Member(name) = &self.sought else { return true };
        *self.in_piece.get_or_insert_with(|| {
            let before = name.needle().len().min(piece.start);
            name.find(&piece.chunk[piece.start - before..piece.end]).is_some()
        })
    }
}

/// Appends bytes; the buffer grows to no more than is captured at most.
fn hold_more(held: &mut Vec<u8>, bytes: &[u8]) {
    let needed = held.len() + bytes.len();
    if needed > held.capacity() {
        let room = needed.max(WRITTEN_BYTES.min(2 * held.len()));
        held.reserve_exact(room - held.len());
    }
    held.extend_from_slice(bytes);
}

/// Whether a member with this name is in a JSON text.
fn has_member(name: &memmem::Finder<'_>, json: &[u8]) -> bool {
    name.find_iter(json).any(|at| json[at + name.needle().len()..].trim_ascii_start().starts_with(b":"))
}
