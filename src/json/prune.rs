//! The pruning filter, a push parser in front of struson.
//!
//! It walks the containers that its [`Keep`] table names token by token, checks their grammar, and skips everything
//! else at memory speed ([`OpenBrackets`]). If the body is valid JSON, so is the output; a fault in what is kept, or a body
//! that ends early, is a [`Fault`] with its offset.

use std::ops::Range;

use super::batch::{Batch, Output};
use super::block::{Masks, STRIDE, Scanner};
use super::fault::{Fault, FaultKind};
use super::keep::Keep;
use super::name::Name;
use super::skip::OpenBrackets;
use super::string::SurrogateRepair;
use super::utf8::Utf8;

/// Containers nested deeper than this, in what is kept, are emptied. Nothing that deep is shown: an
/// [`Excerpt`](super::Excerpt) has twelve levels, and no table has ten.
const FRAMES: usize = 64;

/// The longest number that is accepted, bytes.
const SCALAR_BYTES: usize = 1024;

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
/// assert_eq!(left.text, br#"{"name":"Orders","nodes":2,"":0,"items":[-1,1,-2]}"#);
/// assert_eq!(left.captured, [&br#"{"n":6}"#[..]]);
/// # Ok::<_, Fault>(())
/// ```
pub struct Pruner {
    window: Range<u64>,
    utf8: Utf8,
    scanner: Scanner,
    /// `None` only while they are in use.
    masks: Option<Box<Masks>>,
    /// Bytes of the body before the current piece.
    offset: u64,
    state: State,
    expect: Expect,
    frames: Vec<Frame>,
    /// The rule for the next value of an object, or for the top-level value.
    member: Keep,
    brackets: OpenBrackets,
    name: Name,
    repair: SurrogateRepair,
    scalar: Vec<u8>,
    out: Output,
}

/// What the filter is in the middle of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Structure,
    Scalar,
    Name,
    /// A string that is kept.
    Text {
        captured: bool,
    },
    /// A string that is skipped.
    Dropped,
    /// A container that is skipped.
    SkippedContainer,
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

/// An open container that is kept.
struct Frame {
    object: bool,
    keep: Keep,
    /// Elements that are complete.
    elements: u64,
    /// Elements outside the window that the output does not count yet.
    omitted: u64,
    captured: bool,
    /// Whether an element was written, so that the next one needs a comma.
    written: bool,
}

impl Frame {
    /// Whether the current element is only counted.
    fn is_silent(&self, window: &Range<u64>) -> bool {
        match self.keep {
            Keep::Count => true,
            Keep::Window => !window.contains(&self.elements),
            _ => false,
        }
    }
}

type Step<T> = Result<T, (FaultKind, usize)>;

impl Pruner {
    /// Creates a filter that keeps what `keep` names of the top-level value, and captures the elements
    /// `window` of every [`Keep::Window`].
    pub fn new(keep: Keep, window: Range<u64>) -> Self {
        Self {
            window,
            utf8: Utf8::default(),
            scanner: Scanner::new(),
            masks: None,
            offset: 0,
            state: State::Structure,
            expect: Expect::Value,
            frames: Vec::new(),
            member: keep,
            brackets: OpenBrackets::default(),
            name: Name::default(),
            repair: SurrogateRepair::default(),
            scalar: Vec::new(),
            out: Output::default(),
        }
    }

    /// Filters the next bytes of the body; returns what is left of them.
    ///
    /// # Errors
    /// At the first [`Fault`] of the body; the filter cannot be used after it.
    pub fn feed(&mut self, chunk: &[u8]) -> Result<Batch, Fault> {
        // Small pieces, so that the second pass over one finds it in the L1 cache.
        for piece in chunk.chunks(STRIDE) {
            let utf8 = self.utf8.check(piece);
            // What comes before invalid UTF-8 is walked first, so that the earliest fault is reported.
            let sound = &piece[..utf8.err().unwrap_or(piece.len())];
            self.walk(sound).map_err(|(kind, at)| kind.at(self.offset + at as u64))?;
            self.offset += sound.len() as u64;
            if utf8.is_err() {
                return Err(FaultKind::Utf8.at(self.offset));
            }
        }
        Ok(self.out.take())
    }

    /// What was kept before a fault and is not returned yet.
    pub fn take(&mut self) -> Batch {
        self.out.take()
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
        Ok(self.out.take())
    }

