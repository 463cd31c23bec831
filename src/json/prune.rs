//! The pruning filter, a push parser in front of struson.
//!
//! It walks the containers that its [`Keep`] table names token by token, checks their grammar, and skips everything
//! else at memory speed ([`OpenBrackets`]). If the body is valid JSON, so is the output; a fault in what is kept, or a body
//! that ends early, is a [`Fault`] with its offset.

use std::ops::Range;

use super::batch::Batch;
use super::block::{Masks, STRIDE, Scanner};
use super::fault::{Fault, FaultKind};
use super::keep::Keep;
use super::raw_capture::{Capture, Piece, RawCapture};
use super::scalar::{SCALAR_BYTES, begins_scalar, is_scalar};
use super::selection::Selection;
use super::skip::OpenBrackets;
use super::utf8::Utf8;

/// The pruning filter. [`feed`](Self::feed) it a body in chunks of any size, then [`finish`](Self::finish) it.
///
/// Memory does not grow with the body; the size of the chunks makes no difference to the output.
///
/// ```
/// use n8n_lens::json::{Fault, Keep, Pruner};
///
/// const KEEP: Keep = Keep::Members(&[
///     ("name", Keep::Whole),
///     ("nodes", Keep::Count),
///     ("items", Keep::Window),
/// ]);
///
/// let mut pruner = Pruner::new(KEEP, 1..2);
/// let mut left = pruner.feed(br#"{"name": "Orders", "nodes": [{}, {}], "log": "left out", "it"#)?;
/// left.append(pruner.feed(br#"ems": [{"n": 5}, {"n": 6}, {"n": 7}, {"n": 8}]}"#)?);
/// left.append(pruner.finish()?);
/// assert_eq!(left.text, br#"{"name":"Orders","nodes":2,"items":[-1,1,-2]}"#);
/// assert_eq!(left.captured[0].json, r#"{"n":6}"#);
/// # Ok::<_, Fault>(())
/// ```
pub struct Pruner {
    /// `None` if the body is known to be UTF-8.
    utf8: Option<Utf8>,
    scanner: Scanner,
    /// Empty while they are in use.
    masks: Masks,
    /// Bytes of the body before the current piece.
    offset: u64,
    state: State,
    expect: Expect,
    brackets: OpenBrackets,
    scalar: Vec<u8>,
    selection: Selection,
    /// How containers in windows are captured: `None` token by token, otherwise raw.
    raw: Option<RawCapture>,
    /// The first fault: a decoder may feed what it had buffered after it.
    fault: Option<Fault>,
}

/// What the filter is in the middle of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Structure,
    Scalar,
    Name,
    /// A string that is kept.
    Text,
    /// A string that is skipped.
    Dropped,
    /// A container that is skipped.
    SkippedContainer,
    /// A container that is captured raw.
    RawContainer,
}

/// What the grammar allows next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expect {
    Value,
    ValueOrEnd,
    Name,
    NameOrEnd,
    Colon,
    CommaOrEnd,
    /// Only white space: the JSON value is complete.
    Nothing,
}

/// Bytes of a body that are scanned at once where elements are looked at by their marks: so many that most elements lie in one
/// piece, and few enough to stay in the L2 cache.
const LOOKED_AT: usize = 64 * 1024;

type Step<T> = Result<T, (FaultKind, usize)>;

impl Pruner {
    /// Creates a filter that keeps what `keep` names of the top-level value, and captures the elements
    /// `window` of every [`Keep::Window`].
    pub fn new(keep: Keep, window: Range<u64>) -> Self {
        Self {
            utf8: Some(Utf8::default()),
            scanner: Scanner::new(),
            masks: Masks::checked(),
            offset: 0,
            state: State::Structure,
            expect: Expect::Value,
            brackets: OpenBrackets::default(),
            scalar: Vec::new(),
            selection: Selection::new(keep, window),
            raw: None,
            fault: None,
        }
    }

    /// The same filter, but containers in a [`Keep::Window`] are captured raw.
    #[must_use]
    pub fn capturing(self, capture: Capture) -> Self {
        Self { raw: Some(RawCapture::new(capture)), ..self }
    }

