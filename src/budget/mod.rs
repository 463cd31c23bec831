//! Token budgets: exact o200k_base counts, answers that shrink until they fit, shares of a budget, and pages that are
//! filled with entries.
//!
//! The limit applies to the exact token count of the text that is sent. `ceil(bytes / 128) <= tokens <= bytes`
//! always holds, because the longest token has 128 bytes; so a text with no more bytes than the limit has tokens
//! fits without being counted.
//!
//! A [`Ladder`] lists the sizes that an answer may have; the answer has the largest one that fits.
//!
//! A page shows as many entries as fit, in as much detail as fits. [`need`] computes what all entries would take in
//! full detail, [`shares`] divides a budget among several pages by their needs, and [`fill`] fills one page:
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

mod ladder;
mod page;
mod search;
mod tokens;

pub use ladder::{Fitting, Ladder};
pub use page::{Entry, Need, Page, PageLimits, fill, need, shares, whole};

/// The length of the longest token, bytes.
const TOKEN_BYTES: usize = 128;

/// The bytes per token of ordinary JSON, as a first estimate.
const BYTES_PER_TOKEN: f64 = 3.0;

/// The maximum number of bytes tokenized at once, which bounds the memory for it.
const COUNT_BYTES: usize = 256 * 1024;

/// The maximum number of bytes of an answer. 25,000 tokens of ordinary JSON are about 80 KB.
pub const ANSWER_BYTES: usize = COUNT_BYTES;

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
    let mut count = 0;
    while !rest.is_empty() {
        let (piece, more) = rest.split_at(rest.floor_char_boundary(COUNT_BYTES.min(rest.len())));
        count += tokens::count(piece);
        rest = more;
    }
    count
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
    text.len() <= limit || (!clearly_exceeds(text, limit, ANSWER_BYTES) && count(text) <= limit)
}

/// Whether a text has more bytes than allowed, or so many that it certainly has too many tokens.
fn clearly_exceeds(text: &str, tokens: usize, bytes: usize) -> bool {
    text.len() > bytes || text.len().div_ceil(TOKEN_BYTES) > tokens
}
