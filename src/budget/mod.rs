//! Token budgets: exact o200k_base counts, shares of a budget, and pages that are filled with entries.
//!
//! The limit applies to the exact token count of the text that is sent. `ceil(bytes / 128) <= tokens <= bytes`
//! always holds, because the longest token has 128 bytes; so a text with no more bytes than the limit has tokens
//! fits without being counted. That matters because loading the tokenizer takes 0.2 to 0.3 s and 46 MB.
//! [`preload`] loads it on a separate thread during a download.
//!
//! A page shows as many entries as fit, in as much detail as fits. [`need`] says what all entries would take in full
//! detail, [`shares`] divides a budget among several pages by their needs, and [`fill`] fills one page:
//!
//! ```
//! use n8n_lens::budget::{self, Entry, PageLimits};
//! use n8n_lens::json::Excerpt;
//!
//! let entry = |number: u64| {
//!     let note = Excerpt::from("a long note, ".repeat(40).as_str());
//!     let value = Excerpt::object(vec![("id", Excerpt::Scalar(number.to_string())), ("note", note)]);
//!     Entry { value, tag: None }
//! };
//! let entries: Vec<_> = (1..=3).map(entry).collect();
//! let limits = PageLimits { tokens: 100, bytes: budget::ANSWER_BYTES, chars: usize::MAX };
//!
//! let need = budget::need(&entries, limits);
//! assert!(need.tokens > 100, "too much for the page");
//!
//! // All three are shown, because their long texts are clipped first.
//! let page = budget::fill(&entries, limits, need);
//! assert_eq!((page.shown, page.clipped), (3, 3));
//! assert!(budget::fits(&page.text, 100));
//! assert!(page.text.starts_with(r#"{"id":1,"note":"a long note, "#), "{}", page.text);
//! ```

mod page;

use std::collections::HashSet;
use std::sync::Once;

use tiktoken_rs::CoreBPE;

pub use page::{Entry, Need, Page, PageLimits, fill, need, shares, whole};

/// The length of the longest token, bytes.
const TOKEN_BYTES: usize = 128;

/// The most bytes that are tokenized at once: tiktoken-rs fails on some larger texts, and is slow on long runs of one
/// character.
const COUNT_BYTES: usize = 256 * 1024;

/// The most bytes of an answer. 25,000 tokens of ordinary JSON are about 80 KB.
pub const ANSWER_BYTES: usize = COUNT_BYTES;

/// The tokenizer; loads it, or waits until another thread has loaded it.
fn tokenizer() -> &'static CoreBPE {
    tiktoken_rs::o200k_base_singleton()
}

/// Loads the tokenizer on a separate thread; returns at once.
pub fn preload() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| drop(std::thread::spawn(tokenizer)));
}

/// The exact number of o200k_base tokens of a text of up to 256 KiB; for a longer text, the sum over pieces of this
/// size.
///
/// ```
/// use n8n_lens::budget::count;
///
/// assert_eq!(count(r#"{"success":true}"#), 5);
/// assert_eq!(count(""), 0);
/// ```
pub fn count(text: &str) -> usize {
    let mut rest = text;
    let mut tokens = 0;
    while !rest.is_empty() {
        let (piece, more) = rest.split_at(rest.floor_char_boundary(COUNT_BYTES.min(rest.len())));
        // If the tokenizer fails, the bytes are counted: there are never fewer of them than tokens.
        tokens += tokenizer().count(piece, &HashSet::new()).unwrap_or(piece.len());
        rest = more;
    }
    tokens
}

/// The largest answer that fits into `limit` tokens: `write` is asked for `most`, and then for what `less` makes of it,
/// until the text fits; the smallest one if none does.
///
/// ```
/// use n8n_lens::budget::largest_that_fits;
///
/// let write = |words: usize| vec!["word"; words].join(" ");
/// assert_eq!(largest_that_fits(100, 3, |words: usize| words.checked_sub(1), write), "word word word");
/// ```
pub fn largest_that_fits<S: Copy>(
    most: S,
    limit: usize,
    less: impl Fn(S) -> Option<S>,
    write: impl Fn(S) -> String,
) -> String {
    let mut shown = most;
    loop {
        let text = write(shown);
        match less(shown).filter(|_| !fits(&text, limit)) {
            Some(less) => shown = less,
            None => return text,
        }
    }
}

/// Whether a text has at most `limit` tokens and at most [`ANSWER_BYTES`]. Counts only if the number of bytes does not
/// decide.
///
/// ```
/// use n8n_lens::budget::fits;
///
/// assert!(fits("ten tokens", 10), "10 bytes are at most 10 tokens");
/// assert!(!fits(&"x".repeat(100_000), 500), "a token has at most 128 bytes");
/// ```
pub fn fits(text: &str, limit: usize) -> bool {
    text.len() <= limit
        || (text.len() <= ANSWER_BYTES && text.len().div_ceil(TOKEN_BYTES) <= limit && count(text) <= limit)
}
