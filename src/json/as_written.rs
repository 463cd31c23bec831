//! Containers that are captured as they are written, at the speed of skipping: all of them, or those with something in it.

use memchr::memmem;

use super::block::Pair;
use super::pick::Pick;

/// The most bytes of a value that is captured as it is written.
const WRITTEN_BYTES: usize = 1024 * 1024;

/// Which containers are captured.
pub(super) enum Sought {
    All,
    /// Those that are picked.
    Picked(Box<dyn Pick>),
    /// Those in which a member has this name.
    Member(Box<QuotedName>),
}

impl Sought {
    /// Containers in which a member has this name.
    pub(super) fn member(name: &str) -> Self {
        let quoted = serde_json::Value::from(name).to_string();
        let (pair, finder) = (Pair::rarest(quoted.as_bytes(), frequency), memmem::Finder::new(&quoted).into_owned());
        Self::Member(Box::new(QuotedName { pair, finder }))
    }
}

/// The name of a member, with its quotes.
pub(super) struct QuotedName {
    pair: Pair,
    finder: memmem::Finder<'static>,
}

impl QuotedName {
    fn len(&self) -> usize {
        self.finder.needle().len()
    }

    fn is_in(&self, bytes: &[u8]) -> bool {
        self.pair.may_be_in(bytes) && self.finder.find(bytes).is_some()
    }

    /// Whether a member of a JSON text has it.
    fn is_of_member(&self, json: &[u8]) -> bool {
        self.finder.find_iter(json).any(|at| json[at + self.len()..].trim_ascii_start().starts_with(b":"))
    }
}

/// How often a byte is found in JSON.
fn frequency(byte: u8) -> u8 {
    const MOST_FREQUENT: &[u8] = b"\"etaoinsr";
    let place = MOST_FREQUENT.iter().position(|frequent| *frequent == byte);
    place.map_or(0, |place| u8::MAX - place as u8)
}

/// A piece of a chunk of the body.
#[derive(Clone, Copy)]
pub(super) struct Piece<'a> {
    pub chunk: &'a [u8],
    pub start: usize,
    pub end: usize,
}

impl<'a> Piece<'a> {
    #[inline]
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
    /// Whether the member may be in this piece of the chunk, once that is known.
    in_piece: Option<bool>,
}

impl AsWritten {
    pub(super) fn new(sought: Sought) -> Self {
        Self { sought, held: Vec::new(), from: 0, is_too_large: false, is_candidate: false, in_piece: None }
    }

    /// Another piece follows.
    #[inline]
    pub(super) fn begin_piece(&mut self) {
        self.in_piece = None;
    }

    /// A container begins at this index of the chunk.
    #[inline]
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
    #[inline]
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
    #[inline]
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
            Sought::Member(name) => name.is_of_member(json),
        };
        is_wanted.then_some(json)
    }

    fn len(&self, end: usize) -> usize {
        self.held.len() + end - self.from
    }

    /// Whether the name of the member is in the piece, or begins before it. One look at all containers of a piece takes less
    /// time than one at each.
    #[inline]
    fn is_in_piece(&mut self, piece: Piece<'_>) -> bool {
        let Sought::Member(name) = &self.sought else { return true };
        *self.in_piece.get_or_insert_with(|| {
            let before = name.len().min(piece.start);
            name.is_in(&piece.chunk[piece.start - before..piece.end])
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

#[cfg(test)]
mod tests {
    use crate::json::block::STRIDE;
    use crate::json::{Keep, Pruner};

    /// The containers with a member of this name, of a text that is fed in chunks.
    fn found(name: &str, json: &[u8], chunk: usize) -> Vec<Vec<u8>> {
        let mut pruner = Pruner::new(Keep::Window, 0..u64::MAX).with_member(name);
        let mut found = Vec::new();
        for chunk in json.chunks(chunk) {
            found.extend(pruner.feed(chunk).unwrap().captured.iter().map(|value| value.json.to_vec()));
        }
        pruner.finish().unwrap();
        found
    }

    #[test]
    fn a_member_is_found_wherever_it_lies() {
        for name in ["error", "e", &"long name ".repeat(13)] {
            let wanted = format!(r#"{{"n":[{{"{name}":1}}]}}"#);
            for border in (STRIDE - 150..STRIDE + 10).chain([2 * STRIDE, 64 * 1024]) {
                let (before, after) = ("x".repeat(border), "y".repeat(STRIDE));
                let others = format!(r#"{{"is":"{name}"}},{{"{name}s":"\"{name}\":"}}"#);
                let json = format!(r#"[{{"is":"{before}"}},{wanted},{{"is":"{after}"}},{others}]"#);
                for chunk in [json.len(), STRIDE + 1, 1000] {
                    assert_eq!(found(name, json.as_bytes(), chunk), [wanted.as_bytes()], "{border} {chunk}");
                }
            }
        }
    }
}
