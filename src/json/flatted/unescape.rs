//! Removes the backslashes of a flatted text that is inside a JSON string.

use crate::json::block::{BLOCK, backslashes, escaped};

/// How many bytes are moved together.
const WORD: usize = 8;

/// Removes the backslashes that escape a quote or a backslash. The first byte is the second one of an escape if the
/// bytes before it end `in_escape`.
///
/// There is an escape every few bytes, so bytes are moved a word at a time, and without a branch for each escape.
pub(super) fn unescape(text: &mut Vec<u8>, in_escape: bool) {
    let (mut length, mut carry) = (0, u64::from(in_escape));
    let whole = text.len() - text.len() % BLOCK;
    for from in (0..whole).step_by(BLOCK) {
        let mut block = [0; BLOCK];
        block.copy_from_slice(&text[from..from + BLOCK]);
        let backslashes = backslashes(&block);
        let escapes = backslashes & !escaped(backslashes, &mut carry);
        for (word, escapes) in block.as_chunks::<WORD>().0.iter().zip(escapes.to_le_bytes()) {
            let escapes = &ESCAPES[usize::from(escapes)];
            let word = without(u64::from_le_bytes(*word), escapes.bytes);
            // What follows the word in the text overwrites the rest of it, which was read before.
            text[length..length + WORD].copy_from_slice(&word.to_le_bytes());
            length += WORD - escapes.count;
        }
    }
    let mut in_escape = carry == 1;
    for at in whole..text.len() {
        let byte = text[at];
        let escapes = byte == b'\\' && !in_escape;
        text[length] = byte;
        length += usize::from(!escapes);
        in_escape = escapes;
    }
    text.truncate(length);
}

/// The length of these bytes without the backslashes that escape.
pub(super) fn unescaped_len(bytes: &[u8], in_escape: bool) -> usize {
    let mut text = bytes.to_vec();
    unescape(&mut text, in_escape);
    text.len()
}

/// The escapes among the bytes of a word.
#[derive(Clone, Copy)]
struct Escapes {
    /// The lowest bit of each byte that is one.
    bytes: u64,
    count: usize,
}

/// By the bits of a mask, whose lowest bit stands for the first byte.
static ESCAPES: [Escapes; 256] = escapes();

const fn escapes() -> [Escapes; 256] {
    let mut all = [Escapes { bytes: 0, count: 0 }; 256];
    let mut mask = 0;
    while mask < all.len() {
        let mut bit = 0;
        while bit < WORD {
            if mask >> bit & 1 == 1 {
                all[mask].bytes |= 1 << (8 * bit);
                all[mask].count += 1;
            }
            bit += 1;
        }
        mask += 1;
    }
    all
}

/// The word without these bytes; what is after them moves up.
fn without(mut word: u64, mut bytes: u64) -> u64 {
    // Two of eight bytes are usual, four the maximum, since no escape follows another one.
    for _ in 0..2 {
        (word, bytes) = without_first(word, bytes);
    }
    while bytes != 0 {
        (word, bytes) = without_first(word, bytes);
    }
    word
}

/// Removes the first of these bytes from the word, if there is one; returns the others, too.
fn without_first(word: u64, bytes: u64) -> (u64, u64) {
    let before = (bytes & bytes.wrapping_neg()).wrapping_sub(1);
    ((word & before) | (word >> 8 & !before), (bytes & bytes.wrapping_sub(1)) >> 8)
}
