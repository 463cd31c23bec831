//! Where the quotes and the brackets of a JSON text are, so that a part of it is found without looking at each byte.

use super::block::{BLOCK, Masks, STRIDE, Scanner};

/// The marks of a text, a bit for each byte.
#[derive(Default)]
pub(super) struct MarkedText {
    quotes: Vec<u64>,
    brackets: Vec<u64>,
}

impl MarkedText {
    /// The marks of a whole text.
    pub(super) fn of(text: &[u8]) -> Self {
        let (mut marked, mut masks, mut scanner) = (Self::default(), Masks::new(), Scanner::new());
        for piece in text.chunks(STRIDE) {
            scanner.scan(piece, &mut masks);
            marked.push(piece.len(), &masks);
        }
        marked
    }

    pub(super) fn clear(&mut self) {
        self.quotes.clear();
        self.brackets.clear();
    }

    /// The marks of the next bytes; only the last ones may be fewer than a multiple of a block.
    pub(super) fn push(&mut self, bytes: usize, masks: &Masks) {
        let blocks = bytes.div_ceil(BLOCK);
        self.quotes.extend_from_slice(&masks.quotes[..blocks]);
        self.brackets.extend_from_slice(&masks.brackets[..blocks]);
    }

    /// The marks of a part of the text that begins at this byte.
    pub(super) fn from(&self, start: usize) -> Marks<'_> {
        Marks { text: self, start }
    }
}

/// Where the quotes and the brackets of a JSON text are.
#[derive(Clone, Copy)]
pub struct Marks<'a> {
    text: &'a MarkedText,
    /// Where the text begins in what is marked.
    start: usize,
}

impl Marks<'_> {
    /// The first quote at or after this byte that begins or ends a string. It can be after the end of the text, and so can
    /// the bracket.
    #[inline]
    pub fn quote(&self, from: usize) -> Option<usize> {
        next(&self.text.quotes, self.start + from).map(|at| at - self.start)
    }

    /// The first bracket at or after this byte, outside strings.
    #[inline]
    pub fn bracket(&self, from: usize) -> Option<usize> {
        next(&self.text.brackets, self.start + from).map(|at| at - self.start)
    }
}

#[inline]
fn next(mask: &[u64], from: usize) -> Option<usize> {
    Masks::next(mask, from, mask.len() * BLOCK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_brackets_are_found_wherever_they_are() {
        let before = "x".repeat(STRIDE - 10);
        let text = format!(r#"{{"{before}":["a\"[","{before}",{{}}]}}"#);
        let marked = MarkedText::of(text.as_bytes());
        let marks = marked.from(0);
        let all = |next: &dyn Fn(usize) -> Option<usize>| -> Vec<usize> {
            std::iter::successors(next(0), |at| next(at + 1)).collect()
        };
        let end = text.len();
        let list = before.len() + 4;
        assert_eq!(all(&|at| marks.quote(at)), [1, list - 2, list + 1, list + 6, list + 8, end - 6]);
        assert_eq!(all(&|at| marks.bracket(at)), [0, list, end - 4, end - 3, end - 2, end - 1]);
        let part = marked.from(list);
        assert_eq!((part.bracket(0), part.bracket(1)), (Some(0), Some(end - 4 - list)));
    }
}
