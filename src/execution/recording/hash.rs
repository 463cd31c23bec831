//! Hashes of items: two executions are compared by them, and the nodes of a copy recognise their input by them.

use std::hash::{DefaultHasher, Hash, Hasher};

/// The hash of an item's `json`, as the Code nodes of a copy take it ([`replay`](crate::workflow::replay)): of the UTF-16 units of its
/// text as `JSON.stringify` writes it. The text comes in pieces, which can end within a character.
pub(super) struct JsonHash {
    a: u32,
    b: u32,
    /// The beginning of a character.
    begun: Vec<u8>,
}

impl JsonHash {
    pub(super) fn new() -> Self {
        Self { a: 0xdead_beef, b: 0x41c6_ce57, begun: Vec::new() }
    }

    /// The next bytes, which are UTF-8.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        let mut bytes = bytes;
        while let (false, Some((first, rest))) = (self.begun.is_empty(), bytes.split_first()) {
            self.begun.push(*first);
            bytes = rest;
            if let Ok(character) = std::str::from_utf8(&self.begun).map(str::to_owned) {
                self.text(&character);
                self.begun.clear();
            }
        }
        match std::str::from_utf8(bytes) {
            Ok(text) => self.text(text),
            Err(error) => {
                let (whole, begun) = bytes.split_at(error.valid_up_to());
                self.text(std::str::from_utf8(whole).unwrap_or_default());
                self.begun.extend_from_slice(begun);
            }
        }
    }

    fn text(&mut self, text: &str) {
        for unit in text.encode_utf16().map(u32::from) {
            self.a = (self.a ^ unit).wrapping_mul(2_654_435_761);
            self.b = (self.b ^ unit).wrapping_mul(1_597_334_677);
        }
    }

    pub(super) fn finish(self) -> u64 {
        let Self { mut a, mut b, .. } = self;
        a = (a ^ (a >> 16)).wrapping_mul(2_246_822_507) ^ (b ^ (b >> 13)).wrapping_mul(3_266_489_909);
        b = (b ^ (b >> 16)).wrapping_mul(2_246_822_507) ^ (a ^ (a >> 13)).wrapping_mul(3_266_489_909);
        (u64::from(b & 0x1f_ffff) << 32) + u64::from(a)
    }
}

/// A hash of what came before, and of this.
pub(super) fn chained(before: u64, this: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    (before, this).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> u64 {
        let mut hash = JsonHash::new();
        pieces.into_iter().for_each(|piece| hash.add(piece));
        hash.finish()
    }

    #[test]
    fn pieces_can_end_within_a_character() {
        let text = "{\"a\":\"\u{1f600}é\\ud83d\"}".as_bytes();
        // What the code of a node computes of this text in Node.js.
        assert_eq!(hash([text]), 7_546_297_154_458_284);
        for size in 1..text.len() {
            assert_eq!(hash(text.chunks(size)), hash([text]), "{size}");
        }
    }
}