    /// The same filter, but of the outermost object that is kept by [`Keep::EachMember`], it keeps only the members
    /// with this name, or with this shortened name, and the names of the others.
    ///
    /// ```
    /// use n8n_lens::json::{Fault, Keep, Pruner};
    ///
    /// let mut pruner = Pruner::new(Keep::EachMember(&Keep::Whole), 0..0).with_focus(Some("If"));
    /// let mut left = pruner.feed(br#"{"Read": [1, 2, 3], "If": [4]}"#)?;
    /// left.append(pruner.finish()?);
    /// assert_eq!(left.text, br#"{"Read":0,"If":[4]}"#);
    /// # Ok::<_, Fault>(())
    /// ```
    #[must_use]
    pub fn with_focus(mut self, name: Option<&str>) -> Self {
        if let Some(name) = name {
            self.selection.focus(name.to_owned());
        }
        self
    }

    /// The same filter, but the rest of a string of more than 1 MiB in a captured value is not only counted: for readers that need
    /// every byte, and hold none of them.
    #[must_use]
    pub fn with_whole_strings(mut self) -> Self {
        self.selection.be_exact();
        self
    }

    /// The same filter for a body that is known to be UTF-8, and is not checked again. If it is not UTF-8, neither is
    /// what is left of it.
    #[must_use]
    pub fn trusting_utf8(self) -> Self {
        Self { utf8: None, ..self }
    }

    /// The same filter for a body that a filter has read to its end before. What is skipped is not checked again; if it is another
    /// body by now, and broken there, that is not noticed.
    #[must_use]
    pub fn trusting_body(self) -> Self {
        Self { masks: Masks::trusted(), ..self.trusting_utf8() }
    }

    /// Filters the next bytes of the body; returns what is left of them.
    ///
    /// # Errors
    /// At the first [`Fault`] of the body, and again at every call after it.
    pub fn feed(&mut self, chunk: &[u8]) -> Result<Batch, Fault> {
        match self.fault {
            Some(fault) => Err(fault),
            None => self.filter(chunk).inspect_err(|fault| self.fault = Some(*fault)),
        }
    }

    fn filter(&mut self, chunk: &[u8]) -> Result<Batch, Fault> {
        // Small pieces, so that the second pass over one finds it in the cache.
        let stride = if self.looks() { LOOKED_AT } else { STRIDE };
        for start in (0..chunk.len()).step_by(stride) {
            let piece = &chunk[start..chunk.len().min(start + stride)];
            let utf8 = self.utf8.as_mut().map_or(Ok(()), |utf8| utf8.check(piece));
            // What comes before invalid UTF-8 is walked first, so that the earliest fault is reported.
            let end = start + utf8.err().unwrap_or(piece.len());
            self.walk(Piece { chunk, start, end }).map_err(|(kind, at)| kind.at(self.offset + at as u64))?;
            self.offset += (end - start) as u64;
            if utf8.is_err() {
                return Err(FaultKind::Utf8.at(self.offset));
            }
        }
        if let Some(raw) = self.raw.as_mut().filter(|_| self.state == State::RawContainer) {
            raw.hold(chunk);
        }
        Ok(self.selection.take())
    }

    /// What was kept before a fault and is not returned yet.
    pub fn take(&mut self) -> Batch {
        self.selection.take()
    }

    /// The selection, for a value of another text in place of the next one; [`end_spliced`](Self::end_spliced) follows
    /// it.
    pub(super) fn selection(&mut self) -> &mut Selection {
        &mut self.selection
    }

    /// Continues after a value of another text.
    pub(super) fn end_spliced(&mut self) {
        self.after_value();
    }

    /// Filters a value that replaces one of another text.
    ///
    /// # Errors
    /// When it is not JSON.
    pub(super) fn feed_value(&mut self, json: &[u8]) -> Result<Batch, Fault> {
        self.feed_inside(json, Expect::Value)
    }

    /// Filters members that are added to an object of another text.
    ///
    /// # Errors
    /// When they are not JSON.
    pub(super) fn feed_members(&mut self, json: &[u8]) -> Result<Batch, Fault> {
        self.feed_inside(json, Expect::Name)
    }

    fn feed_inside(&mut self, json: &[u8], expect: Expect) -> Result<Batch, Fault> {
        self.expect = expect;
        let mut batch = self.feed(json)?;
        // A number ends with the byte after it.
        batch.append(self.feed(b" ")?);
        Ok(batch)
    }

