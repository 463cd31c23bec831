//! Containers that are captured raw, at the speed of skipping: all of them, or some.

use memchr::memmem;

use super::block::{Masks, Pair};
use super::marks::Marks;
use super::pick::Pick;

/// If a name is in one of this many elements at the start of an array, all of its elements are searched for it.
pub const SHARED_WITHIN: u64 = 16;

/// The maximum number of bytes of a container that is captured raw.
const RAW_BYTES: usize = 1024 * 1024;

/// Which containers in a [`Keep::Window`](super::Keep::Window) are captured raw: byte for byte, at the speed of
/// skipping. The others are counted like those outside the window.
///
/// The reader checks the grammar of what is captured, which can hold lone surrogates. Except for [`Capture::member`], a
/// container of more than 1 MiB is kept in the text like any value.
pub struct Capture(Criterion);

enum Criterion {
    All,
    Picked(Box<dyn Pick>),
    Member(Box<MemberFinder>),
}

impl Capture {
    /// All containers.
    ///
    /// ```
    /// use n8n_lens::json::{Capture, Fault, Keep, Pruner};
    ///
    /// let mut pruner = Pruner::new(Keep::Window, 0..2).capturing(Capture::all());
    /// let mut left = pruner.feed(br#"[{"n": 1}, 2, {"n": 3}]"#)?;
    /// left.append(pruner.finish()?);
    /// assert_eq!(left.text, b"[1,1,-1]");
    /// assert_eq!([&left.captured[0].json, &left.captured[1].json], [r#"{"n": 1}"#, "2"]);
    /// # Ok::<_, Fault>(())
    /// ```
    pub fn all() -> Self {
        Self(Criterion::All)
    }

    /// The containers that `pick` picks. A [`Prefilter`](super::Prefilter) picks those that may contain its text.
    ///
    /// ```
    /// use n8n_lens::json::{Capture, Fault, Keep, Pick, Pruner};
    ///
    /// struct Second;
    ///
    /// impl Pick for Second {
    ///     fn picks(&mut self, _array: u64, index: u64, _json: &[u8]) -> bool {
    ///         index == 1
    ///     }
    /// }
    ///
    /// let mut pruner = Pruner::new(Keep::Window, 0..u64::MAX).capturing(Capture::picked(Second));
    /// let mut left = pruner.feed(br#"[{"n": 1}, {"n": 2}, {"n": 3}, {"n": 4}]"#)?;
    /// left.append(pruner.finish()?);
    /// assert_eq!(left.text, b"[-1,1,-2]");
    /// assert_eq!(left.captured[0].json, r#"{"n": 2}"#);
    /// # Ok::<_, Fault>(())
    /// ```
    pub fn picked(pick: impl Pick + 'static) -> Self {
        Self(Criterion::Picked(Box::new(pick)))
    }

    /// The containers in which a member has this name, written without escapes. One of more than 1 MiB is only counted.
    /// A `shared` name is looked for in the first 16 elements of each array, and in the others of an array if one of
    /// these has it.
    ///
    /// ```
    /// use n8n_lens::json::{Capture, Fault, Keep, Pruner};
    ///
    /// let mut pruner = Pruner::new(Keep::Window, 0..u64::MAX).capturing(Capture::member("error", None));
    /// let mut left = pruner.feed(br#"[{"n": 1}, {"error": "lost"}, {"errors": 3}, {"is": "error"}]"#)?;
    /// left.append(pruner.finish()?);
    /// assert_eq!(left.text, b"[-1,1,-2]");
    /// assert_eq!(left.captured[0].json, r#"{"error": "lost"}"#);
    /// # Ok::<_, Fault>(())
    /// ```
    pub fn member(name: &str, shared: Option<&str>) -> Self {
        let shared = shared.map(|name| SharedName { name: QuotedName::new(name), array: None });
        Self(Criterion::Member(Box::new(MemberFinder { name: QuotedName::new(name), shared })))
    }
}

