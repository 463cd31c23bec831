//! The only SIMD code: which bytes of a block are of interest.
//!
//! SSE2 or NEON is always available; on x86-64, AVX-512 or AVX2 is used if the processor has it (see `cargo bench`).

use wide::u8x16;

use super::masks::{BlockMasks, end};
use super::{BLOCK, Carry, Structure};

/// What the processor can do.
#[derive(Clone, Copy, Debug)]
pub(super) enum Features {
    Baseline,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Features {
    /// The best that this processor has.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn detected() -> Self {
        let has_avx2 = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("pclmulqdq")
            && is_x86_feature_detected!("popcnt");
        match has_avx2 {
            true if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw") => Self::Avx512,
            true => Self::Avx2,
            false => Self::Baseline,
        }
    }

    /// The best that this processor has.
    #[cfg(not(target_arch = "x86_64"))]
    pub(super) fn detected() -> Self {
        Self::Baseline
    }

    /// All that this processor has.
    #[cfg(test)]
    pub(super) fn all() -> Vec<Self> {
        match Self::detected() {
            Self::Baseline => vec![Self::Baseline],
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => vec![Self::Baseline, Self::Avx2],
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => vec![Self::Baseline, Self::Avx2, Self::Avx512],
        }
    }

    /// Scans blocks; the first one has the number `from` in the masks.
    #[cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "the calls that need a feature of the processor"))]
    pub(super) fn scan<S: Structure>(self, blocks: &[[u8; BLOCK]], carry: &mut Carry, masks: &mut S, from: usize) {
        match self {
            Self::Baseline => scan_baseline(blocks, carry, masks, from),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the features were detected; nothing else is unsafe.
            Self::Avx2 => unsafe { x86::scan_avx2(blocks, carry, masks, from) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the features were detected; nothing else is unsafe.
            Self::Avx512 => unsafe { x86::scan_avx512(blocks, carry, masks, from) },
        }
    }

    /// Where the outermost of `depth` open containers ends: see [`end`].
    #[cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "the call that needs a feature of the processor"))]
    pub(super) fn end(self, blocks: &[BlockMasks], from: usize, depth: &mut u64) -> Option<usize> {
        match self {
            Self::Baseline => end(blocks, from, depth),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the feature was detected; nothing else is unsafe.
            Self::Avx2 | Self::Avx512 => unsafe { x86::end(blocks, from, depth) },
        }
    }

    /// Whether a byte of `text` is the first one of the pair and the byte at the same place of `shifted` the second one.
    #[cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "the calls that need a feature of the processor"))]
    pub(super) fn has_pair(self, text: &[u8], shifted: &[u8], pair: [u8; 2]) -> bool {
        match self {
            Self::Baseline => has_pair(text, shifted, pair),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the features were detected; nothing else is unsafe.
            Self::Avx2 => unsafe { x86::has_pair_avx2(text, shifted, pair) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the features were detected; nothing else is unsafe.
            Self::Avx512 => unsafe { x86::has_pair_avx512(text, shifted, pair) },
        }
    }
}

/// Compiled for each kind of processor. It does not stop where it finds one, so that the compiler can use SIMD.
#[inline(always)]
fn has_pair(text: &[u8], shifted: &[u8], pair: [u8; 2]) -> bool {
    let is_pair = |(first, second): (&u8, &u8)| (*first == pair[0]) & (*second == pair[1]);
    text.iter().zip(shifted).fold(false, |found, bytes| found | is_pair(bytes))
}

/// The bytes of interest in one block, inside and outside strings.
#[derive(Default)]
pub(in crate::json) struct Bytes {
    pub quotes: u64,
    pub backslashes: u64,
    pub brackets: u64,
    pub controls: u64,
    pub commas: u64,
    pub closing: u64,
    /// In an escaped text: quotes and escapes that it cannot have.
    pub unescaped: u64,
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

/// Which bytes of a block are backslashes.
pub(in crate::json) fn backslashes(block: &[u8; BLOCK]) -> u64 {
    let in_part = |part: &[u8; 16]| u64::from(u8x16::new(*part).simd_eq(u8x16::splat(b'\\')).to_bitmask());
    block.as_chunks::<16>().0.iter().rev().fold(0, |mask, part| mask << 16 | in_part(part))
}

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
        carry.settle(&mut found, prefix_xor, masks, from + at);
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{BLOCK, BlockMasks, Bytes, CASE, Carry, Structure};
    use std::arch::x86_64::{
        __m256i, __m512i, _mm_clmulepi64_si128, _mm_cvtsi128_si64, _mm_set_epi64x, _mm_set1_epi8, _mm256_cmpeq_epi8,
        _mm256_min_epu8, _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8, _mm512_cmpeq_epi8_mask,
        _mm512_cmplt_epu8_mask, _mm512_or_si512, _mm512_set1_epi8,
    };

    #[target_feature(enable = "avx512f,avx512bw,pclmulqdq,popcnt")]
    pub(super) fn scan_avx512<S: Structure>(blocks: &[[u8; BLOCK]], carry: &mut Carry, masks: &mut S, from: usize) {
        let splat = |byte: u8| _mm512_set1_epi8(byte.cast_signed());
        // In registers.
        let mut carried = *carry;
        for (at, block) in blocks.iter().enumerate() {
            let bytes: __m512i = bytemuck::cast(*block);
            let cased = _mm512_or_si512(bytes, splat(CASE));
            let closing = _mm512_cmpeq_epi8_mask(cased, splat(b'}'));
            let mut found = Bytes {
                quotes: _mm512_cmpeq_epi8_mask(bytes, splat(b'"')),
                backslashes: _mm512_cmpeq_epi8_mask(bytes, splat(b'\\')),
                brackets: _mm512_cmpeq_epi8_mask(cased, splat(b'{')) | closing,
                ..Bytes::default()
            };
            if S::FLAT {
                found.commas = _mm512_cmpeq_epi8_mask(bytes, splat(b','));
                found.closing = closing;
            } else {
                found.controls = _mm512_cmplt_epu8_mask(bytes, splat(b' '));
            }
            carried.settle(&mut found, |bits| prefix_xor(bits), masks, from + at);
        }
        *carry = carried;
    }

    #[target_feature(enable = "avx2,pclmulqdq,popcnt")]
    pub(super) fn scan_avx2<S: Structure>(blocks: &[[u8; BLOCK]], carry: &mut Carry, masks: &mut S, from: usize) {
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
            carry.settle(&mut found, |bits| prefix_xor(bits), masks, from + at);
        }
    }

    #[target_feature(enable = "popcnt")]
    pub(super) fn end(blocks: &[BlockMasks], from: usize, depth: &mut u64) -> Option<usize> {
        super::end(blocks, from, depth)
    }

    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) fn has_pair_avx512(text: &[u8], shifted: &[u8], pair: [u8; 2]) -> bool {
        super::has_pair(text, shifted, pair)
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn has_pair_avx2(text: &[u8], shifted: &[u8], pair: [u8; 2]) -> bool {
        super::has_pair(text, shifted, pair)
    }

    /// A carry-less multiplication by all ones is a prefix exclusive or.
    #[target_feature(enable = "avx2,pclmulqdq,popcnt")]
    fn prefix_xor(bits: u64) -> u64 {
        let product = _mm_clmulepi64_si128::<0>(_mm_set_epi64x(0, bits.cast_signed()), _mm_set1_epi8(-1));
        _mm_cvtsi128_si64(product).cast_unsigned()
    }
}
