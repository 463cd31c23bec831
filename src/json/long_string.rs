//! The rest of a long captured string is counted, not kept: an excerpt shows only its beginning and its length.
//!
//! The filter leaves the beginning, then a mark with how many characters follow. The beginning is longer than the
//! largest value that is read whole (1 MiB), so that a mark is never seen. If a long string itself ends like one, only
//! its length is wrong.

use super::count::{begins_character, characters};
use super::string::StringSink;

/// How much is kept of a captured string, bytes; a few more, up to the end of a piece of the body. An escape counts as one.
const KEPT_BYTES: usize = 1024 * 1024;

/// Begins a mark: a code point that stands for no character.
const MARK: char = '\u{ffff}';

/// The maximum number of bytes of a mark.
const MARK_BYTES: usize = MARK.len_utf8() + 20;

/// How much of the string that is being read is kept, and how many characters are not.
#[derive(Default)]
pub(super) struct LongString {
    bytes: usize,
    more: u64,
}

impl LongString {
    /// A sink that passes the beginning on to this one.
    pub(super) fn sink<'s, S: StringSink>(&'s mut self, to: &'s mut S) -> LongStringSink<'s, S> {
        LongStringSink { string: self, to }
    }

    /// What stands for the rest, if something was left out.
    pub(super) fn mark(self) -> Option<String> {
        (self.more > 0).then(|| format!("{MARK}{}", self.more))
    }
}

/// Passes the beginning of a string on, and counts the characters after it.
pub(super) struct LongStringSink<'s, S> {
    string: &'s mut LongString,
    to: &'s mut S,
}

impl<S> LongStringSink<'_, S> {
    fn is_over(&self) -> bool {
        self.string.more > 0 || self.string.bytes >= KEPT_BYTES
    }
}

impl<S: StringSink> StringSink for LongStringSink<'_, S> {
    fn plain(&mut self, bytes: &[u8]) {
        // A character is not cut.
        let kept = match self.string.more {
            0 if self.is_over() => bytes.iter().position(|byte| begins_character(*byte)).unwrap_or(bytes.len()),
            0 => bytes.len(),
            _ => 0,
        };
        self.to.plain(&bytes[..kept]);
        self.string.bytes += kept;
        self.string.more += characters(&bytes[kept..]);
    }

    fn escape(&mut self, bytes: &[u8]) {
        if self.is_over() {
            self.string.more += 1;
        } else {
            self.to.escape(bytes);
            self.string.bytes += 1;
        }
    }
}

/// The length of a string that is read piece by piece, including the characters that a mark counts.
#[derive(Default)]
pub(super) struct Length {
    bytes: u64,
    chars: u64,
    /// The end of a long string, where a mark can be.
    end: Vec<u8>,
}

impl Length {
    /// The next piece.
    pub(super) fn add(&mut self, piece: &[u8]) {
        self.bytes += piece.len() as u64;
        self.chars += characters(piece);
        if self.bytes > KEPT_BYTES as u64 {
            self.end.extend_from_slice(piece);
            self.end.drain(..self.end.len().saturating_sub(MARK_BYTES));
        }
    }

    /// The characters of the whole string.
    pub(super) fn chars(&self) -> u64 {
        let end = String::from_utf8_lossy(&self.end);
        let mark = end.rsplit_once(MARK).and_then(|(_, more)| Some((more.parse::<u64>().ok()?, more.len())));
        mark.map_or(self.chars, |(more, digits)| self.chars.saturating_add(more) - 1 - digits as u64)
    }
}