/// The names of members that are looked for.
struct MemberFinder {
    /// In all containers.
    name: QuotedName,
    /// In the first elements of each array, and in all elements if one of the first has it.
    shared: Option<SharedName>,
}

impl MemberFinder {
    /// Whether the shared name is looked for in this element of this array.
    #[inline]
    fn looks_for_shared(&self, (array, at): (u64, u64)) -> bool {
        self.shared.as_ref().is_some_and(|shared| at < SHARED_WITHIN || shared.array == Some(array))
    }

    /// Whether the element has a member with a name that is looked for there.
    fn is_in(&mut self, element: (u64, u64), json: &[u8]) -> bool {
        let looks_for_shared = self.looks_for_shared(element);
        let shared = self.shared.as_mut().filter(|shared| looks_for_shared && shared.name.is_in(json));
        let has_shared = shared.is_some_and(|shared| {
            let has_it = shared.name.is_of_member(json);
            if has_it {
                shared.array = Some(element.0);
            }
            has_it
        });
        has_shared || self.name.is_of_member(json)
    }
}

/// A name that members of all elements of an array have, if one of the first has it.
struct SharedName {
    name: QuotedName,
    /// The array in which it was found last.
    array: Option<u64>,
}

/// The name of a member, with its quotes.
struct QuotedName {
    pair: Pair,
    finder: memmem::Finder<'static>,
}

