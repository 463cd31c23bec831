//! The pruning filter: a push machine in front of struson.
//!
//! It walks the containers of its [`Keep`] table token by token, checks their grammar, and leaves
//! everything else out at memory speed ([`Skipped`]). What comes out is valid JSON whenever the body
//! is; a fault in what is shown, or one that ends the body early, is a [`Fault`] with its offset.

use std::io::{self, Read};
use std::ops::Range;

use super::block::{Masks, STRIDE, Scanner};
use super::fault::{Fault, FaultKind};
use super::keep::Keep;
use super::name::Name;
use super::skip::Skipped;
use super::string::{Mender, Piece};
use super::utf8::Utf8;

/// A captured value is at most this many bytes; a larger one stays in the text, where it is read as
/// a stream.
pub const CAPTURE_BYTES: usize = 64 * 1024;

/// Containers nested deeper than this, in what is kept, come out empty. Nothing is shown from there:
/// an [`Excerpt`](super::Excerpt) goes down twelve levels, a table not even ten.
const FRAMES: usize = 64;

/// The longest number that is read.
const SCALAR_BYTES: usize = 1024;

/// A captured value: its JSON text.
pub type Captured = bytes::Bytes;

/// What one chunk of a body left over.
#[derive(Debug, Default)]
pub struct Batch {
    /// The next piece of the pruned JSON text.
    pub text: Vec<u8>,
    /// The captured values whose places (`1`) are in this piece or in a later one, in order.
    pub captured: Vec<Captured>,
}

impl Batch {
    /// Whether nothing was left over.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.captured.is_empty()
    }

    /// Adds what comes next.
    pub fn append(&mut self, mut next: Self) {
        self.text.append(&mut next.text);
        self.captured.append(&mut next.captured);
    }
}

/// The filter. Feed it chunks of any size, then [`finish`](Self::finish).
pub struct Pruner {
    window: Range<u64>,
    utf8: Utf8,
    scanner: Scanner,
    masks: Box<Masks>,
    /// Bytes of the body before the piece at hand.
    offset: u64,
    state: State,
    expect: Expect,
    frames: Vec<Frame>,
    /// The rule for the next value of an object, or for the top-level value.
    member: Keep,
    skipped: Skipped,
    name: Name,
    mender: Mender,
    scalar: Vec<u8>,
    out: Out,
}

/// What the filter is in the middle of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Structure,
    Scalar,
    Name,
    /// A string that is passed on.
    Text {
        captured: bool,
    },
    /// A string that is left out.
    Dropped,
    /// A container that is left out.
    Skipped,
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
    /// Only white space: the JSON is over.
    Nothing,
}

/// A container that is kept.
struct Frame {
    object: bool,
    keep: Keep,
    elements: u64,
    captured: bool,
}

/// Where kept bytes go.
#[derive(Default)]
struct Out {
    batch: Batch,
    capture: Option<Vec<u8>>,
}

type Step<T> = Result<T, (FaultKind, usize)>;

impl Pruner {
    /// A filter that keeps what `keep` names of the top-level value, and captures the elements
    /// `window` of every [`Keep::Window`].
    pub fn new(keep: Keep, window: Range<u64>) -> Self {
        Self {
            window,
            utf8: Utf8::default(),
            scanner: Scanner::new(),
            masks: Box::new(Masks::new()),
            offset: 0,
            state: State::Structure,
            expect: Expect::Value,
            frames: Vec::new(),
            member: keep,
            skipped: Skipped::default(),
            name: Name::default(),
            mender: Mender::default(),
            scalar: Vec::new(),
            out: Out::default(),
        }
    }

