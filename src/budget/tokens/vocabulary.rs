//! The tokens of o200k_base and their ranks: a table in the binary that needs no set-up.
//!
//! The tokens of each length have a minimal perfect hash (hash and displace): the hash of a text selects a bucket, and
//! the seed of the bucket selects a place, which holds the only token that the text can be. So a token needs neither an
//! offset nor a pointer, and a search reads two places. `vocabulary.bin` holds, little-endian:
//!
//! | part | bytes |
//! |---|---|
//! | the salt of the hash | 8 |
//! | how many tokens have 2, 3, … 128 bytes | 4 each |
//! | for each of these lengths: the seeds of its buckets | 2 each |
//! | and its tokens: the rank, then the bytes | 3 + length each |
//!
//! `tests.rs` generates this file from the vocabulary of tiktoken-rs, and checks that it is up to date.

use super::super::TOKEN_BYTES;

/// The length of the shortest token in the table. Every single byte is a token.
pub(super) const SHORTEST: usize = 2;

/// Bytes of a rank.
pub(super) const RANK_BYTES: usize = 3;

/// Bytes of a seed.
pub(super) const SEED_BYTES: usize = 2;

/// How many tokens share a bucket, on average.
const BUCKET_TOKENS: usize = 4;

/// Bytes that are read at once.
const WORD_BYTES: usize = 16;

/// Masks for the first bytes of a word, by their number.
static MASKS: [u128; WORD_BYTES + 1] = masks();

/// A large odd number whose bits look random: 2^64 divided by the golden ratio.
const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

static TABLE: &[u8] = include_bytes!("vocabulary.bin");

static SALT: u64 = number(TABLE, 0, 8);

/// Where the tokens of each length are.
static LENGTHS: [Tokens; TOKEN_BYTES + 1] = lengths(TABLE);

/// The tokens of one length.
#[derive(Clone, Copy)]
struct Tokens {
    seeds: usize,
    buckets: usize,
    tokens: usize,
    count: usize,
}

const fn masks() -> [u128; WORD_BYTES + 1] {
    let mut masks = [0; WORD_BYTES + 1];
    let mut bytes = 1;
    while bytes <= WORD_BYTES {
        masks[bytes] = masks[bytes - 1] << 8 | 0xFF;
        bytes += 1;
    }
    masks
}

const fn number(table: &[u8], at: usize, bytes: usize) -> u64 {
    let (mut number, mut byte) = (0, bytes);
    while byte > 0 {
        byte -= 1;
        number = number << 8 | table[at + byte] as u64;
    }
    number
}

const fn lengths(table: &[u8]) -> [Tokens; TOKEN_BYTES + 1] {
    let mut lengths = [Tokens { seeds: 0, buckets: 0, tokens: 0, count: 0 }; TOKEN_BYTES + 1];
    let mut length = SHORTEST;
    let mut at = 8 + 4 * (TOKEN_BYTES + 1 - SHORTEST);
    while length <= TOKEN_BYTES {
        let count = number(table, 8 + 4 * (length - SHORTEST), 4) as usize;
        let tokens = at + SEED_BYTES * buckets(count);
        lengths[length] = Tokens { seeds: at, buckets: buckets(count), tokens, count };
        at = tokens + (length + RANK_BYTES) * count;
        length += 1;
    }
    assert!(at == table.len(), "the table has another size than its counts say");
    lengths
}

/// How many buckets this many tokens of one length have.
pub(super) const fn buckets(tokens: usize) -> usize {
    tokens.div_ceil(BUCKET_TOKENS)
}

/// The rank of the token formed by the first `length` bytes of a text; `None` if they are not a token, or a single
/// byte. The text should continue after them if it can, because whole words are read then.
#[inline]
pub(super) fn rank(text: &[u8], length: usize) -> Option<u32> {
    let tokens = LENGTHS.get(length)?;
    if length <= WORD_BYTES {
        let first = word(text, length);
        tokens.rank(length, step(SALT, first), |token| word(token, length) == first)
    } else {
        tokens.rank(length, hash(text, length, SALT), |token| token.starts_with(&text[..length]))
    }
}

impl Tokens {
    /// The rank of the token with this hash if it is the right one.
    #[inline]
    fn rank(&self, length: usize, hash: u64, is_right: impl Fn(&[u8]) -> bool) -> Option<u32> {
        if self.count == 0 {
            return None;
        }
        let seed = TABLE[self.seeds + SEED_BYTES * bucket(hash, self.buckets)..].first_chunk()?;
        let place = place(hash, u16::from_le_bytes(*seed), self.count);
        let (rank, token) = TABLE[self.tokens + (RANK_BYTES + length) * place..].split_first_chunk::<RANK_BYTES>()?;
        is_right(token).then_some(u32::from_le_bytes([rank[0], rank[1], rank[2], 0]))
    }
}

/// A hash of the first `length` bytes of a text, among texts of this length.
pub(super) fn hash(text: &[u8], length: usize, salt: u64) -> u64 {
    let words = (0..length).step_by(WORD_BYTES).map(|at| word(&text[at..], (length - at).min(WORD_BYTES)));
    words.fold(salt, step)
}

/// The first bytes of a text, up to a word.
#[inline]
fn word(text: &[u8], bytes: usize) -> u128 {
    match text.first_chunk() {
        Some(word) => u128::from_le_bytes(*word) & MASKS[bytes],
        None => last_word(&text[..bytes]),
    }
}

/// The bytes at the end of a text.
#[cold]
fn last_word(bytes: &[u8]) -> u128 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u128::from(*byte))
}

/// The hash of a text and a word after it.
#[inline]
fn step(hash: u64, word: u128) -> u64 {
    mix(hash ^ word as u64, FACTOR ^ (word >> 64) as u64)
}

/// Both halves of the product of two numbers.
#[inline]
fn mix(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other);
    product as u64 ^ (product >> 64) as u64
}

/// The bucket of a hash.
#[inline]
pub(super) fn bucket(hash: u64, buckets: usize) -> usize {
    scale(hash, buckets)
}

/// The place of a hash among this many tokens, by the seed of its bucket.
#[inline]
pub(super) fn place(hash: u64, seed: u16, tokens: usize) -> usize {
    scale(mix(hash ^ u64::from(seed), FACTOR), tokens)
}

/// A number below `limit`, by the upper half of a hash.
#[inline]
fn scale(hash: u64, limit: usize) -> usize {
    (((hash >> 32) * limit as u64) >> 32) as usize
}
