//! Counts bytes of a kind.

/// How many bytes are of a kind. Sums of bytes, which cannot overflow in such a piece, are added up many at a time.
pub(crate) fn count(bytes: &[u8], is: impl Fn(u8) -> bool) -> u64 {
    const PIECE: usize = 128;
    let in_piece = |piece: &[u8]| u64::from(piece.iter().map(|byte| u8::from(is(*byte))).sum::<u8>());
    bytes.chunks(PIECE).map(in_piece).sum()
}

/// How many characters of UTF-8 begin in these bytes.
pub(super) fn characters(bytes: &[u8]) -> u64 {
    count(bytes, begins_character)
}

/// Whether this is the first byte of a character.
pub(super) fn begins_character(byte: u8) -> bool {
    byte & 0xc0 != 0x80
}
