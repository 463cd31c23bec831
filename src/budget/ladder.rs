//! Answers that shrink until they fit.

use super::search::{Found, Search};
use super::{ANSWER_BYTES, BYTES_PER_TOKEN, count};

/// The sizes that an answer may have, from the largest to the smallest: the rungs. The answer takes the size of the
/// first rung on which it fits, or of the last one if it fits on none.
///
/// ```
/// use n8n_lens::budget::{Ladder, fits};
///
/// #[derive(Clone, Copy)]
/// struct Size {
///     words: usize,
///     chars: usize,
/// }
///
/// // Fewer words first, but at least 20; then shorter ones; then none.
/// let ladder = Ladder::new(Size { words: 1000, chars: 8 })
///     .fewer(|size| &mut size.words, |words| words * 7 / 8, 20)
///     .shorter(|size| &mut size.chars, |chars| chars / 2, 2)
///     .fewer(|size| &mut size.words, |words| words - 1, 0);
/// let write = |size: Size| vec![&"internal"[..size.chars]; size.words].join(" ");
///
/// let whole = ladder.largest_that_fits(1000, write);
/// assert_eq!((whole.size.words, whole.size.chars), (1000, 8));
/// let fewer = ladder.largest_that_fits(100, write);
/// assert!((20..=100).contains(&fewer.size.words) && fits(&fewer.answer, 100));
/// let shorter = ladder.largest_that_fits(4, write);
/// assert_eq!(shorter.answer, "in in in in");
/// ```
#[derive(Clone, Debug)]
pub struct Ladder<S> {
    rungs: Vec<S>,
    stretches: Vec<Stretch>,
}

/// Neighbouring rungs, up to `end`, that are searched in the same way.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    end: usize,
    /// Whether each answer is shorter than the one before.
    falls: bool,
}

/// An answer and its size.
#[derive(Clone, Debug)]
pub struct Fitting<S, T> {
    /// The rung.
    pub size: S,
    /// The answer at that size.
    pub answer: T,
}

impl<S: Copy> Ladder<S> {
    /// A ladder with one rung: the largest answer.
    pub fn new(most: S) -> Self {
        Self { rungs: vec![most], stretches: vec![Stretch { end: 1, falls: false }] }
    }

    /// Adds rungs that apply `less` again and again to `part` of the size, a number of whole entries, down to `least`.
    /// Each answer must be shorter than the one before, since not all of them are counted.
    pub fn fewer(self, part: impl Fn(&mut S) -> &mut usize, less: impl Fn(usize) -> usize, least: usize) -> Self {
        self.stretch(true, shrink(part, less, least))
    }

    /// Adds rungs that apply `less` again and again to `part` of the size, a length of texts or of lists inside
    /// entries, down to `least`. They are tried one by one: a mark can take more tokens than what it stands for.
    pub fn shorter(self, part: impl Fn(&mut S) -> &mut usize, less: impl Fn(usize) -> usize, least: usize) -> Self {
        self.stretch(false, shrink(part, less, least))
    }

    /// Adds the rungs that `next` derives from the last one, until it returns `None`. They are tried one by one.
    pub fn then(self, next: impl Fn(S) -> Option<S>) -> Self {
        self.stretch(false, next)
    }

    fn stretch(mut self, falls: bool, next: impl Fn(S) -> Option<S>) -> Self {
        let last = self.rungs[self.rungs.len() - 1];
        self.rungs.extend(std::iter::successors(next(last), |size| next(*size)));
        self.stretches.push(Stretch { end: self.rungs.len(), falls });
        self
    }

    /// The answer that `write` returns on the first rung on which it has at most `limit` tokens and at most
    /// [`ANSWER_BYTES`]; that of the last rung if none fits.
    pub fn largest_that_fits<T: AsRef<str>>(&self, limit: usize, write: impl Fn(S) -> T) -> Fitting<S, T> {
        self.search(limit, write, count)
    }

    fn search<T: AsRef<str>>(
        &self,
        limit: usize,
        write: impl Fn(S) -> T,
        count: impl FnMut(&str) -> usize,
    ) -> Fitting<S, T> {
        let mut search =
            Search { tokens: limit, bytes: ANSWER_BYTES, enough: usize::MAX, bytes_per_token: BYTES_PER_TOKEN, count };
        let write = |at: usize| write(self.rungs[at]);
        // The last rung is the answer in any case.
        let last = self.rungs.len() - 1;
        let mut from = 0;
        for stretch in &self.stretches {
            let rungs = from..stretch.end.min(last);
            let found = match stretch.falls {
                true => search.first(rungs, write).map(|Found { at, text, .. }| (at, text)),
                false => rungs.map(|at| (at, write(at))).find(|(_, text)| search.fits(text.as_ref())),
            };
            if let Some((at, answer)) = found {
                return Fitting { size: self.rungs[at], answer };
            }
            from = stretch.end;
        }
        Fitting { size: self.rungs[last], answer: write(last) }
    }
}