    /// Ends the body; returns the rest of the output.
    ///
    /// # Errors
    /// [`FaultKind::EndedEarly`] if the JSON is not complete, [`FaultKind::Scalar`] if it ends with an invalid
    /// number or literal.
    pub fn finish(mut self) -> Result<Batch, Fault> {
        if self.state == State::Scalar {
            let begun = begins_scalar(&self.scalar);
            self.end_scalar().map_err(|kind| if begun { FaultKind::EndedEarly } else { kind }.at(self.offset))?;
        }
        if self.expect != Expect::Nothing || self.state != State::Structure || self.scanner.in_string() {
            return Err(FaultKind::EndedEarly.at(self.offset));
        }
        Ok(self.selection.take())
    }

    fn walk(&mut self, piece: Piece<'_>) -> Step<()> {
        let bytes = piece.bytes();
        let mut masks = self.masks.take();
        masks.scan(bytes, &mut self.scanner);
        let control = masks.control();
        let sound = control.unwrap_or(bytes.len());
        let walked = self.walk_tokens(Piece { end: piece.start + sound, ..piece }, &masks);
        self.masks = masks;
        walked?;
        control.map_or(Ok(()), |at| Err((FaultKind::Control, at)))
    }

    fn walk_tokens(&mut self, piece: Piece<'_>, masks: &Masks) -> Step<()> {
        let (bytes, mut at) = (piece.bytes(), 0);
        if let Some(raw) = &mut self.raw {
            raw.begin_piece();
        }
        while at < bytes.len() {
            at = match self.state {
                State::Structure => self.structure(piece, at, masks)?,
                State::Scalar => self.scalar(bytes, at)?,
                State::SkippedContainer => match self.brackets.skip(bytes, at, masks)? {
                    Some(after) => {
                        self.end_value();
                        after
                    }
                    None => bytes.len(),
                },
                State::RawContainer => self.raw_container(piece, at, masks)?,
                State::Name | State::Text | State::Dropped => {
                    let quote = masks.quote(at).filter(|quote| *quote < bytes.len());
                    self.string(&bytes[at..quote.unwrap_or(bytes.len())]).map_err(|kind| (kind, at))?;
                    if quote.is_some() {
                        self.end_string().map_err(|kind| (kind, at))?;
                    }
                    quote.map_or(bytes.len(), |quote| quote + 1)
                }
            };
        }
        Ok(())
    }

    /// Handles white space, punctuation and the first byte of everything else.
    fn structure(&mut self, piece: Piece<'_>, at: usize, masks: &Masks) -> Step<usize> {
        use Expect::{Colon, CommaOrEnd, Name, NameOrEnd, Nothing, Value, ValueOrEnd};
        let byte = piece.bytes()[at];
        match (byte, self.expect) {
            (b' ' | b'\t' | b'\n' | b'\r', _) => {}
            (_, Nothing) => return Err((FaultKind::Trailing, at)),
            (b'{' | b'[', Value | ValueOrEnd) => return Ok(self.open(byte == b'{', piece, at, masks)),
            (b'}' | b']', _) => self.close(byte).map_err(|kind| (kind, at))?,
            (b'"', Value | ValueOrEnd) => self.begin_string(),
            (b'"', Name | NameOrEnd) => {
                self.selection.begin_name();
                self.state = State::Name;
            }
            (b':', Colon) => self.expect = Value,
            (b',', CommaOrEnd) => self.comma(),
            (b'-' | b'0'..=b'9' | b'a'..=b'z', Value | ValueOrEnd) => {
                self.state = State::Scalar;
                return Ok(at);
            }
            (byte, _) => return Err((FaultKind::Unexpected(byte), at)),
        }
        Ok(at + 1)
    }

    /// Begins a container, whose bracket is at this index of the piece; returns the index after what was read of it.
    fn open(&mut self, object: bool, piece: Piece<'_>, at: usize, masks: &Masks) -> usize {
        let looks = self.looks();
        match &mut self.raw {
            Some(raw) if self.selection.captures() => {
                if looks && let Some((after, json)) = raw.look(piece, at, masks, self.selection.element()) {
                    self.selection.capture_or_count(json);
                    self.after_value();
                    return after;
                }
                raw.begin(piece.start + at);
                self.brackets.enter(object);
                self.state = State::RawContainer;
            }
            _ => self.enter(object),
        }
        at + 1
    }

    /// Whether elements are looked at before their end is known.
    fn looks(&self) -> bool {
        self.masks.are_trusted() && self.raw.as_ref().is_some_and(RawCapture::reads_marks)
    }

