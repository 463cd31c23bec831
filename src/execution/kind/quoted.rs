//! Quoted text.

use std::ops::Range;

use super::characters::is_word;
use super::text::Text;

/// The maximum number of characters between marks; with `"`, an escape counts as one.
const MAX_CHARS: usize = 200;

/// The maximum number of characters of a name.
const NAME_CHARS: usize = 40;

/// Marks without escapes.
const MARKS: [(char, char); 5] = [('\'', '\''), ('`', '`'), ('“', '”'), ('‘', '’'), ('「', '」')];

/// A quoted text.
#[derive(Debug)]
pub(super) struct Quoted<'a> {
    /// Where it is, with its marks.
    pub range: Range<usize>,
    marks: [char; 2],
    inner: &'a [char],
}

impl Quoted<'_> {
    /// Whether it distinguishes kinds: an empty text, a name, JSON or HTML.
    pub(super) fn is_shown(&self) -> bool {
        let first = self.inner.iter().find(|char| **char != '\\');
        first.is_none_or(|char| "{[<".contains(*char)) || is_name(self.inner)
    }

    /// Appends its marks, with dots between them.
    pub(super) fn push_marks(&self, out: &mut String) {
        let [open, close] = self.marks;
        out.extend([open, '…', close]);
    }
}

fn is_name(text: &[char]) -> bool {
    let is_first = |char: char| char.is_ascii_alphabetic() || "_$".contains(char);
    let is_part = |char: char| is_first(char) || ".-[]".contains(char);
    text.len() <= NAME_CHARS
        && text.first().is_some_and(|char| is_first(*char))
        && text.iter().all(|char| is_part(*char))
}

/// The quoted texts, from the start.
#[derive(Debug)]
pub(super) struct Quotes<'a> {
    text: Text<'a>,
    at: usize,
    /// Where the next closing mark is, for each pair of [`MARKS`]: searched for once, however many are open.
    closing: [usize; MARKS.len()],
}

impl<'a> Quotes<'a> {
    pub(super) fn of(text: Text<'a>) -> Self {
        Self { text, at: 0, closing: [0; MARKS.len()] }
    }

    /// The quoted text that starts here.
    fn quoted(&mut self, start: usize) -> Option<Quoted<'a>> {
        let open = self.text.get(start)?;
        let (close, at) = if open == '"' { (open, self.escaped(start)?) } else { self.plain(start, open)? };
        let inner = self.text.slice(start + 1..at);
        Some(Quoted { range: start..at + 1, marks: [open, close], inner })
    }

    /// Where the `"` that opens here closes.
    fn escaped(&self, start: usize) -> Option<usize> {
        let mut at = start + 1;
        for _ in 0..=MAX_CHARS {
            match self.text.get(at)? {
                '"' => return Some(at),
                // It must escape something.
                '\\' => at = self.text.one(at + 1, |_| true)?,
                _ => at += 1,
            }
        }
        None
    }

    /// Where another mark that opens here closes.
    fn plain(&mut self, start: usize, open: char) -> Option<(char, usize)> {
        let pairs = MARKS.iter().zip(&mut self.closing);
        let ((_, close), closing) = pairs.into_iter().find(|((its, _), _)| *its == open)?;
        if *closing <= start {
            *closing = self.text.run(start + 1, |char| char != *close);
        }
        let is_near = *closing < self.text.0.len() && *closing - start <= MAX_CHARS + 1;
        // An apostrophe inside a word closes nothing.
        let is_closed = is_near && (open != '\'' || self.text.is_end(*closing + 1));
        is_closed.then_some((*close, *closing))
    }
}

impl<'a> Iterator for Quotes<'a> {
    type Item = Quoted<'a>;

    fn next(&mut self) -> Option<Quoted<'a>> {
        while self.at < self.text.0.len() {
            let start = self.at;
            let is_mark = self.text.is(start, |char| !char.is_alphanumeric() && char != ' ');
            let can_open = is_mark && !self.text.follows(start, |char| is_word(char) || char == '\\');
            if let Some(quoted) = if can_open { self.quoted(start) } else { None } {
                self.at = quoted.range.end;
                return Some(quoted);
            }
            self.at += 1;
        }
        None
    }
}
