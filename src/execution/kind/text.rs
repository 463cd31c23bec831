//! Characters, and what is at a place in them. A pattern is a chain of steps: each takes a place and returns where it
//! ends.

use std::ops::{Range, RangeInclusive};

use super::characters::{is_digit, is_word};

/// The characters of a text, or of a part of it without its context.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text<'a>(pub &'a [char]);

impl<'a> Text<'a> {
    pub(super) fn get(self, at: usize) -> Option<char> {
        self.0.get(at).copied()
    }

    fn before(self, at: usize) -> Option<char> {
        at.checked_sub(1).and_then(|before| self.get(before))
    }

    /// A part of the text; empty beyond its end.
    pub(super) fn slice(self, range: Range<usize>) -> &'a [char] {
        self.0.get(range).unwrap_or_default()
    }

    /// Whether a word that is here would start here.
    pub(super) fn is_start(self, at: usize) -> bool {
        !self.follows(at, is_word)
    }

    /// Whether a word before this place ends here.
    pub(super) fn is_end(self, at: usize) -> bool {
        !self.is(at, is_word)
    }

    /// Whether there is such a character before this place.
    pub(super) fn follows(self, at: usize, is: impl Fn(char) -> bool) -> bool {
        self.before(at).is_some_and(is)
    }

    /// Whether there is such a character at this place.
    pub(super) fn is(self, at: usize, is: impl Fn(char) -> bool) -> bool {
        self.get(at).is_some_and(is)
    }

    /// The end of a run of such characters, which may be empty.
    pub(super) fn run(self, at: usize, is: impl Fn(char) -> bool) -> usize {
        at + self.0.iter().skip(at).take_while(|char| is(**char)).count()
    }

    /// The end of a run of such characters, if it is not empty.
    pub(super) fn some(self, at: usize, is: impl Fn(char) -> bool) -> Option<usize> {
        Some(self.run(at, is)).filter(|end| *end > at)
    }

    /// The place after one such character.
    pub(super) fn one(self, at: usize, is: impl Fn(char) -> bool) -> Option<usize> {
        self.is(at, is).then_some(at + 1)
    }

    /// The end of exactly these characters.
    pub(super) fn literal(self, at: usize, literal: &str) -> Option<usize> {
        let mut end = at;
        for char in literal.chars() {
            end = self.one(end, |its| its == char)?;
        }
        Some(end)
    }

    /// The end of one of these words.
    pub(super) fn any(self, at: usize, words: &[&str]) -> Option<usize> {
        words.iter().find_map(|word| self.literal(at, word))
    }

    /// The end of such characters, at most the upper bound of `count`; `None` if there are fewer than the lower bound.
    pub(super) fn count(self, at: usize, count: RangeInclusive<usize>, is: impl Fn(char) -> bool) -> Option<usize> {
        let taken = self.0.iter().skip(at).take(*count.end()).take_while(|char| is(**char)).count();
        (taken >= *count.start()).then_some(at + taken)
    }

    /// The end of digits, counted in the same way.
    pub(super) fn digits(self, at: usize, count: RangeInclusive<usize>) -> Option<usize> {
        self.count(at, count, is_digit)
    }

    /// The end of a number without sign: `1`, `1.5`, `1,000.50`.
    pub(super) fn number(self, at: usize) -> Option<usize> {
        let mut end = self.some(at, is_digit)?;
        while let Some(next) = self.one(end, |char| ".,".contains(char)).and_then(|at| self.some(at, is_digit)) {
            end = next;
        }
        Some(end)
    }
}
