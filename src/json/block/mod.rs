//! Turns each block of 64 bytes into bit masks of its structural characters.
//!
//! Bit `i` of a mask stands for byte `i` of its block.

mod flat;
mod masks;
mod simd;

pub(super) use flat::{Borders, StringsAndContainers};
pub(super) use masks::Masks;
pub(super) use simd::backslashes;
use simd::{Bytes, Features};

/// Bytes in one block.
pub(super) const BLOCK: usize = 64;

/// Bytes that are scanned at once: few enough to stay in the L1 cache.
pub(super) const STRIDE: usize = 64 * BLOCK;

/// The index of the first bit that is set at or after `from`; `mask` returns the one with this number, up to the last.
#[inline(always)]
fn next_bit(from: usize, mask: impl Fn(usize) -> Option<u64>) -> Option<usize> {
    let mut at = from / BLOCK;
    let mut bits = mask(at)? & (!0 << (from % BLOCK));
    while bits == 0 {
        at += 1;
        bits = mask(at)?;
    }
    Some(at * BLOCK + bits.trailing_zeros() as usize)
}

/// Which bytes of a block are searched for, and what to do with them.
pub(super) trait Structure {
    /// Whether commas and the kind of brackets are searched for, instead of control characters.
    const FLAT: bool;

    /// Whether the bytes are the inside of a JSON string that has JSON in it.
    const ESCAPED: bool = false;

    /// Takes the bytes of block `at`. `container` is carried over: all ones inside one of a flatted text.
    fn take(
        &mut self,
        at: usize,
        bytes: &Bytes,
        strings: Strings,
        container: &mut u64,
        prefix_xor: impl Fn(u64) -> u64,
    );
}

/// The strings in a block.
pub(super) struct Strings {
    /// The quotes that begin or end one.
    quotes: u64,
    /// Their insides, each with its first quote.
    inside: u64,
}

/// Two bytes of a sought text. Finding both is several times as fast as finding the text.
#[derive(Clone, Copy)]
pub(super) struct Pair {
    bytes: [u8; 2],
    /// How far the second one is after the first.
    distance: usize,
    features: Features,
}

impl Pair {
    /// The two bytes of a text that are the rarest, by their frequency.
    pub(super) fn rarest(text: &[u8], frequency: impl Fn(u8) -> u8) -> Self {
        let mut places: Vec<_> = (0..text.len()).collect();
        places.sort_by_key(|place| frequency(text[*place]));
        places.truncate(2);
        places.sort_unstable();
        let (first, last) = (places[0], places[places.len() - 1]);
        Self { bytes: [text[first], text[last]], distance: last - first, features: Features::detected() }
    }

    /// Whether the text may be in these bytes.
    pub(super) fn may_be_in(&self, bytes: &[u8]) -> bool {
        self.features.has_pair(bytes, bytes.get(self.distance..).unwrap_or_default(), self.bytes)
    }
}

/// What one block carries over to the next.
#[derive(Clone, Copy, Default)]
pub(super) struct Carry {
    /// All ones inside a string.
    string: u64,
    /// All ones inside a container of a flatted text.
    container: u64,
    /// How many backslashes come directly before the next byte: 1 if their number is odd; in an escaped text modulo 4.
    backslashes: u64,
}

impl Carry {
    /// In an escaped text: whether the next byte is the second one of an escape.
    pub(super) fn in_escape(self) -> bool {
        self.backslashes % 2 == 1
    }

    /// What an escaped text carries over at this place once it is unescaped.
    pub(super) fn unescaped(self) -> Self {
        Self { backslashes: self.backslashes / 2, ..self }
    }
}

/// Turns bytes into [`Masks`] or [`Borders`]; strings and escapes can span chunks.
pub(super) struct Scanner {
    carry: Carry,
    features: Features,
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

    /// Scans the next bytes, as many as there are masks for.
    pub(super) fn scan<S: Structure>(&mut self, bytes: &[u8], masks: &mut S) {
        let (blocks, rest) = bytes.as_chunks::<BLOCK>();
        self.features.scan(blocks, &mut self.carry, masks, 0);
        if !rest.is_empty() {
            // Padding with spaces is harmless inside and outside strings, but the padding must not
            // consume the carry of backslashes.
            let mut last = [b' '; BLOCK];
            last[..rest.len()].copy_from_slice(rest);
            let backslashes = self.backslashes_after(rest);
            self.features.scan(&[last], &mut self.carry, masks, blocks.len());
            self.carry.backslashes = backslashes % if S::ESCAPED { 4 } else { 2 };
        }
    }

    /// How many backslashes end a partial block, plus those carried over if it has nothing else.
    fn backslashes_after(&self, rest: &[u8]) -> u64 {
        let trailing = rest.iter().rev().take_while(|byte| **byte == b'\\').count();
        let before = if trailing == rest.len() { self.carry.backslashes } else { 0 };
        trailing as u64 + before
    }
}