    /// Takes the next bytes of the body; gives what is left of them.
    ///
    /// # Errors
    /// The first [`Fault`]; the filter is of no use after it.
    pub fn feed(&mut self, chunk: &[u8]) -> Result<Batch, Fault> {
        let utf8 = self.utf8.check(chunk);
        // What stands before a fault is checked first: the earliest fault is the one to name.
        let sound = utf8.err().unwrap_or(chunk.len());
        for piece in chunk[..sound].chunks(STRIDE) {
            self.walk(piece).map_err(|(kind, at)| kind.at(self.offset + at as u64))?;
            self.offset += piece.len() as u64;
        }
        match utf8 {
            Ok(()) => Ok(std::mem::take(&mut self.out.batch)),
            Err(_) => Err(FaultKind::Utf8.at(self.offset)),
        }
    }

    /// The end of the body.
    ///
    /// # Errors
    /// [`FaultKind::EndedEarly`] when the JSON is not complete.
    pub fn finish(mut self) -> Result<Batch, Fault> {
        if self.state == State::Scalar {
            self.end_scalar().map_err(|kind| kind.at(self.offset))?;
        }
        if self.expect != Expect::Nothing || self.state != State::Structure || self.scanner.in_string() {
            return Err(FaultKind::EndedEarly.at(self.offset));
        }
        Ok(self.out.batch)
    }

    fn walk(&mut self, bytes: &[u8]) -> Step<()> {
        let mut masks = std::mem::replace(&mut self.masks, Box::new(Masks::new()));
        self.scanner.scan(bytes, &mut masks);
        let control = Masks::next(&masks.controls, 0, bytes.len());
        let sound = control.unwrap_or(bytes.len());
        let walked = self.walk_tokens(&bytes[..sound], &masks);
        self.masks = masks;
        walked?;
        control.map_or(Ok(()), |at| Err((FaultKind::Control, at)))
    }