impl QuotedName {
    fn new(name: &str) -> Self {
        let quoted = serde_json::Value::from(name).to_string();
        let (pair, finder) = (Pair::rarest(quoted.as_bytes(), frequency), memmem::Finder::new(&quoted).into_owned());
        Self { pair, finder }
    }

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

/// How frequent a byte is in JSON.
fn frequency(byte: u8) -> u8 {
    const FREQUENT: &[u8] = b"\"etaoinsr";
    let place = FREQUENT.iter().position(|frequent| *frequent == byte);
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

/// The container that is being captured. It is copied only if it lies in several chunks.
pub(super) struct RawCapture {
    criterion: Criterion,
    /// Its bytes in the chunks before this one.
    held: Vec<u8>,
    /// Where the rest of it begins in this chunk.
    from: usize,
    /// Whether it is too large to be captured.
    is_too_large: bool,
    /// Whether the wanted member may be in it.
    is_candidate: bool,
    /// Whether the member may be in this piece of the chunk, once that is known.
    in_piece: Option<bool>,
    /// Whether elements are looked at by their marks.
    reads_marks: bool,
}

impl RawCapture {
    pub(super) fn new(Capture(criterion): Capture) -> Self {
        let reads_marks = matches!(&criterion, Criterion::Picked(pick) if pick.reads_marks());
        Self {
            criterion,
            held: Vec::new(),
            from: 0,
            is_too_large: false,
            is_candidate: false,
            in_piece: None,
            reads_marks,
        }
    }

    /// Whether marks are read, and the names of the members around the arrays.
    #[inline]
    pub(super) fn reads_marks(&self) -> bool {
        self.reads_marks
    }

    /// Looks at the container that begins at this index of the piece by its marks; returns where it ends, and its text if it is
    /// captured. `None` if that cannot be told. `element` is the number of its array, and its place in it.
    #[inline]
    pub(super) fn look<'a>(
        &mut self,
        piece: Piece<'a>,
        at: usize,
        masks: &Masks,
        element: (u64, u64),
    ) -> Option<(usize, Option<&'a [u8]>)> {
        let Criterion::Picked(pick) = &mut self.criterion else { return None };
        let text = &piece.bytes()[at..];
        let (len, is_wanted) = pick.looks_at(element.0, element.1, text, Marks { masks, start: at })?;
        Some((at + len, is_wanted.then(|| &text[..len])))
    }

    /// The arrays in a member with this name follow.
    pub(super) fn begin_member(&mut self, name: &str) {
        if let Criterion::Picked(pick) = &mut self.criterion {
            pick.begin_member(name);
        }
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

    /// Holds the part of the container that is in this chunk.
    pub(super) fn hold(&mut self, chunk: &[u8]) {
        if self.len(chunk.len()) > RAW_BYTES {
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
        if matches!(self.criterion, Criterion::Member(_)) {
            self.is_candidate |= self.is_in_piece(piece);
            return true;
        }
        self.len(piece.start + end) <= RAW_BYTES
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
        // One that lies in one piece was looked at before.
        let looks = self.reads_marks && (is_cut || self.from < piece.start);
        if let Criterion::Member(names) = &self.criterion {
            let is_too_large = self.is_too_large || self.len(end) > RAW_BYTES;
            if is_too_large || !(self.is_candidate || is_cut || names.looks_for_shared(element)) {
                return None;
            }
        }
        if is_cut {
            hold_more(&mut self.held, &piece.chunk[self.from..end]);
            self.from = end;
        }
        let json = if is_cut { &self.held[..] } else { &piece.chunk[self.from..end] };
        let is_wanted = match &mut self.criterion {
            Criterion::All => true,
            Criterion::Picked(pick) => {
                let (array, index) = element;
                let looked = if looks {
                    pick.looks_at(array, index, json, Marks { masks: &Masks::of(json), start: 0 })
                } else {
                    None
                };
                looked.map_or_else(|| pick.picks(array, index, json), |(_, is_wanted)| is_wanted)
            }
            Criterion::Member(names) => names.is_in(element, json),
        };
        is_wanted.then_some(json)
    }

    fn len(&self, end: usize) -> usize {
        self.held.len() + end - self.from
    }

    /// Whether the name of the member is in the piece, or begins before it. One search of all containers of a piece
    /// takes less time than one of each.
    #[inline]
    fn is_in_piece(&mut self, piece: Piece<'_>) -> bool {
        let Criterion::Member(names) = &self.criterion else { return true };
        let name = &names.name;
        *self.in_piece.get_or_insert_with(|| {
            let before = name.len().min(piece.start);
            name.is_in(&piece.chunk[piece.start - before..piece.end])
        })
    }
}

/// Appends bytes; the buffer does not grow beyond the largest capture.
fn hold_more(held: &mut Vec<u8>, bytes: &[u8]) {
    let needed = held.len() + bytes.len();
    if needed > held.capacity() {
        let room = needed.max(RAW_BYTES.min(2 * held.len()));
        held.reserve_exact(room - held.len());
    }
    held.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use crate::json::block::STRIDE;
    use crate::json::{Capture, Keep, Pruner};

    /// The containers with a member of this name, of a text that is fed in chunks.
    fn found(name: &str, json: &[u8], chunk: usize) -> Vec<Vec<u8>> {
        let mut pruner = Pruner::new(Keep::Window, 0..u64::MAX).capturing(Capture::member(name, None));
        let mut found = Vec::new();
        for chunk in json.chunks(chunk) {
            found.extend(pruner.feed(chunk).unwrap().captured.iter().map(|value| value.json.to_vec()));
        }
        pruner.finish().unwrap();
        found
    }

    #[test]
    fn a_shared_name_is_looked_for_where_one_of_the_first_elements_has_it() {
        let list = |first: usize, count: usize| {
            let item = |at: usize| if at < first { "{}".to_owned() } else { format!(r#"{{"child":{{"id":{at}}}}}"#) };
            format!("[{}]", (0..count).map(item).collect::<Vec<_>>().join(","))
        };
        let json = format!(r#"[{},{},{},[{{"error":1}}],{}]"#, list(0, 40), list(15, 40), list(16, 40), list(0, 1));
        for chunk in [json.len(), 100, 7, 1] {
            let mut pruner = Pruner::new(Keep::EachElement(&Keep::Window), 0..u64::MAX)
                .capturing(Capture::member("error", Some("child")));
            let mut found = 0;
            for chunk in json.as_bytes().chunks(chunk) {
                found += pruner.feed(chunk).unwrap().captured.len();
            }
            pruner.finish().unwrap();
            assert_eq!(found, 40 + 25 + 1 + 1, "{chunk}");
        }
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
