//! Skips a container by looking only at its brackets.
//!
//! In bytes that are trusted they are only counted, a block at a time.

use super::block::{BLOCK, Masks};
use super::fault::FaultKind;

/// Up to this depth the kinds of brackets are checked, at one bit per level (1 MiB in total). Deeper ones are
/// only counted, so that memory stays flat however deep a body is nested.
const CHECKED_DEPTH: u64 = 8 * 1024 * 1024;

/// The open brackets of the container that is being skipped.
#[derive(Default)]
pub(super) struct OpenBrackets {
    inner: Inner,
    /// The kinds of the outer levels, 64 per word.
    outer: Vec<u64>,
}

/// The innermost levels; small enough to stay in registers while bytes are skipped.
#[derive(Clone, Copy, Default)]
struct Inner {
    depth: u64,
    /// The kinds of the innermost levels, one bit each: 1 for an object.
    kinds: u64,
}

impl OpenBrackets {
    /// Enters the container whose opening bracket was just read.
    #[inline]
    pub(super) fn enter(&mut self, object: bool) {
        self.inner.push(object, &mut self.outer);
    }

    /// Skips bytes from `at` on; returns the index after the container's end, or `None` if it does not end
    /// in these bytes.
    ///
    /// # Errors
    /// At a closing bracket of the wrong kind, with its index.
    pub(super) fn skip(&mut self, bytes: &[u8], at: usize, masks: &Masks) -> Result<Option<usize>, (FaultKind, usize)> {
        if masks.are_trusted() {
            return Ok(masks.end(at, &mut self.inner.depth));
        }
        let mut inner = self.inner;
        for (block, mut bits) in masks.brackets(at) {
            while bits != 0 {
                let at = block * BLOCK + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                // The masks go beyond `bytes` if a control character cut them short.
                let Some(bracket) = bytes.get(at) else { break };
                let object = is_curly(*bracket);
                if is_opening(*bracket) {
                    inner.push(object, &mut self.outer);
                    continue;
                }
                if !inner.pop(object, &mut self.outer) {
                    return Err((FaultKind::Bracket, at));
                }
                if inner.depth == 0 {
                    self.inner = inner;
                    return Ok(Some(at + 1));
                }
            }
        }
        self.inner = inner;
        Ok(None)
    }
}

impl Inner {
    #[inline]
    fn push(&mut self, object: bool, outer: &mut Vec<u64>) {
        if self.depth & 63 == 0 {
            self.spill(outer);
        }
        if self.depth < CHECKED_DEPTH {
            self.kinds = (self.kinds << 1) | u64::from(object);
        }
        self.depth += 1;
    }

    /// Closes the innermost container; returns whether it was of this kind.
    #[inline]
    fn pop(&mut self, object: bool, outer: &mut Vec<u64>) -> bool {
        self.depth -= 1;
        if self.depth >= CHECKED_DEPTH {
            return true;
        }
        let matches = (self.kinds & 1 == 1) == object;
        self.kinds >>= 1;
        if self.depth & 63 == 0 {
            self.kinds = outer.pop().unwrap_or(0);
        }
        matches
    }

    /// Makes room for 64 more levels.
    #[cold]
    fn spill(self, outer: &mut Vec<u64>) {
        if self.depth > 0 && self.depth < CHECKED_DEPTH {
            outer.push(self.kinds);
        }
    }
}

/// `{` and `}` have a bit that `[` and `]` lack.
fn is_curly(bracket: u8) -> bool {
    bracket & 0x20 != 0
}

/// `{` is 0x7b and `[` 0x5b; `}` is 0x7d and `]` 0x5d.
fn is_opening(bracket: u8) -> bool {
    bracket & 0b110 == 0b010
}
