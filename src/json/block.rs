//! The only SIMD code: turns each block of 64 bytes into bit masks of its structural characters.
//!
//! Bit `i` of a mask stands for byte `i` of its block. SSE2 or NEON is always available; on x86-64, AVX2
//! is used if the processor has it (1.5 to 2 times as fast, see `cargo bench`).

use wide::u8x16;

/// Bytes in one block.
const BLOCK: usize = 64;

/// The most bytes of one [`Scanner::scan`]: few enough to stay in the L1 cache.
pub(super) const STRIDE: usize = 64 * BLOCK;

/// The structure of up to [`STRIDE`] bytes.
pub(super) struct Masks {
    /// Quotes that begin or end a string.
    pub quotes: [u64; STRIDE / BLOCK],
    /// Brackets of all four kinds, outside strings.
    pub brackets: [u64; STRIDE / BLOCK],
    /// Control characters inside strings, which JSON forbids.
    pub controls: [u64; STRIDE / BLOCK],
}

impl Masks {
    pub(super) fn new() -> Self {
        let none = [0; STRIDE / BLOCK];
        Self { quotes: none, brackets: none, controls: none }
    }

    /// The index of the first bit of `mask` that is set at or after `from`, searching blocks up to `len`.
    pub(super) fn next(mask: &[u64], from: usize, len: usize) -> Option<usize> {
        let mut block = from / BLOCK;
        let mut bits = *mask.get(block)? & (!0 << (from % BLOCK));
        while bits == 0 {
            block += 1;
            if block * BLOCK >= len {
                return None;
            }
            bits = mask[block];
        }
        Some(block * BLOCK + bits.trailing_zeros() as usize)
    }
}

/// The borders between the values of a flatted text, in up to [`STRIDE`] bytes: commas outside strings and containers.
pub(super) struct Borders {
    pub borders: [u64; STRIDE / BLOCK],
    /// Brackets in places where a flatted text has none: containers never nest, so that an opening bracket can only be
    /// outside a container, and a closing one inside.
    pub misplaced: [u64; STRIDE / BLOCK],
    /// How many borders there are.
    pub count: u64,
    /// All ones inside a container, at the end of these bytes.
    container: u64,
}

impl Borders {
    /// For bytes that begin inside or outside a container.
    pub(super) fn new(in_container: bool) -> Self {
        let none = [0; STRIDE / BLOCK];
        Self { borders: none, misplaced: none, count: 0, container: 0u64.wrapping_sub(u64::from(in_container)) }
    }

    /// Whether the bytes so far end inside a container.
    pub(super) fn in_container(&self) -> bool {
        self.container != 0
    }
}

/// Which bytes of a block are searched for, and what becomes of them.
pub(super) trait Structure {
    /// Whether commas and the kind of brackets are searched for, instead of control characters.
    const FLAT: bool;

    /// Takes the bytes of block `at`. `quotes` begin or end a string; `string` is its inside with its first quote.
    fn take(&mut self, at: usize, bytes: &Bytes, quotes: u64, string: u64, prefix_xor: impl Fn(u64) -> u64);
}

impl Structure for Masks {
    const FLAT: bool = false;

    #[inline(always)]
    fn take(&mut self, at: usize, bytes: &Bytes, quotes: u64, string: u64, _: impl Fn(u64) -> u64) {
        self.quotes[at] = quotes;
        self.brackets[at] = bytes.brackets & !string;
        self.controls[at] = bytes.controls & string;
    }
}

impl Structure for Borders {
    const FLAT: bool = true;

    #[inline(always)]
    fn take(&mut self, at: usize, bytes: &Bytes, _: u64, string: u64, prefix_xor: impl Fn(u64) -> u64) {
        let brackets = bytes.brackets & !string;
        // From each opening bracket up to its closing one, which is not included.
        let container = prefix_xor(brackets) ^ self.container;
        self.container = 0u64.wrapping_sub(container >> 63);
        let borders = bytes.commas & !string & !container;
        self.borders[at] = borders;
        self.count += u64::from(borders.count_ones());
        self.misplaced[at] = brackets & !(container ^ bytes.closing);
    }
}