    /// The next bytes of a container that is captured raw; returns the index after them.
    fn raw_container(&mut self, piece: Piece<'_>, at: usize, masks: &Masks) -> Step<usize> {
        let bytes = piece.bytes();
        let Some(raw) = &mut self.raw else { return Ok(bytes.len()) };
        let end = self.brackets.skip(bytes, at, masks)?;
        let after = end.unwrap_or(bytes.len());
        if !raw.extend(piece, after) {
            let begun = raw.begun(piece, at);
            self.read_again(&begun, at)?;
            return Ok(at);
        }
        if end.is_some() {
            self.selection.capture_or_count(raw.found(piece, after, self.selection.element()));
            self.after_value();
        }
        Ok(after)
    }

    /// Reads the container, which is too large and begins with `begun`, token by token up to `at` in the current piece.
    fn read_again(&mut self, begun: &[u8], at: usize) -> Step<()> {
        let scanner = std::mem::replace(&mut self.scanner, Scanner::new());
        // Nothing in it is captured on its own, and its marks are not those of the chunk.
        let raw = self.raw.take();
        let offset = self.offset;
        // The offset of a fault in it.
        self.offset = offset + at as u64 - begun.len() as u64;
        self.brackets = OpenBrackets::default();
        self.state = State::Structure;
        self.enter(begun[0] == b'{');
        self.offset += 1;
        for start in (1..begun.len()).step_by(STRIDE) {
            let end = begun.len().min(start + STRIDE);
            self.walk(Piece { chunk: begun, start, end })?;
            self.offset += (end - start) as u64;
        }
        (self.scanner, self.offset, self.raw) = (scanner, offset, raw);
        Ok(())
    }

    fn enter(&mut self, object: bool) {
        if self.selection.open(object) {
            self.expect = if object { Expect::NameOrEnd } else { Expect::ValueOrEnd };
        } else {
            self.brackets.enter(object);
            self.state = State::SkippedContainer;
        }
    }

    fn close(&mut self, bracket: u8) -> Result<(), FaultKind> {
        let ends = matches!(self.expect, Expect::NameOrEnd | Expect::ValueOrEnd | Expect::CommaOrEnd);
        match self.selection.in_object() {
            Some(object) if ends && object == (bracket == b'}') => {
                self.selection.close();
                self.after_value();
                Ok(())
            }
            Some(_) if ends => Err(FaultKind::Bracket),
            _ => Err(FaultKind::Unexpected(bracket)),
        }
    }

    fn comma(&mut self) {
        self.expect = if self.selection.in_object() == Some(true) { Expect::Name } else { Expect::Value };
        self.selection.comma();
    }

    /// Ends a value that was skipped.
    fn end_value(&mut self) {
        self.selection.end_value();
        self.after_value();
    }

    fn after_value(&mut self) {
        self.state = State::Structure;
        self.expect = if self.selection.in_object().is_none() { Expect::Nothing } else { Expect::CommaOrEnd };
    }

    fn begin_string(&mut self) {
        self.state = if self.selection.begin_string() { State::Text } else { State::Dropped };
    }

    fn string(&mut self, bytes: &[u8]) -> Result<(), FaultKind> {
        match self.state {
            State::Name => self.selection.name_piece(bytes),
            State::Text => self.selection.string_piece(bytes),
            _ => Ok(()),
        }
    }

    fn end_string(&mut self) -> Result<(), FaultKind> {
        match self.state {
            State::Name => {
                self.selection.end_name()?;
                self.selection.put_name();
                if let Some(raw) = self.raw.as_mut().filter(|raw| raw.reads_marks())
                    && self.selection.is_outer_member()
                {
                    raw.begin_member(&self.selection.name());
                }
                self.state = State::Structure;
                self.expect = Expect::Colon;
            }
            State::Text => {
                self.selection.end_string()?;
                self.after_value();
            }
            _ => self.end_value(),
        }
        Ok(())
    }

    fn scalar(&mut self, bytes: &[u8], at: usize) -> Step<usize> {
        let rest = &bytes[at..];
        let end = rest.iter().position(|byte| !is_scalar(*byte));
        let more = &rest[..end.unwrap_or(rest.len())];
        if self.scalar.len() + more.len() > SCALAR_BYTES {
            return Err((FaultKind::Scalar, at));
        }
        self.scalar.extend_from_slice(more);
        if end.is_some() {
            self.end_scalar().map_err(|kind| (kind, at))?;
        }
        Ok(at + more.len())
    }

    fn end_scalar(&mut self) -> Result<(), FaultKind> {
        self.selection.scalar(&self.scalar)?;
        self.scalar.clear();
        self.after_value();
        Ok(())
    }
}
