//! Exact counts of o200k_base tokens. Nothing is loaded before the first one.
//!
//! A text is split into pieces, by the classes of its characters. A piece that is in the vocabulary is one token; of any
//! other piece, the bytes are merged. tiktoken-rs, which does the same, is the oracle of the tests.

mod classes;
mod merge;
mod split;
mod vocabulary;

#[cfg(test)]
mod tests;

use merge::Parts;

/// The exact number of o200k_base tokens of a text.
pub(super) fn count(text: &str) -> usize {
    let (mut rest, mut count, mut parts) = (text, 0, Parts::default());
    while let Some(length) = split::first(rest) {
        let is_token = length == 1 || vocabulary::rank(rest.as_bytes(), length).is_some();
        count += if is_token { 1 } else { parts.count(rest.as_bytes(), length) };
        rest = &rest[length..];
    }
    count
}
