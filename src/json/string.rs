//! The inside of a string on its way to struson: checks escapes and replaces lone surrogates.

use super::fault::FaultKind;
use memchr::memchr;

/// Receives the inside of a string, piece by piece.
pub(super) trait StringSink {
    /// Characters without escapes.
    fn plain(&mut self, bytes: &[u8]);
    /// One character, written as an escape of 2, 6 or 12 bytes.
    fn escape(&mut self, bytes: &[u8]);
}

/// U+FFFD, which replaces half of a surrogate pair, as in JavaScript's `String.prototype.toWellFormed`.
const REPLACEMENT: &[u8] = b"\\ufffd";

/// Passes a string on, with U+FFFD in place of each lone surrogate.
///
/// JavaScript can cut a string between the halves of a pair (`'ab😀'.slice(0, 3)`); n8n then sends half a pair,
/// `\ud83d`, which struson rightly refuses.
#[derive(Default)]
pub(super) struct SurrogateRepair {
    /// An incomplete escape, or a high surrogate that waits for its low one.
    pending: [u8; 12],
    len: usize,
    has_replaced: bool,
}

impl SurrogateRepair {
    /// The next bytes of the string.
    ///
    /// # Errors
    /// At an escape that JSON does not have.
    pub(super) fn push(&mut self, mut bytes: &[u8], to: &mut impl StringSink) -> Result<(), FaultKind> {
        while let Some((&first, rest)) = bytes.split_first() {
            if self.len > 0 {
                self.byte(first, to)?;
                bytes = rest;
                continue;
            }
            let plain = memchr(b'\\', bytes).unwrap_or(bytes.len());
            if plain > 0 {
                to.plain(&bytes[..plain]);
            }
            if plain < bytes.len() {
                self.keep(b'\\');
            }
            bytes = bytes.get(plain + 1..).unwrap_or_default();
        }
        Ok(())
    }

    /// The end of the string.
    ///
    /// # Errors
    /// When the string ends inside an escape.
    pub(super) fn finish(&mut self, to: &mut impl StringSink) -> Result<(), FaultKind> {
        match std::mem::take(&mut self.len) {
            0 => Ok(()),
            6 => {
                self.replace(to);
                Ok(())
            }
            _ => Err(FaultKind::Escape),
        }
    }

    /// Whether it has replaced anything since this was asked.
    pub(super) fn take_has_replaced(&mut self) -> bool {
        std::mem::take(&mut self.has_replaced)
    }

    fn replace(&mut self, to: &mut impl StringSink) {
        self.has_replaced = true;
        to.escape(REPLACEMENT);
    }

    fn keep(&mut self, byte: u8) {
        self.pending[self.len] = byte;
        self.len += 1;
    }

    fn byte(&mut self, byte: u8, to: &mut impl StringSink) -> Result<(), FaultKind> {
        match self.len {
            1 if byte == b'u' => self.keep(byte),
            1 if b"\"\\/bfnrt".contains(&byte) => {
                to.escape(&[b'\\', byte]);
                self.len = 0;
            }
            // From here on a high surrogate is pending.
            6 if byte == b'\\' => self.keep(byte),
            7 if byte == b'u' => self.keep(byte),
            6 => {
                self.replace(to);
                to.plain(&[byte]);
                self.len = 0;
            }
            7 => {
                self.replace(to);
                self.len = 1;
                self.byte(byte, to)?;
            }
            2..6 | 8..12 if byte.is_ascii_hexdigit() => {
                self.keep(byte);
                self.settle(to);
            }
            _ => return Err(FaultKind::Escape),
        }
        Ok(())
    }

    /// Passes on a complete escape, unless it is a high surrogate.
    fn settle(&mut self, to: &mut impl StringSink) {
        if self.len == 12 {
            if (0xdc00..0xe000).contains(&self.code(8)) {
                to.escape(&self.pending);
                self.len = 0;
                return;
            }
            self.replace(to);
            self.pending.copy_within(6.., 0);
            self.len = 6;
        }
        if self.len == 6 {
            match self.code(2) {
                0xd800..0xdc00 => return,
                0xdc00..0xe000 => self.replace(to),
                _ => to.escape(&self.pending[..6]),
            }
            self.len = 0;
        }
    }

    fn code(&self, at: usize) -> u32 {
        self.pending[at..at + 4].iter().fold(0, |code, digit| code * 16 + char::from(*digit).to_digit(16).unwrap_or(0))
    }
}