/// What one block carries over to the next.
#[derive(Clone, Copy, Default)]
pub(super) struct Carry {
    /// All ones inside a string.
    string: u64,
    /// 1 if the first byte is escaped by a backslash before it.
    escape: u64,
}

/// Turns bytes into [`Masks`] or [`Borders`]; strings and escapes can span chunks.
pub(super) struct Scanner {
    carry: Carry,
    #[cfg(target_arch = "x86_64")]
    avx2: bool,
}

impl Scanner {
    pub(super) fn new() -> Self {
        Self::from(Carry::default())
    }

    /// What the bytes so far carry over to the next; a scanner can continue [from](Self::from) there.
    pub(super) fn carry(&self) -> Carry {
        self.carry
    }

    /// Whether the bytes so far end inside a string.
    pub(super) fn in_string(&self) -> bool {
        self.carry.string != 0
    }

    /// Scans the next bytes, at most [`STRIDE`] of them.
    pub(super) fn scan(&mut self, bytes: &[u8], masks: &mut impl Structure) {
        let (blocks, rest) = bytes.as_chunks::<BLOCK>();
        self.scan_blocks(blocks, masks, 0);
        if !rest.is_empty() {
            // Padding with spaces is harmless inside and outside strings, but the padding must not
            // consume the carry of a backslash.
            let mut last = [b' '; BLOCK];
            last[..rest.len()].copy_from_slice(rest);
            let escape = self.escape_after(rest);
            self.scan_blocks(&[last], masks, blocks.len());
            self.carry.escape = escape;
        }
    }

    /// The escape carry after a partial block.
    fn escape_after(&self, rest: &[u8]) -> u64 {
        let trailing = rest.iter().rev().take_while(|byte| **byte == b'\\').count();
        let first_is_escaped = trailing == rest.len() && self.carry.escape == 1;
        u64::from((trailing % 2 == 1) != first_is_escaped)
    }

    fn scan_blocks(&mut self, blocks: &[[u8; BLOCK]], masks: &mut impl Structure, from: usize) {
        #[cfg(target_arch = "x86_64")]
        if self.avx2 {
            #[expect(unsafe_code, reason = "the one call that needs a processor feature")]
            // SAFETY: the features were detected when this scanner was created; nothing else is unsafe.
            unsafe {
                avx2::scan(blocks, &mut self.carry, masks, from);
            }
            return;
        }
        scan_baseline(blocks, &mut self.carry, masks, from);
    }
}

impl From<Carry> for Scanner {
    fn from(carry: Carry) -> Self {
        Self {
            carry,
            #[cfg(target_arch = "x86_64")]
            avx2: is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("pclmulqdq")
                && is_x86_feature_detected!("popcnt"),
        }
    }
}

/// The bytes of interest in one block, inside and outside strings.
#[derive(Default)]
pub(super) struct Bytes {
    quotes: u64,
    backslashes: u64,
    brackets: u64,
    controls: u64,
    commas: u64,
    closing: u64,
}

impl Carry {
    /// Determines what is inside strings, and writes the masks of block `at`.
    #[inline(always)]
    fn settle(&mut self, bytes: &Bytes, prefix_xor: impl Fn(u64) -> u64, masks: &mut impl Structure, at: usize) {
        let quotes = bytes.quotes & !escaped(bytes.backslashes, &mut self.escape);
        // From each opening quote up to its closing quote, which is not included.
        let string = prefix_xor(quotes) ^ self.string;
        self.string = 0u64.wrapping_sub(string >> 63);
        masks.take(at, bytes, quotes, string, prefix_xor);
    }
}

/// The bytes after an odd number of backslashes (simdjson's method); `carry` is 1 if the first byte of a block is one, and
/// becomes that of the next block.
#[inline(always)]
pub(crate) fn escaped(backslashes: u64, carry: &mut u64) -> u64 {
    const EVEN: u64 = 0x5555_5555_5555_5555;
    if backslashes == 0 {
        return std::mem::take(carry);
    }
    let backslashes = backslashes & !*carry;
    let follows = (backslashes << 1) | *carry;
    let odd_starts = backslashes & !EVEN & !follows;
    let (even_sequences, overflow) = odd_starts.overflowing_add(backslashes);
    *carry = u64::from(overflow);
    (EVEN ^ (even_sequences << 1)) & follows
}