    fn walk(&mut self, bytes: &[u8]) -> Step<()> {
        let mut masks = self.masks.take().unwrap_or_else(|| Box::new(Masks::new()));
        self.scanner.scan(bytes, &mut masks);
        let control = Masks::next(&masks.controls, 0, bytes.len());
        let sound = control.unwrap_or(bytes.len());
        let walked = self.walk_tokens(&bytes[..sound], &masks);
        self.masks = Some(masks);
        walked?;
        control.map_or(Ok(()), |at| Err((FaultKind::Control, at)))
    }

    fn walk_tokens(&mut self, bytes: &[u8], masks: &Masks) -> Step<()> {
        let mut at = 0;
        while at < bytes.len() {
            at = match self.state {
                State::Structure => self.structure(bytes, at)?,
                State::Scalar => self.scalar(bytes, at)?,
                State::SkippedContainer => match self.brackets.skip(bytes, at, masks)? {
                    Some(after) => {
                        self.end_value();
                        after
                    }
                    None => bytes.len(),
                },
                State::Name | State::Text { .. } | State::Dropped => {
                    let quote = Masks::next(&masks.quotes, at, bytes.len()).filter(|quote| *quote < bytes.len());
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
    fn structure(&mut self, bytes: &[u8], at: usize) -> Step<usize> {
        use Expect::{Colon, CommaOrEnd, Name, NameOrEnd, Nothing, Value, ValueOrEnd};
        let byte = bytes[at];
        match (byte, self.expect) {
            (b' ' | b'\t' | b'\n' | b'\r', _) => {}
            (_, Nothing) => return Err((FaultKind::Trailing, at)),
            (b'{' | b'[', Value | ValueOrEnd) => self.open(byte == b'{'),
            (b'}' | b']', _) => self.close(byte).map_err(|kind| (kind, at))?,
            (b'"', Value | ValueOrEnd) => self.begin_string(),
            (b'"', Name | NameOrEnd) => {
                self.name.clear();
                self.state = State::Name;
            }
            (b':', Colon) => {
                self.out.put(b":");
                self.expect = Value;
            }
            (b',', CommaOrEnd) => self.comma(),
            (b'-' | b'0'..=b'9' | b'a'..=b'z', Value | ValueOrEnd) => {
                self.state = State::Scalar;
                return Ok(at);
            }
            (byte, _) => return Err((FaultKind::Unexpected(byte), at)),
        }
        Ok(at + 1)
    }

    /// Returns the rule for the value that begins here. In a window, writes the number of elements that
    /// were skipped before it.
    fn begin_value(&mut self) -> Keep {
        let rule = self.rule();
        if let Some(frame) = self.frames.last_mut()
            && matches!(frame.keep, Keep::Window)
        {
            if frame.is_silent(&self.window) {
                return Keep::Skip;
            }
            let omitted = std::mem::take(&mut frame.omitted);
            if omitted > 0 {
                self.out.put(format!("-{omitted},").as_bytes());
            } else if frame.written {
                self.out.put(b",");
            }
            frame.written = true;
        }
        rule
    }

    /// Writes what stands for a value, unless the value is only counted.
    fn put_shown(&mut self, bytes: &[u8]) {
        if self.frames.last().is_none_or(|frame| !frame.is_silent(&self.window)) {
            self.out.put(bytes);
        }
    }

    fn rule(&self) -> Keep {
        match self.frames.last() {
            Some(frame) if !frame.object => match frame.keep {
                Keep::Window if self.window.contains(&frame.elements) => Keep::Capture,
                Keep::EachElement(rule) => *rule,
                Keep::Whole => Keep::Whole,
                _ => Keep::Skip,
            },
            _ => self.member,
        }
    }

    fn open(&mut self, object: bool) {
        let rule = self.begin_value();
        let brackets: &[u8; 2] = if object { b"{}" } else { b"[]" };
        if rule.enters(object) && self.frames.len() < FRAMES {
            let captured = self.out.begin_capture(rule);
            let keep = if captured { Keep::Whole } else { rule };
            if !matches!(keep, Keep::Count) {
                self.out.put(&brackets[..1]);
            }
            self.frames.push(Frame { object, keep, elements: 0, omitted: 0, captured, written: false });
            self.expect = if object { Expect::NameOrEnd } else { Expect::ValueOrEnd };
        } else {
            self.put_shown(if rule.enters(object) { brackets } else { b"0" });
            self.brackets.enter(object);
            self.state = State::SkippedContainer;
        }
    }

    fn close(&mut self, bracket: u8) -> Result<(), FaultKind> {
        let ends = matches!(self.expect, Expect::NameOrEnd | Expect::ValueOrEnd | Expect::CommaOrEnd);
        match self.frames.pop() {
            Some(frame) if ends && frame.object == (bracket == b'}') => {
                self.end_elements(&frame, bracket);
                self.out.end_capture(frame.captured);
                self.end_value();
                Ok(())
            }
            Some(_) if ends => Err(FaultKind::Bracket),
            _ => Err(FaultKind::Unexpected(bracket)),
        }
    }

    fn end_elements(&mut self, frame: &Frame, bracket: u8) {
        match frame.keep {
            Keep::Count => self.out.put(frame.elements.to_string().as_bytes()),
            Keep::Window if frame.omitted > 0 => {
                let comma = if frame.written { "," } else { "" };
                self.out.put(format!("{comma}-{}]", frame.omitted).as_bytes());
            }
            _ => self.out.put(&[bracket]),
        }
    }

    fn comma(&mut self) {
        self.expect = Expect::Value;
        match self.frames.last() {
            Some(frame) if frame.object => self.expect = Expect::Name,
            Some(Frame { keep: Keep::Count | Keep::Window, .. }) => return,
            _ => {}
        }
        self.out.put(b",");
    }

    fn end_value(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.omitted += u64::from(frame.is_silent(&self.window));
            frame.elements += 1;
        }
        self.state = State::Structure;
        self.expect = if self.frames.is_empty() { Expect::Nothing } else { Expect::CommaOrEnd };
    }

    fn begin_string(&mut self) {
        let rule = self.begin_value();
        self.state = if matches!(rule, Keep::Whole | Keep::Capture | Keep::Members(_)) {
            let captured = self.out.begin_capture(rule);
            self.out.put(b"\"");
            State::Text { captured }
        } else {
            self.put_shown(b"0");
            State::Dropped
        };
    }

    fn string(&mut self, bytes: &[u8]) -> Result<(), FaultKind> {
        match self.state {
            State::Name => self.repair.push(bytes, &mut self.name),
            State::Text { .. } => self.repair.push(bytes, &mut self.out),
            _ => Ok(()),
        }
    }

    fn end_string(&mut self) -> Result<(), FaultKind> {
        match self.state {
            State::Name => {
                self.repair.finish(&mut self.name)?;
                self.end_name();
            }
            State::Text { captured } => {
                self.repair.finish(&mut self.out)?;
                self.out.put(b"\"");
                self.out.end_capture(captured);
                self.end_value();
            }
            _ => self.end_value(),
        }
        Ok(())
    }

    fn end_name(&mut self) {
        let keep = self.frames.last().map_or(Keep::Skip, |frame| frame.keep);
        self.member = match keep {
            Keep::Members(_) | Keep::Except(_) => keep.member(&self.name.text()),
            _ => keep.member(""),
        };
        if keep.any_name() || !matches!(self.member, Keep::Skip) {
            self.out.put(b"\"");
            match self.name.written() {
                Some(written) => self.out.put(written),
                // A cut name is decoded text, so it is escaped again.
                None => self.out.put(escaped(&self.name.text()).as_bytes()),
            }
            self.out.put(b"\"");
        } else {
            self.out.put(b"\"\"");
        }
        self.state = State::Structure;
        self.expect = Expect::Colon;
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
        let scalar = std::mem::take(&mut self.scalar);
        if serde_json::from_slice::<serde::de::IgnoredAny>(&scalar).is_err() {
            return Err(FaultKind::Scalar);
        }
        let rule = self.begin_value();
        let captured = self.out.begin_capture(rule);
        // A number in place of a counted array would be taken for its count.
        let counts = matches!(rule, Keep::Count) && scalar != b"null";
        self.put_shown(if counts { b"0" } else { &scalar });
        self.out.end_capture(captured);
        self.end_value();
        Ok(())
    }
}

/// Whether a number or a literal is only incomplete, not invalid.
fn begins_scalar(scalar: &[u8]) -> bool {
    let is_literal = [&b"true"[..], b"false", b"null"].iter().any(|literal| literal.starts_with(scalar));
    is_literal || serde_json::from_slice::<serde::de::IgnoredAny>(&[scalar, b"0"].concat()).is_ok()
}

/// The bytes of numbers and literals.
fn is_scalar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.')
}

/// The inside of a JSON string.
fn escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}
