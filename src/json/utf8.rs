//! Checks UTF-8, also across chunks.

use std::borrow::Cow;

/// The bytes as a text, with U+FFFD in place of what is not UTF-8. Mostly all of it is, and checking that first is several times
/// as fast.
pub(super) fn utf8_lossy(bytes: &[u8]) -> Cow<'_, str> {
    simdutf8::basic::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// Checks that a stream is UTF-8, chunk by chunk.
#[derive(Default)]
pub(super) struct Utf8 {
    /// The beginning of a character that the previous chunk split.
    begun: [u8; 4],
    len: usize,
}

impl Utf8 {
    /// Checks the next chunk.
    ///
    /// # Errors
    /// At the first invalid byte, with its index in this chunk.
    pub(super) fn check(&mut self, chunk: &[u8]) -> Result<(), usize> {
        let taken = self.complete(chunk)?;
        let rest = &chunk[taken..];
        match simdutf8::compat::from_utf8(rest) {
            Ok(_) => Ok(()),
            Err(error) if error.error_len().is_none() => {
                let begun = &rest[error.valid_up_to()..];
                self.begun[..begun.len()].copy_from_slice(begun);
                self.len = begun.len();
                Ok(())
            }
            Err(error) => Err(taken + error.valid_up_to()),
        }
    }

    /// Completes the split character; returns how many bytes that took.
    fn complete(&mut self, chunk: &[u8]) -> Result<usize, usize> {
        for (taken, byte) in chunk.iter().enumerate() {
            if self.len == 0 {
                return Ok(taken);
            }
            self.begun[self.len] = *byte;
            self.len += 1;
            match std::str::from_utf8(&self.begun[..self.len]) {
                Ok(_) => self.len = 0,
                Err(error) if error.error_len().is_none() => {}
                Err(_) => return Err(taken),
            }
        }
        Ok(chunk.len())
    }
}