/// Each bit becomes the exclusive or of itself and all lower bits.
#[inline(always)]
fn prefix_xor(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

/// `{` and `[`, and `}` and `]`, differ in this bit only.
const CASE: u8 = 0x20;

fn scan_baseline<S: Structure>(blocks: &[[u8; BLOCK]], carry: &mut Carry, masks: &mut S, from: usize) {
    let control = u8x16::splat(0x1f);
    for (at, block) in blocks.iter().enumerate() {
        let mut found = Bytes::default();
        for (quarter, bytes) in block.as_chunks::<16>().0.iter().enumerate() {
            let bytes = u8x16::new(*bytes);
            let cased = bytes | u8x16::splat(CASE);
            let bits = |mask: u8x16| u64::from(mask.to_bitmask()) << (16 * quarter);
            found.quotes |= bits(bytes.simd_eq(u8x16::splat(b'"')));
            found.backslashes |= bits(bytes.simd_eq(u8x16::splat(b'\\')));
            found.brackets |= bits(cased.simd_eq(u8x16::splat(b'{')) | cased.simd_eq(u8x16::splat(b'}')));
            if S::FLAT {
                found.commas |= bits(bytes.simd_eq(u8x16::splat(b',')));
                found.closing |= bits(cased.simd_eq(u8x16::splat(b'}')));
            } else {
                found.controls |= bits(bytes.min(control).simd_eq(bytes));
            }
        }
        carry.settle(&found, prefix_xor, masks, from + at);
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{BLOCK, Bytes, CASE, Carry, Structure};
    use std::arch::x86_64::{
        __m256i, _mm_clmulepi64_si128, _mm_cvtsi128_si64, _mm_set_epi64x, _mm_set1_epi8, _mm256_cmpeq_epi8,
        _mm256_min_epu8, _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8,
    };

    #[target_feature(enable = "avx2,pclmulqdq,popcnt")]
    pub(super) fn scan<S: Structure>(blocks: &[[u8; BLOCK]], carry: &mut Carry, masks: &mut S, from: usize) {
        let splat = |byte: u8| _mm256_set1_epi8(byte.cast_signed());
        for (at, block) in blocks.iter().enumerate() {
            let mut found = Bytes::default();
            for (half, bytes) in block.as_chunks::<32>().0.iter().enumerate() {
                let bytes: __m256i = bytemuck::cast(*bytes);
                let cased = _mm256_or_si256(bytes, splat(CASE));
                let bits = |mask: __m256i| u64::from(_mm256_movemask_epi8(mask).cast_unsigned()) << (32 * half);
                found.quotes |= bits(_mm256_cmpeq_epi8(bytes, splat(b'"')));
                found.backslashes |= bits(_mm256_cmpeq_epi8(bytes, splat(b'\\')));
                found.brackets |=
                    bits(_mm256_or_si256(_mm256_cmpeq_epi8(cased, splat(b'{')), _mm256_cmpeq_epi8(cased, splat(b'}'))));
                if S::FLAT {
                    found.commas |= bits(_mm256_cmpeq_epi8(bytes, splat(b',')));
                    found.closing |= bits(_mm256_cmpeq_epi8(cased, splat(b'}')));
                } else {
                    found.controls |= bits(_mm256_cmpeq_epi8(_mm256_min_epu8(bytes, splat(0x1f)), bytes));
                }
            }
            carry.settle(&found, |bits| prefix_xor(bits), masks, from + at);
        }
    }

    /// A carry-less multiplication by all ones is a prefix exclusive or.
    #[target_feature(enable = "avx2,pclmulqdq,popcnt")]
    fn prefix_xor(bits: u64) -> u64 {
        let product = _mm_clmulepi64_si128::<0>(_mm_set_epi64x(0, bits.cast_signed()), _mm_set1_epi8(-1));
        _mm_cvtsi128_si64(product).cast_unsigned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected places of quotes, brackets and control characters, found byte by byte.
    fn expected_places(pieces: &[&[u8]]) -> Vec<[Vec<usize>; 3]> {
        let (mut in_string, mut escaped) = (false, false);
        let look = |piece: &&[u8]| {
            let mut found = [const { Vec::new() }; 3];
            for (at, byte) in piece.iter().enumerate() {
                match byte {
                    b'"' if !escaped => {
                        found[0].push(at);
                        in_string = !in_string;
                    }
                    b'{' | b'}' | b'[' | b']' if !in_string => found[1].push(at),
                    0..0x20 if in_string => found[2].push(at),
                    _ => {}
                }
                escaped = *byte == b'\\' && !escaped;
            }
            found
        };
        pieces.iter().map(look).collect()
    }

    fn places(mask: &[u64], len: usize) -> Vec<usize> {
        std::iter::successors(Masks::next(mask, 0, len), |at| Masks::next(mask, at + 1, len))
            .filter(|at| *at < len)
            .collect()
    }

    fn scanned(pieces: &[&[u8]], mut scanner: Scanner) -> Vec<[Vec<usize>; 3]> {
        let scan = |piece: &&[u8]| {
            let mut masks = Masks::new();
            scanner.scan(piece, &mut masks);
            [&masks.quotes, &masks.brackets, &masks.controls].map(|mask| places(mask, piece.len()))
        };
        pieces.iter().map(scan).collect()
    }

    /// The places of borders and of misplaced brackets, found byte by byte.
    fn expected_borders(pieces: &[&[u8]]) -> Vec<[Vec<usize>; 2]> {
        let (mut in_string, mut escaped, mut in_container) = (false, false, false);
        let look = |piece: &&[u8]| {
            let mut found = [const { Vec::new() }; 2];
            for (at, byte) in piece.iter().enumerate() {
                match byte {
                    b'"' if !escaped => in_string = !in_string,
                    b'{' | b'}' | b'[' | b']' if !in_string => {
                        if in_container != matches!(byte, b'}' | b']') {
                            found[1].push(at);
                        }
                        in_container = !in_container;
                    }
                    b',' if !in_string && !in_container => found[0].push(at),
                    _ => {}
                }
                escaped = *byte == b'\\' && !escaped;
            }
            found
        };
        pieces.iter().map(look).collect()
    }

    fn scanned_borders(pieces: &[&[u8]], mut scanner: Scanner) -> Vec<[Vec<usize>; 2]> {
        let mut in_container = false;
        let scan = |piece: &&[u8]| {
            let mut borders = Borders::new(in_container);
            scanner.scan(piece, &mut borders);
            in_container = borders.in_container();
            let found = [&borders.borders, &borders.misplaced].map(|mask| places(mask, piece.len()));
            assert_eq!(found[0].len() as u64, borders.count);
            found
        };
        pieces.iter().map(scan).collect()
    }

    #[test]
    fn all_implementations_agree_with_plain_code() {
        let alphabet = b"\"\"\\\\\\{}[]:,a0 \n\x00\x1f\x7f\x80\xff\xdb\xfb";
        let mut state = 7_u64;
        let mut random = |end: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % end
        };
        for _ in 0..300 {
            let text: Vec<u8> = (0..random(5000)).map(|_| alphabet[random(alphabet.len())]).collect();
            let size = [1, 63, 64, 65, 1000, STRIDE][random(6)];
            let pieces: Vec<_> = text.chunks(size).collect();
            let expected = expected_places(&pieces);
            assert_eq!(scanned(&pieces, Scanner::new()), expected);
            #[cfg(target_arch = "x86_64")]
            assert_eq!(scanned(&pieces, Scanner { avx2: false, ..Scanner::new() }), expected);
            let expected = expected_borders(&pieces);
            assert_eq!(scanned_borders(&pieces, Scanner::new()), expected);
            #[cfg(target_arch = "x86_64")]
            assert_eq!(scanned_borders(&pieces, Scanner { avx2: false, ..Scanner::new() }), expected);
        }
    }
}
