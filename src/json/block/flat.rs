//! The masks of a flatted text.

use super::simd::Bytes;
use super::{BLOCK, STRIDE, Strings, Structure, next_bit};

/// The borders between the values of a flatted text, in up to [`STRIDE`] bytes: commas outside strings and containers.
///
/// The text may be `ESCAPED`: written as the inside of a JSON string, with `\"` for each quote and `\\` for each backslash.
pub(in crate::json) struct Borders<const ESCAPED: bool> {
    pub borders: [u64; STRIDE / BLOCK],
    /// Brackets in places where a flatted text has none: containers never nest, so that an opening bracket can only be
    /// outside a container, and a closing one inside. In an escaped text also quotes without a backslash, and what follows
    /// a backslash but is neither a quote nor a backslash.
    pub misplaced: [u64; STRIDE / BLOCK],
    /// How many borders there were in all bytes that were scanned.
    pub count: u64,
    /// How many quotes and backslashes there were, if they are escaped.
    pub escapable: u64,
}

impl<const ESCAPED: bool> Borders<ESCAPED> {
    pub(in crate::json) fn new() -> Self {
        let none = [0; STRIDE / BLOCK];
        Self { borders: none, misplaced: none, count: 0, escapable: 0 }
    }

    /// The first border at or after `from`, of the first `len` bytes.
    pub(in crate::json) fn border(&self, from: usize, len: usize) -> Option<usize> {
        next_bit(from, |at| (at * BLOCK < len).then(|| self.borders[at]))
    }

    /// The first misplaced byte of the first `len` bytes.
    pub(in crate::json) fn misplaced(&self, len: usize) -> Option<usize> {
        next_bit(0, |at| (at * BLOCK < len).then(|| self.misplaced[at]))
    }
}

/// Which of up to [`STRIDE`] bytes of a flatted text are inside strings, each with its first quote, and which inside
/// containers, each with its opening bracket.
pub(in crate::json) struct StringsAndContainers {
    pub strings: [u64; STRIDE / BLOCK],
    pub containers: [u64; STRIDE / BLOCK],
}

impl StringsAndContainers {
    pub(in crate::json) fn new() -> Self {
        let none = [0; STRIDE / BLOCK];
        Self { strings: none, containers: none }
    }
}

impl<const ESCAPED: bool> Structure for Borders<ESCAPED> {
    const FLAT: bool = true;
    const ESCAPED: bool = ESCAPED;

    #[inline(always)]
    fn take(
        &mut self,
        at: usize,
        bytes: &Bytes,
        strings: Strings,
        in_container: &mut u64,
        prefix_xor: impl Fn(u64) -> u64,
    ) {
        let (brackets, container) = containers(bytes, &strings, in_container, prefix_xor);
        let borders = bytes.commas & !strings.inside & !container;
        self.borders[at] = borders;
        self.count += u64::from(borders.count_ones());
        self.misplaced[at] = brackets & !(container ^ bytes.closing) | bytes.unescaped;
        if ESCAPED {
            self.escapable += u64::from(bytes.quotes.count_ones() + bytes.backslashes.count_ones());
        }
    }
}

impl Structure for StringsAndContainers {
    const FLAT: bool = true;

    #[inline(always)]
    fn take(
        &mut self,
        at: usize,
        bytes: &Bytes,
        strings: Strings,
        in_container: &mut u64,
        prefix_xor: impl Fn(u64) -> u64,
    ) {
        self.strings[at] = strings.inside;
        (_, self.containers[at]) = containers(bytes, &strings, in_container, prefix_xor);
    }
}

/// The brackets outside strings, and the containers of a flatted text: from each opening bracket up to its closing one, which is
/// not included.
#[inline(always)]
fn containers(bytes: &Bytes, strings: &Strings, in_container: &mut u64, prefix_xor: impl Fn(u64) -> u64) -> (u64, u64) {
    let brackets = bytes.brackets & !strings.inside;
    let container = prefix_xor(brackets) ^ *in_container;
    *in_container = 0u64.wrapping_sub(container >> 63);
    (brackets, container)
}