impl From<Carry> for Scanner {
    fn from(carry: Carry) -> Self {
        Self { carry, features: Features::detected() }
    }
}

impl Carry {
    /// Determines what is inside strings, and writes the masks of block `at`.
    #[inline(always)]
    fn settle<S: Structure>(&mut self, bytes: &mut Bytes, prefix_xor: impl Fn(u64) -> u64, masks: &mut S, at: usize) {
        let quotes = if S::ESCAPED {
            let [after_one, after_three] = after_backslashes(bytes.backslashes, &mut self.backslashes);
            bytes.unescaped = bytes.quotes ^ (after_one | after_three);
            bytes.quotes & after_one
        } else {
            bytes.quotes & !escaped(bytes.backslashes, &mut self.backslashes)
        };
        // From each opening quote up to its closing quote, which is not included.
        let inside = prefix_xor(quotes) ^ self.string;
        self.string = 0u64.wrapping_sub(inside >> 63);
        masks.take(at, bytes, Strings { quotes, inside }, &mut self.container, prefix_xor);
    }
}

/// The bytes after an odd number of backslashes (simdjson's method); `carry` is 1 if the first byte of a block is one, and
/// becomes that of the next block.
#[inline(always)]
pub(super) fn escaped(backslashes: u64, carry: &mut u64) -> u64 {
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

/// The bytes after a run of one backslash, and after one of three, modulo 4; `carry` is the length of the run before the
/// first byte of a block, and becomes that of the next block.
///
/// In an escaped text, `\"` is a quote that begins or ends a string, and `\\\"` one inside a string.
#[inline(always)]
fn after_backslashes(backslashes: u64, carry: &mut u64) -> [u64; 2] {
    const EVERY_FOURTH: u64 = 0x1111_1111_1111_1111;
    let follows = (backslashes << 1) | u64::from(*carry != 0);
    let are_single = backslashes & follows == 0 && *carry < 2;
    if are_single {
        *carry = backslashes >> 63;
        return [follows, 0];
    }
    let starts = backslashes & !follows;
    let (mut after_one, mut after_three, mut reaches) = (0, 0, 0);
    // As in simdjson's method, but by the place modulo 4 where a run starts.
    for place in 0..4 {
        let carried = u64::from(*carry != 0 && place == 4 - *carry as u32);
        let starts = (starts & (EVERY_FOURTH << place)) | carried;
        let (sum, overflow) = starts.overflowing_add(backslashes);
        let ends = sum & !backslashes;
        after_one |= ends & EVERY_FOURTH.rotate_left(place + 1);
        after_three |= ends & EVERY_FOURTH.rotate_left(place + 3);
        reaches |= u64::from(overflow) * u64::from((4 - place) % 4);
    }
    *carry = reaches;
    [after_one, after_three]
}

#[cfg(test)]
mod tests {
    use super::masks::BlockMasks;
    use super::*;

    /// Random numbers below a limit, the same ones in every run.
    pub(super) fn random(mut state: u64) -> impl FnMut(usize) -> usize {
        move |end| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % end
        }
    }

    /// The expected places of quotes, brackets and control characters, found byte by byte.
    fn expected_places(pieces: &[&[u8]]) -> Vec<[Vec<usize>; 4]> {
        let (mut in_string, mut escaped) = (false, false);
        let look = |piece: &&[u8]| {
            let mut found = [const { Vec::new() }; 4];
            for (at, byte) in piece.iter().enumerate() {
                match byte {
                    b'"' if !escaped => {
                        found[0].push(at);
                        in_string = !in_string;
                    }
                    b'{' | b'[' if !in_string => found[1].push(at),
                    b'}' | b']' if !in_string => {
                        found[1].push(at);
                        found[2].push(at);
                    }
                    0..0x20 if in_string => found[3].push(at),
                    _ => {}
                }
                escaped = *byte == b'\\' && !escaped;
            }
            found
        };
        pieces.iter().map(look).collect()
    }

    fn places(masks: &Masks, mask: impl Fn(&BlockMasks) -> u64) -> Vec<usize> {
        std::iter::successors(masks.next(0, &mask), |at| masks.next(at + 1, &mask)).collect()
    }

    fn bits(mask: &[u64], len: usize) -> Vec<usize> {
        (0..len).filter(|at| mask[at / BLOCK] & (1 << (at % BLOCK)) != 0).collect()
    }

    fn scanned(pieces: &[&[u8]], mut scanner: Scanner) -> Vec<[Vec<usize>; 4]> {
        let mut trusted = Scanner { ..scanner };
        let mut scan = |piece: &&[u8]| {
            let (mut masks, mut kinds) = (Masks::checked(), Masks::trusted());
            masks.scan(piece, &mut scanner);
            kinds.scan(piece, &mut trusted);
            let quotes = places(&masks, |block| block.quotes);
            assert_eq!(places(&kinds, |block| block.quotes), quotes);
            let brackets = places(&masks, |block| block.brackets);
            assert_eq!(places(&kinds, |block| block.brackets), brackets);
            [quotes, brackets, places(&kinds, |block| block.closing), places(&masks, |block| block.controls)]
        };
        pieces.iter().map(&mut scan).collect()
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

    fn scanned_borders<const ESCAPED: bool>(pieces: &[&[u8]], mut scanner: Scanner) -> Vec<[Vec<usize>; 2]> {
        let scan = |piece: &&[u8]| {
            let mut borders = Borders::<ESCAPED>::new();
            scanner.scan(piece, &mut borders);
            let found = [&borders.borders, &borders.misplaced].map(|mask| bits(mask, piece.len()));
            assert_eq!(found[0].len() as u64, borders.count);
            found
        };
        pieces.iter().map(scan).collect()
    }

    /// The same for an escaped text, whose faults count as misplaced, too.
    fn expected_escaped_borders(pieces: &[&[u8]]) -> Vec<[Vec<usize>; 2]> {
        let (mut in_string, mut in_container, mut backslashes) = (false, false, 0);
        let look = |piece: &&[u8]| {
            let mut found = [const { Vec::new() }; 2];
            for (at, byte) in piece.iter().enumerate() {
                let is_escaped = backslashes % 2 == 1;
                if *byte != b'\\' && is_escaped != (*byte == b'"') {
                    found[1].push(at);
                }
                match byte {
                    b'"' if backslashes % 4 == 1 => in_string = !in_string,
                    b'{' | b'}' | b'[' | b']' if !in_string => {
                        if in_container != matches!(byte, b'}' | b']') && !is_escaped {
                            found[1].push(at);
                        }
                        in_container = !in_container;
                    }
                    b',' if !in_string && !in_container => found[0].push(at),
                    _ => {}
                }
                backslashes = if *byte == b'\\' { backslashes + 1 } else { 0 };
            }
            found
        };
        pieces.iter().map(look).collect()
    }

    fn escape(text: &[u8]) -> Vec<u8> {
        let backslash = |byte: u8| matches!(byte, b'"' | b'\\').then_some(b'\\');
        text.iter().flat_map(|byte| backslash(*byte).into_iter().chain([*byte])).collect()
    }

    #[test]
    fn all_implementations_agree_with_plain_code() {
        let alphabet = b"\"\"\\\\\\{}[]:,a0 \n\x00\x1f\x7f\x80\xff\xdb\xfb";
        let mut random = random(7);
        for _ in 0..300 {
            let text: Vec<u8> = (0..random(5000)).map(|_| alphabet[random(alphabet.len())]).collect();
            let size = [1, 63, 64, 65, 1000, STRIDE][random(6)];
            let pieces: Vec<_> = text.chunks(size).collect();
            let expected = expected_places(&pieces);
            let expected_borders = expected_borders(&pieces);
            let text = if random(2) == 0 { escape(&text) } else { text.clone() };
            let escaped: Vec<_> = text.chunks(size).collect();
            let expected_escaped = expected_escaped_borders(&escaped);
            for features in Features::all() {
                let scanner = || Scanner { features, ..Scanner::new() };
                assert_eq!(scanned(&pieces, scanner()), expected, "{features:?}");
                assert_eq!(scanned_borders::<false>(&pieces, scanner()), expected_borders, "{features:?}");
                assert_eq!(scanned_borders::<true>(&escaped, scanner()), expected_escaped, "{features:?}");
            }
        }
    }

    #[test]
    fn all_implementations_find_a_pair_wherever_it_is() {
        for text in ["\"error\"", "\"e\"", "aab"] {
            let pair = Pair::rarest(text.as_bytes(), |byte| u8::from(byte == b'"'));
            for features in Features::all() {
                let pair = Pair { features, ..pair };
                for len in [text.len(), 40, 63, 64, 65, 1000] {
                    for at in 0..=len - text.len() {
                        let mut bytes = vec![b'.'; len];
                        assert!(!pair.may_be_in(&bytes));
                        bytes[at..at + text.len()].copy_from_slice(text.as_bytes());
                        assert!(pair.may_be_in(&bytes), "{text} {at} {len} {features:?}");
                        bytes[at..at + text.len()].fill(pair.bytes[0]);
                        assert_eq!(pair.may_be_in(&bytes), pair.bytes[0] == pair.bytes[1], "{text} {at} {len}");
                    }
                }
                assert!(!pair.may_be_in(b""));
            }
        }
    }
}