    fn walk_tokens(&mut self, bytes: &[u8], masks: &Masks) -> Step<()> {
        let mut at = 0;
        while at < bytes.len() {
            at = match self.state {
                State::Structure => self.structure(bytes, at)?,
                State::Scalar => self.scalar(bytes, at)?,
                State::Skipped => match self.skipped.skip(bytes, at, masks)? {
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

    /// White space, punctuation and the first byte of everything else.
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

    /// The rule for the value that begins here.
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
        let rule = self.rule();
        let brackets: &[u8; 2] = if object { b"{}" } else { b"[]" };
        if rule.enters(object) && self.frames.len() < FRAMES {
            let captured = self.begin_capture(rule);
            self.out.put(&brackets[..1]);
            let keep = if captured { Keep::Whole } else { rule };
            self.frames.push(Frame { object, keep, elements: 0, captured });
            self.expect = if object { Expect::NameOrEnd } else { Expect::ValueOrEnd };
        } else {
            self.out.put(if rule.enters(object) { brackets } else { b"0" });
            self.skipped.enter(object);
            self.state = State::Skipped;
        }
    }

    fn close(&mut self, bracket: u8) -> Result<(), FaultKind> {
        let ends = matches!(self.expect, Expect::NameOrEnd | Expect::ValueOrEnd | Expect::CommaOrEnd);
        match self.frames.pop() {
            Some(frame) if ends && frame.object == (bracket == b'}') => {
                self.out.put(&[bracket]);
                self.end_capture(frame.captured);
                self.end_value();
                Ok(())
            }
            Some(_) if ends => Err(FaultKind::Bracket),
            _ => Err(FaultKind::Unexpected(bracket)),
        }
    }

    fn comma(&mut self) {
        self.out.put(b",");
        self.expect = Expect::Value;
        if let Some(frame) = self.frames.last_mut() {
            frame.elements += 1;
            if frame.object {
                self.expect = Expect::Name;
            }
        }
    }

    fn end_value(&mut self) {
        self.state = State::Structure;
        self.expect = if self.frames.is_empty() { Expect::Nothing } else { Expect::CommaOrEnd };
    }

    fn begin_capture(&mut self, rule: Keep) -> bool {
        let captured = matches!(rule, Keep::Capture);
        if captured {
            self.out.capture = Some(Vec::new());
        }
        captured
    }

    fn end_capture(&mut self, captured: bool) {
        if let Some(json) = self.out.capture.take_if(|_| captured) {
            self.out.batch.captured.push(json.into());
            self.out.put(b"1");
        }
    }

    fn begin_string(&mut self) {
        let rule = self.rule();
        self.state = if matches!(rule, Keep::Whole | Keep::Capture) {
            let captured = self.begin_capture(rule);
            self.out.put(b"\"");
            State::Text { captured }
        } else {
            self.out.put(b"0");
            State::Dropped
        };
    }

    fn string(&mut self, bytes: &[u8]) -> Result<(), FaultKind> {
        match self.state {
            State::Name => self.mender.push(bytes, &mut self.name),
            State::Text { .. } => self.mender.push(bytes, &mut self.out),
            _ => Ok(()),
        }
    }

    fn end_string(&mut self) -> Result<(), FaultKind> {
        match self.state {
            State::Name => {
                self.mender.finish(&mut self.name)?;
                self.end_name();
            }
            State::Text { captured } => {
                self.mender.finish(&mut self.out)?;
                self.out.put(b"\"");
                self.end_capture(captured);
                self.end_value();
            }
            _ => self.end_value(),
        }
        Ok(())
    }

    fn end_name(&mut self) {
        let keep = self.frames.last().map_or(Keep::Skip, |frame| frame.keep);
        self.member = match keep {
            Keep::Members(_) => keep.member(&self.name.text()),
            _ => keep.member(""),
        };
        if keep.any_name() || !matches!(self.member, Keep::Skip) {
            self.out.put(b"\"");
            match self.name.written() {
                Some(written) => self.out.put(written),
                // A cut name is its own text: it holds no quote that is not escaped.
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
        let captured = self.begin_capture(self.rule());
        // In a window a bare number would be taken for the place of a captured value.
        let in_window = self.frames.last().is_some_and(|frame| matches!(frame.keep, Keep::Window));
        self.out.put(if in_window && !captured { b"0" } else { &scalar });
        self.end_capture(captured);
        self.end_value();
        Ok(())
    }
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

impl Out {
    fn put(&mut self, bytes: &[u8]) {
        let Some(capture) = &mut self.capture else {
            self.batch.text.extend_from_slice(bytes);
            return;
        };
        capture.extend_from_slice(bytes);
        if capture.len() > CAPTURE_BYTES {
            self.batch.text.append(capture);
            self.capture = None;
        }
    }
}

impl Piece for Out {
    fn plain(&mut self, bytes: &[u8]) {
        self.put(bytes);
    }

    fn escape(&mut self, bytes: &[u8]) {
        self.put(bytes);
    }
}

/// The batches of anything that can be read: a file, standard input, a test's generator.
pub struct Batches<R> {
    body: R,
    pruner: Option<Pruner>,
    chunk: Vec<u8>,
}

impl<R: Read> Batches<R> {
    /// Bytes that are read at once.
    const CHUNK: usize = 64 * 1024;

    /// Reads `body` through `pruner`.
    pub fn new(body: R, pruner: Pruner) -> Self {
        Self { body, pruner: Some(pruner), chunk: vec![0; Self::CHUNK] }
    }

    fn read(&mut self) -> io::Result<usize> {
        loop {
            match self.body.read(&mut self.chunk) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read,
            }
        }
    }
}

impl<R: Read> Iterator for Batches<R> {
    type Item = io::Result<Batch>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut pruner = self.pruner.take()?;
        let batch = match self.read() {
            Ok(0) => return Some(pruner.finish().map_err(io::Error::other)),
            Ok(len) => pruner.feed(&self.chunk[..len]).map_err(io::Error::other),
            Err(error) => Err(error),
        };
        self.pruner = batch.is_ok().then_some(pruner);
        Some(batch)
    }
}
