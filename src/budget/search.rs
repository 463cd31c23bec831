//! One search for the longest of many texts that fits: for the levels of detail of a page, and for the rungs of a ladder.

use std::ops::Range;

use super::{BYTES_PER_TOKEN, clearly_exceeds};

/// A search among texts, each shorter than the one before.
pub(super) struct Search<C> {
    /// The maximum number of tokens of a text.
    pub(super) tokens: usize,
    /// The maximum number of bytes of a text.
    pub(super) bytes: usize,
    /// A text with this many tokens ends the search, even if a longer one might fit.
    pub(super) enough: usize,
    /// An estimate at first, then the ratio of the text counted last.
    pub(super) bytes_per_token: f64,
    /// Counts the tokens of a text.
    pub(super) count: C,
}

/// A text that fits, and its number of tokens.
pub(super) struct Found<T> {
    /// The index of the text.
    pub(super) at: usize,
    pub(super) text: T,
    pub(super) tokens: usize,
}

impl<C: FnMut(&str) -> usize> Search<C> {
    /// After this many guesses the search falls back to bisection.
    const GUESSES: usize = 4;

    /// The tokens of a text; an estimate above the limit if it clearly exceeds the limit.
    pub(super) fn count(&mut self, text: &str) -> usize {
        let tokens = if clearly_exceeds(text, self.tokens, self.bytes) {
            let estimate = (text.len() as f64 / BYTES_PER_TOKEN) as usize;
            estimate.max(self.tokens + 1)
        } else {
            (self.count)(text)
        };
        self.bytes_per_token = text.len() as f64 / tokens.max(1) as f64;
        tokens
    }

    /// Whether a text fits. Counts only if the number of bytes does not decide.
    pub(super) fn fits(&mut self, text: &str) -> bool {
        text.len() <= self.tokens || self.count(text) <= self.tokens
    }

    /// The first of the texts `all` that fits. Counting takes far longer than writing: the search counts texts of about as
    /// many bytes as should fit, and few others.
    pub(super) fn first<T: AsRef<str>>(&mut self, all: Range<usize>, write: impl Fn(usize) -> T) -> Option<Found<T>> {
        let (mut low, mut high) = (all.start, all.end);
        let mut best = None;
        for guess in 0.. {
            if low >= high {
                break;
            }
            let bytes = (self.tokens as f64 * self.bytes_per_token) as usize;
            let at = if guess < Self::GUESSES {
                first_within(bytes.min(self.bytes), low..high, &write)
            } else {
                usize::midpoint(low, high - 1)
            };
            let text = write(at);
            let tokens = self.count(text.as_ref());
            if tokens <= self.tokens {
                best = Some(Found { at, text, tokens });
                high = at;
                if tokens >= self.enough {
                    break;
                }
            } else {
                low = at + 1;
            }
        }
        best
    }
}

/// The first of the texts `all` with at most `bytes` bytes, or else the last one.
fn first_within<T: AsRef<str>>(bytes: usize, all: Range<usize>, write: impl Fn(usize) -> T) -> usize {
    let (mut low, mut high) = (all.start, all.end - 1);
    while low < high {
        let middle = usize::midpoint(low, high);
        if write(middle).as_ref().len() <= bytes { high = middle } else { low = middle + 1 }
    }
    low
}