/// The next smaller size: `less` applied to a part, but not below `least`; `None` if it cannot shrink further.
fn shrink<S>(
    part: impl Fn(&mut S) -> &mut usize,
    less: impl Fn(usize) -> usize,
    least: usize,
) -> impl Fn(S) -> Option<S> {
    move |mut size| {
        let part = part(&mut size);
        let smaller = Some(*part).filter(|part| *part > least).map(|part| less(part).max(least));
        *part = smaller.filter(|smaller| smaller < part)?;
        Some(size)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Finds a rung for texts with these numbers of tokens, 8 bytes each; also returns how many texts were counted.
    fn search<S: Copy>(ladder: &Ladder<S>, limit: usize, tokens: impl Fn(S) -> usize) -> (Fitting<S, String>, usize) {
        let counted = Cell::new(0);
        let count = |text: &str| {
            counted.set(counted.get() + 1);
            text.len() / 8
        };
        let found = ladder.search(limit, |size| "8 bytes ".repeat(tokens(size)), count);
        (found, counted.get())
    }

    fn entries() -> Ladder<usize> {
        Ladder::new(1000).fewer(|entries| entries, |entries| entries - 1, 1)
    }

    #[test]
    fn the_rungs_are_in_order() {
        let ladder = Ladder::new((7, 100, 3))
            .fewer(|size| &mut size.0, |entries| entries * 7 / 8, 5)
            .shorter(|size| &mut size.1, |chars| chars / 2, 30)
            .fewer(|size| &mut size.0, |entries| entries - 1, 3)
            .then(|(entries, chars, rest)| Some((entries, chars, rest - 1)).filter(|size| size.2 > 0))
            .shorter(|size| &mut size.2, |rest| rest, 0);
        let rungs = [
            (7, 100, 3),
            (6, 100, 3),
            (5, 100, 3),
            (5, 50, 3),
            (5, 30, 3),
            (4, 30, 3),
            (3, 30, 3),
            (3, 30, 2),
            (3, 30, 1),
        ];
        assert_eq!(ladder.rungs, rungs);
    }

    #[test]
    fn what_fits_whole_is_counted_once_or_not_at_all() {
        let (found, counted) = search(&entries(), 1000, |entries| entries);
        assert_eq!((found.size, found.answer.len(), counted), (1000, 8000, 1));
        let (found, counted) = search(&entries(), 8000, |entries| entries);
        assert_eq!((found.size, counted), (1000, 0), "8,000 bytes are at most 8,000 tokens");
    }

    #[test]
    fn the_smallest_is_the_answer_if_nothing_fits() {
        let (found, counted) = search(&entries(), 900, |entries| 1000 + entries);
        assert_eq!((found.size, found.answer.len(), counted), (1, 8008, 2));
        let (found, counted) = search(&Ladder::new(1000), 10, |entries| entries);
        assert_eq!((found.size, counted), (1000, 0), "there is no choice");
    }

    #[test]
    fn of_falling_sizes_few_are_counted() {
        for limit in 1..1000 {
            let (found, counted) = search(&entries(), limit, |entries| entries);
            assert_eq!((found.size, found.answer.len()), (limit, 8 * limit));
            assert!(counted <= 4, "{counted} texts were counted for {limit} tokens");
            // Some entries are much larger than the others.
            let (found, counted) = search(&entries(), limit, |entries| entries + entries / 100 * 200);
            let first = (1..=1000).rev().find(|entries| entries + entries / 100 * 200 <= limit);
            assert_eq!(Some(found.size), first);
            assert!(counted <= 15, "{counted} texts were counted for {limit} tokens");
        }
    }

    #[test]
    fn of_other_sizes_the_first_that_fits_is_found() {
        // Marks make some shorter texts longer.
        let tokens = |chars: usize| if chars.is_multiple_of(3) { chars + 5 } else { chars };
        let ladder = Ladder::new(100).shorter(|chars| chars, |chars| chars - 1, 0);
        for limit in 0..110 {
            let first = (0..=100).rev().find(|chars| tokens(*chars) <= limit).unwrap_or(0);
            assert_eq!(search(&ladder, limit, tokens).0.size, first, "{limit} tokens");
        }
    }

    #[test]
    fn a_stretch_that_begins_with_a_longer_text_is_searched() {
        // The first time that an entry is left out, the answer says so.
        let tokens = |(entries, chars): (usize, usize)| entries * chars + if entries < 50 { 30 } else { 0 };
        let ladder = Ladder::new((50, 10)).fewer(|size| &mut size.0, |entries| entries * 15 / 16, 5).shorter(
            |size| &mut size.1,
            |chars| chars / 2,
            1,
        );
        for limit in 20..600 {
            let first = ladder.rungs.iter().find(|size| tokens(**size) <= limit);
            let expected = first.copied().unwrap_or((5, 1));
            assert_eq!(search(&ladder, limit, tokens).0.size, expected, "{limit} tokens");
        }
    }
}
