//! Tokens: exact o200k_base counts, shares, and pages that take entries until they are full.
//!
//! What is promised is the exact count of the text that is sent. `ceil(bytes / 128) <= tokens <= bytes`
//! always holds (the longest token has 128 bytes), so a text of no more bytes than its limit has
//! tokens needs no tokenizer. Loading that takes 0.2 to 0.3 s and 46 MB: [`preload`] does it on a
//! thread of its own, beside a download.

mod page;

use std::collections::HashSet;
use std::sync::Once;

use tiktoken_rs::CoreBPE;

pub use page::{Entry, Need, Page, PageLimits, fill, need, shares, whole};

/// The longest token, bytes.
const TOKEN_BYTES: usize = 128;

/// tiktoken-rs gives up on some texts above this size, and is slow on long runs of one character.
const COUNT_BYTES: usize = 256 * 1024;

/// An answer is never larger, bytes; 25,000 tokens of ordinary JSON are about 80 KB.
pub const ANSWER_BYTES: usize = COUNT_BYTES;

/// The tokenizer; waits for it where it is not loaded yet.
fn tokenizer() -> &'static CoreBPE {
    tiktoken_rs::o200k_base_singleton()
}

/// Loads the tokenizer beside whatever else is going on.
pub fn preload() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| drop(std::thread::spawn(tokenizer)));
}

/// The exact o200k_base tokens of a text of up to 256 KB; of a longer one, those of its pieces.
pub fn count(text: &str) -> usize {
    let mut rest = text;
    let mut tokens = 0;
    while !rest.is_empty() {
        let (piece, more) = rest.split_at(rest.floor_char_boundary(COUNT_BYTES.min(rest.len())));
        // A text that the tokenizer cannot split counts its bytes, which are never fewer.
        tokens += tokenizer().count(piece, &HashSet::new()).unwrap_or(piece.len());
        rest = more;
    }
    tokens
}

/// Whether a text is within a limit of tokens, at the least cost.
pub fn fits(text: &str, limit: usize) -> bool {
    text.len() <= limit
        || (text.len() <= ANSWER_BYTES && text.len().div_ceil(TOKEN_BYTES) <= limit && count(text) <= limit)
}
