//! The filter's output, chunk by chunk.

use bytes::Bytes;

use super::keep::Keep;
use super::string::StringSink;

/// The maximum number of bytes of a captured value; a larger one stays in the text, where it is read as a stream.
pub const CAPTURE_BYTES: usize = 64 * 1024;

/// A captured value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// Its JSON text. If it is captured [raw](super::Capture), it can hold lone surrogates.
    pub json: Bytes,
    /// Where its mark ends: bytes of the pruned text from the beginning of the first batch.
    pub end: u64,
}

/// What the filter left of one chunk of a body.
#[derive(Debug, Default)]
pub struct Batch {
    /// The next piece of the pruned JSON text.
    pub text: Vec<u8>,
    /// Captured values, in order. In the text a `1` marks the place of each.
    pub captured: Vec<Captured>,
    /// Whether U+FFFD replaced half of a surrogate pair in the text.
    pub has_replacement: bool,
}

impl Batch {
    /// Whether nothing was left.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.captured.is_empty()
    }

    /// Appends the next batch.
    pub fn append(&mut self, mut next: Self) {
        self.text.append(&mut next.text);
        self.captured.append(&mut next.captured);
        self.has_replacement |= next.has_replacement;
    }
}

/// Collects kept bytes, in the text or in a captured value.
#[derive(Default)]
pub(super) struct Output {
    batch: Batch,
    /// Bytes of the texts of the batches before it.
    taken: u64,
    /// Bytes of its captured values.
    captured_bytes: usize,
    /// Whether bytes go to a captured value.
    capturing: bool,
    capture: Vec<u8>,
}

impl Output {
    /// Takes what was collected so far.
    pub(super) fn take(&mut self) -> Batch {
        self.captured_bytes = 0;
        self.taken += self.batch.text.len() as u64;
        std::mem::take(&mut self.batch)
    }

    /// Bytes that were collected since the last [`take`](Self::take), in the text and in captured values.
    pub(super) fn pending(&self) -> usize {
        self.batch.text.len() + self.captured_bytes
    }

    /// Begins a captured value if the rule is [`Keep::Capture`]; returns whether it is.
    pub(super) fn begin_capture(&mut self, rule: Keep) -> bool {
        let captured = matches!(rule, Keep::Capture);
        self.capturing |= captured;
        captured
    }

    /// Ends a captured value, unless it became too large and was moved to the text.
    pub(super) fn end_capture(&mut self, captured: bool) {
        if captured && std::mem::take(&mut self.capturing) {
            // An exact-size copy: the value may be held for long, and the buffer is reused.
            let mut captured = std::mem::take(&mut self.capture);
            self.put_captured(&captured);
            captured.clear();
            self.capture = captured;
        }
    }

    /// A whole captured value.
    pub(super) fn put_captured(&mut self, json: &[u8]) {
        self.put(b"1");
        let end = self.taken + self.batch.text.len() as u64;
        self.batch.captured.push(Captured { json: Bytes::copy_from_slice(json), end });
        self.captured_bytes += json.len();
    }

    pub(super) fn put(&mut self, bytes: &[u8]) {
        if !self.capturing {
            self.batch.text.extend_from_slice(bytes);
            return;
        }
        self.capture.extend_from_slice(bytes);
        if self.capture.len() > CAPTURE_BYTES {
            self.batch.text.append(&mut self.capture);
            self.capturing = false;
        }
    }
}

impl StringSink for Output {
    fn plain(&mut self, bytes: &[u8]) {
        self.put(bytes);
    }

    fn escape(&mut self, bytes: &[u8]) {
        self.put(bytes);
    }
}
