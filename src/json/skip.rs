//! Leaving out a container: only its brackets are looked at.

use super::block::Masks;
use super::fault::FaultKind;

/// Up to this depth the kinds of brackets are checked, at one bit a level (1 MiB in all); deeper
/// ones are only counted, so that memory stays flat however deep a body is nested.
const CHECKED_DEPTH: u64 = 8 * 1024 * 1024;

/// The brackets that are open in what is being skipped.
#[derive(Default)]
pub(super) struct Skipped {
    depth: u64,
    /// The kinds of the innermost levels, one bit each: 1 for an object.
    kinds: u64,
    /// The kinds of the levels around them, 64 in a word.
    outer: Vec<u64>,
}

impl Skipped {
    /// Enters the container whose opening bracket was just read.
    pub(super) fn enter(&mut self, object: bool) {
        self.push(object);
    }

    /// Goes on from `at`; gives the place after the container's end, or `None` when these bytes hold
    /// no end.
    ///
    /// # Errors
    /// The place of a closing bracket of the wrong kind.
    pub(super) fn skip(
        &mut self,
        bytes: &[u8],
        mut at: usize,
        masks: &Masks,
    ) -> Result<Option<usize>, (FaultKind, usize)> {
        let mut block = at / 64;
        let mut bits = masks.brackets[block] & (!0 << (at % 64));
        loop {
            while bits != 0 {
                at = block * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                match bytes.get(at) {
                    None => return Ok(None),
                    Some(b'{') => self.push(true),
                    Some(b'[') => self.push(false),
                    Some(close) => {
                        if !self.pop(*close == b'}') {
                            return Err((FaultKind::Bracket, at));
                        }
                        if self.depth == 0 {
                            return Ok(Some(at + 1));
                        }
                    }
                }
            }
            block += 1;
            if block * 64 >= bytes.len() {
                return Ok(None);
            }
            bits = masks.brackets[block];
        }
    }

    fn push(&mut self, object: bool) {
        if self.depth < CHECKED_DEPTH {
            if self.depth.is_multiple_of(64) && self.depth > 0 {
                self.outer.push(self.kinds);
            }
            self.kinds = (self.kinds << 1) | u64::from(object);
        }
        self.depth += 1;
    }

    /// Whether the innermost container was of this kind.
    fn pop(&mut self, object: bool) -> bool {
        self.depth -= 1;
        if self.depth >= CHECKED_DEPTH {
            return true;
        }
        let matches = (self.kinds & 1 == 1) == object;
        self.kinds >>= 1;
        if self.depth.is_multiple_of(64) {
            self.kinds = self.outer.pop().unwrap_or(0);
        }
        matches
    }
}
