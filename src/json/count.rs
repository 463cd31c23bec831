//! Counts characters.

/// How many characters of UTF-8 begin in these bytes. Sums of bytes, which cannot overflow in such a piece, are added up
/// many at a time.
pub(super) fn characters(bytes: &[u8]) -> u64 {
    const PIECE: usize = 128;
    let in_piece = |piece: &[u8]| u64::from(piece.iter().map(|byte| u8::from(begins_character(*byte))).sum::<u8>());
    bytes.chunks(PIECE).map(in_piece).sum()
}

/// Whether this is the first byte of a character.
pub(super) fn begins_character(byte: u8) -> bool {
    byte & 0xc0 != 0x80
}
