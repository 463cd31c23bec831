//! The masks of JSON.

use super::simd::{Bytes, Features};
use super::{BLOCK, Scanner, Strings, Structure, next_bit};

/// The structure of the bytes of a block.
#[derive(Clone, Copy, Default)]
pub(in crate::json) struct BlockMasks {
    /// Quotes that begin or end a string.
    pub(super) quotes: u64,
    /// Brackets of all four kinds, outside strings.
    pub(super) brackets: u64,
    /// If the bytes are trusted: those of the brackets that end a container.
    pub(super) closing: u64,
    /// If they are not: control characters inside strings, which JSON forbids.
    pub(super) controls: u64,
}

/// The structure of some bytes, block by block.
pub(in crate::json) struct Masks {
    blocks: Vec<BlockMasks>,
    features: Features,
    /// Whether the bytes are known to be JSON.
    is_trusted: bool,
}

impl Masks {
    /// Of bytes that may not be JSON.
    pub(in crate::json) fn checked() -> Self {
        Self { blocks: Vec::new(), features: Features::detected(), is_trusted: false }
    }

    /// Of bytes that are known to be JSON.
    pub(in crate::json) fn trusted() -> Self {
        Self { is_trusted: true, ..Self::checked() }
    }

    /// Those of a whole text that is trusted.
    pub(in crate::json) fn of(text: &[u8]) -> Self {
        let mut masks = Self::trusted();
        masks.scan(text, &mut Scanner::new());
        masks
    }

    /// Takes the masks, and leaves empty ones of the same kind.
    pub(in crate::json) fn take(&mut self) -> Self {
        Self { blocks: std::mem::take(&mut self.blocks), ..*self }
    }

    pub(in crate::json) fn are_trusted(&self) -> bool {
        self.is_trusted
    }

    /// Scans the next bytes.
    pub(in crate::json) fn scan(&mut self, bytes: &[u8], scanner: &mut Scanner) {
        self.blocks.resize(bytes.len().div_ceil(BLOCK), BlockMasks::default());
        if self.is_trusted {
            scanner.scan(bytes, &mut Found::<true>(&mut self.blocks));
        } else {
            scanner.scan(bytes, &mut Found::<false>(&mut self.blocks));
        }
    }

    /// The brackets at or after this byte: the number of each block, and its brackets.
    pub(in crate::json) fn brackets(&self, from: usize) -> impl Iterator<Item = (usize, u64)> {
        let first = from / BLOCK;
        let blocks = self.blocks.iter().enumerate().skip(first);
        blocks.map(move |(at, block)| {
            (at, if at == first { block.brackets & (!0 << (from % BLOCK)) } else { block.brackets })
        })
    }

    /// The first quote at or after this byte that begins or ends a string.
    #[inline]
    pub(in crate::json) fn quote(&self, from: usize) -> Option<usize> {
        self.next(from, |block| block.quotes)
    }

    /// The first control character inside a string; trusted bytes have none.
    pub(in crate::json) fn control(&self) -> Option<usize> {
        if self.is_trusted { None } else { self.next(0, |block| block.controls) }
    }

    #[inline(always)]
    pub(super) fn next(&self, from: usize, mask: impl Fn(&BlockMasks) -> u64) -> Option<usize> {
        next_bit(from, |at| self.blocks.get(at).map(&mask))
    }

    /// Where the outermost of `depth` open containers ends, from byte `from` on: the index after its bracket. If it does not end
    /// here, `depth` is how many are open at the end. Only in trusted bytes.
    #[inline]
    pub(in crate::json) fn end(&self, from: usize, depth: &mut u64) -> Option<usize> {
        self.features.end(&self.blocks, from, depth)
    }
}

/// Compiled for each kind of processor.
#[inline(always)]
pub(super) fn end(blocks: &[BlockMasks], from: usize, depth: &mut u64) -> Option<usize> {
    let mut bits = !0 << (from % BLOCK);
    for (at, block) in blocks.iter().enumerate().skip(from / BLOCK) {
        let (brackets, closing) = (block.brackets & bits, block.closing & bits);
        bits = !0;
        let closed = u64::from(closing.count_ones());
        if closed >= *depth
            && let Some(end) = end_in(brackets ^ closing, closing, *depth)
        {
            *depth = 0;
            return Some(at * BLOCK + end + 1);
        }
        *depth = *depth + u64::from(brackets.count_ones()) - 2 * closed;
    }
    None
}

/// Which of the closing brackets of a block ends the outermost of `depth` open containers.
#[inline(always)]
fn end_in(opening: u64, mut closing: u64, mut depth: u64) -> Option<usize> {
    while closing != 0 {
        let before = (closing & closing.wrapping_neg()) - 1;
        if depth.wrapping_add(u64::from((opening & before).count_ones())) == 1 {
            return Some(closing.trailing_zeros() as usize);
        }
        // It can be less than what was closed: what was opened before a bracket is added at each of them.
        depth = depth.wrapping_sub(1);
        closing &= closing - 1;
    }
    None
}

/// What is searched for: the kind of brackets in bytes that are `TRUSTED`, control characters in others.
struct Found<'a, const TRUSTED: bool>(&'a mut [BlockMasks]);

impl<const TRUSTED: bool> Structure for Found<'_, TRUSTED> {
    const FLAT: bool = TRUSTED;

    #[inline(always)]
    fn take(&mut self, at: usize, bytes: &Bytes, strings: Strings, _: &mut u64, _: impl Fn(u64) -> u64) {
        self.0[at] = BlockMasks {
            quotes: strings.quotes,
            brackets: bytes.brackets & !strings.inside,
            closing: bytes.closing & !strings.inside,
            controls: bytes.controls & strings.inside,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::random;
    use super::*;

    #[test]
    fn all_implementations_find_the_end_of_a_container() {
        let mut random = random(11);
        for _ in 0..2000 {
            let (likely, quiet) = (1 + random(9), 1 + random(20));
            let text: Vec<u8> = (0..random(700))
                .map(|_| {
                    if random(quiet) > 0 {
                        b' '
                    } else if random(10) < likely {
                        b'['
                    } else {
                        b']'
                    }
                })
                .collect();
            let masks = Masks::of(&text);
            let (from, before) = (random(text.len() + 1), 1 + random(4) as u64);
            let mut open = before;
            let expected = (from..text.len()).find(|at| {
                open = open + u64::from(text[*at] == b'[') - u64::from(text[*at] == b']');
                open == 0
            });
            for features in Features::all() {
                let mut depth = before;
                assert_eq!(features.end(&masks.blocks, from, &mut depth), expected.map(|at| at + 1), "{features:?}");
                assert_eq!(depth, open, "{features:?}");
            }
        }
    }
}
