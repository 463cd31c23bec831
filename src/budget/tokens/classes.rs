//! The classes of characters that the pattern of o200k_base distinguishes, by Unicode's general categories.
//!
//! `classes.bin` holds the block number for every 128 code points, then the blocks without repetition, one byte for
//! each code point. `tests.rs` generates it from the regular expressions of tiktoken-rs.

/// A class of characters.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub(super) enum Class {
    /// Neither a letter, a mark, a number nor a space.
    Other,
    /// `[\r\n]`
    Newline,
    /// `\s` without newlines.
    Space,
    /// `[\p{Lu}\p{Lt}]`
    Upper,
    /// `\p{Ll}`
    Lower,
    /// `[\p{Lm}\p{Lo}]`: letters without case.
    Letter,
    /// `\p{M}`
    Mark,
    /// `\p{N}`
    Number,
}

/// Code points in a block.
pub(super) const BLOCK: usize = 128;

/// Blocks of all code points.
pub(super) const BLOCKS: usize = 0x11_0000 / BLOCK;

static TABLE: &[u8] = include_bytes!("classes.bin");

impl Class {
    pub(super) const ALL: [Self; 8] =
        [Self::Other, Self::Newline, Self::Space, Self::Upper, Self::Lower, Self::Letter, Self::Mark, Self::Number];

    /// The class of a character.
    #[inline]
    pub(super) fn of(character: char) -> Self {
        let code = character as usize;
        let block = usize::from(TABLE[code / BLOCK]);
        Self::ALL[usize::from(TABLE[BLOCKS + block * BLOCK + code % BLOCK] & 7)]
    }
}
