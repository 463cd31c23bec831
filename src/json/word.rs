//! Looks at eight bytes at a time, as one word.
//!
//! Most names, numbers and strings are so short that a call of the C library takes longer than the work itself.

/// A word that consists of this byte only.
pub(super) const fn each_byte(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

const HIGHEST_BITS: u64 = each_byte(0x80);

/// The highest bit of the first byte that is zero, and perhaps of later ones.
pub(super) const fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(each_byte(1)) & !word & HIGHEST_BITS
}

/// The index of the byte in which the lowest bit is set.
pub(super) const fn first_byte(bits: u64) -> usize {
    bits.trailing_zeros() as usize / 8
}

/// How many digits a text begins with. Few have more than seven.
pub(super) fn digits(text: &[u8]) -> usize {
    if let Some(word) = text.first_chunk() {
        let word = u64::from_le_bytes(*word);
        // The highest bit of the first byte that is above `9` or below `0`, and perhaps of later ones.
        let others = (word.wrapping_add(each_byte(0x80 - b':')) | word.wrapping_sub(each_byte(b'0'))) & HIGHEST_BITS;
        if others != 0 {
            return first_byte(others);
        }
    }
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Whether two texts are the same.
#[inline]
pub(super) fn same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let (words, other_words) = (one.as_chunks().0, other.as_chunks().0);
    // Not by `==` for slices, nor by `zip`, which are calls.
    let is_same = |at: usize| u64::from_le_bytes(words[at]) == u64::from_le_bytes(other_words[at]);
    end(one) == end(other) && (0..words.len()).all(is_same)
}

/// A number that is almost certainly different for different texts.
#[inline]
pub(super) fn fingerprint(text: &[u8]) -> u64 {
    // The hash of rustc: a multiplication for eight bytes.
    const FACTOR: u64 = 0x517c_c1b7_2722_0a95;
    let add = |hash: u64, word: u64| (hash.rotate_left(5) ^ word).wrapping_mul(FACTOR);
    // Multiplied, since a length and a letter can differ by the same bit.
    let mut hash = (text.len() as u64).wrapping_mul(FACTOR);
    for word in text.as_chunks().0 {
        hash = add(hash, u64::from_le_bytes(*word));
    }
    add(hash, end(text))
}

/// The last eight bytes as a word; of fewer bytes a word that differs for those of the same length.
#[inline]
fn end(bytes: &[u8]) -> u64 {
    if let Some(word) = bytes.last_chunk() {
        return u64::from_le_bytes(*word);
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        return u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last));
    }
    let byte = |at: usize| bytes.get(at).map_or(0, |byte| u64::from(*byte));
    byte(0) << 16 | byte(1) << 8 | byte(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_differ_in_any_byte() {
        let text = b"0123456789abcdefghijklmn";
        for len in 0..text.len() {
            let one = &text[..len];
            assert!(same(one, one) && !same(one, &text[..=len]));
            for at in 0..len {
                let mut other = one.to_vec();
                other[at] ^= 0x80;
                assert!(!same(one, &other), "{len} {at}");
                assert_ne!(fingerprint(one), fingerprint(&other), "{len} {at}");
            }
        }
    }

    #[test]
    fn a_longer_text_has_another_fingerprint() {
        for [one, other] in [["ab", "ab "], ["aAAA", "aAAAA"], ["10PPP", "10PPPP"]] {
            assert_ne!(fingerprint(one.as_bytes()), fingerprint(other.as_bytes()), "{one} {other}");
        }
    }

    #[test]
    fn digits_are_counted() {
        for (text, expected) in [
            ("", 0),
            ("7", 1),
            ("7,", 1),
            ("1234567", 7),
            ("12345678", 8),
            ("123456789012.5", 12),
            ("/1", 0),
            (":1", 0),
        ] {
            assert_eq!(digits(text.as_bytes()), expected, "{text}");
            assert_eq!(digits(format!("{text}é followed by more").as_bytes()), expected, "{text}");
        }
    }
}
