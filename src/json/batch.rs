//! What the filter lets through, chunk by chunk.

use super::keep::Keep;
use super::string::Piece;

/// A captured value is at most this many bytes; a larger one stays in the text, where it is read as
/// a stream.
pub const CAPTURE_BYTES: usize = 64 * 1024;

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

/// Where kept bytes go.
#[derive(Default)]
pub(super) struct Out {
    batch: Batch,
    /// Whether they go to a captured value.
    capturing: bool,
    capture: Vec<u8>,
}

impl Out {
    /// Gives what has come so far.
    pub(super) fn take(&mut self) -> Batch {
        std::mem::take(&mut self.batch)
    }

    /// Begins a captured value, if the rule asks for one; gives whether it does.
    pub(super) fn begin_capture(&mut self, rule: Keep) -> bool {
        let captured = matches!(rule, Keep::Capture);
        self.capturing |= captured;
        captured
    }

    /// Ends a captured value, unless it became too large and went to the text.
    pub(super) fn end_capture(&mut self, captured: bool) {
        if captured && std::mem::take(&mut self.capturing) {
            // A copy of its own size: it may be held for long, and the buffer is used again.
            self.batch.captured.push(Captured::copy_from_slice(&self.capture));
            self.capture.clear();
            self.put(b"1");
        }
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

impl Piece for Out {
    fn plain(&mut self, bytes: &[u8]) {
        self.put(bytes);
    }

    fn escape(&mut self, bytes: &[u8]) {
        self.put(bytes);
    }
}
