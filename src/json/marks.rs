//! Where the quotes and the brackets of an element are, so that a part of it is found without looking at each byte.

use super::block::{BLOCK, Masks, STRIDE, Scanner};

/// The quotes of a text, a bit for each byte.
#[derive(Default)]
pub(super) struct Quotes(Vec<u64>);

impl Quotes {
    /// The quotes of a whole text.
    pub(super) fn of(text: &[u8]) -> Self {
        let (mut quotes, mut masks, mut scanner) = (Self::default(), Masks::new(), Scanner::new());
        for piece in text.chunks(STRIDE) {
            scanner.scan(piece, &mut masks);
            quotes.push(piece.len(), &masks);
        }
        quotes
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// The quotes of the next bytes; only the last ones may be fewer than a multiple of a block.
    pub(super) fn push(&mut self, bytes: usize, masks: &Masks) {
        self.0.extend_from_slice(&masks.quotes[..bytes.div_ceil(BLOCK)]);
    }
}

/// Where the quotes and the brackets of an element are.
#[derive(Clone, Copy)]
pub struct Marks<'a> {
    pub(super) quotes: &'a Quotes,
    /// Where the element begins in the text that has the quotes.
    pub(super) start: usize,
    pub(super) brackets: &'a [u32],
}

impl<'a> Marks<'a> {
    /// The first quote at or after this byte that begins or ends a string. It can be after the end of the element.
    #[inline]
    pub fn quote(&self, from: usize) -> Option<usize> {
        let Quotes(quotes) = self.quotes;
        Masks::next(quotes, self.start + from, quotes.len() * BLOCK).map(|at| at - self.start)
    }

    /// The brackets outside strings, without the first one, which begins the element. If there are very many, only the
    /// first ones.
    #[inline]
    pub fn brackets(&self) -> &'a [u32] {
        self.brackets
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::json::{Capture, Keep, Pick, Pruner};

    /// The quotes and the brackets of an element.
    type Found = (Vec<usize>, Vec<u32>);

    /// Finds the marks of each element, and holds them.
    struct Listener(Arc<Mutex<Vec<Found>>>);

    impl Pick for Listener {
        fn picks(&mut self, _: u64, _: u64, _: &[u8]) -> bool {
            false
        }

        fn reads_marks(&self) -> bool {
            true
        }

        fn picks_marked(&mut self, _: u64, _: u64, json: &[u8], marks: Marks<'_>) -> bool {
            let quotes = std::iter::successors(marks.quote(0), |at| marks.quote(at + 1));
            let quotes = quotes.take_while(|at| *at < json.len()).collect();
            self.0.lock().unwrap().push((quotes, marks.brackets().to_vec()));
            false
        }
    }

    /// The same, byte by byte.
    fn marks_of(json: &str) -> (Vec<usize>, Vec<u32>) {
        let (mut quotes, mut brackets, mut in_string, mut escaped) = (Vec::new(), Vec::new(), false, false);
        for (at, byte) in json.bytes().enumerate() {
            match byte {
                _ if escaped => {}
                b'"' => {
                    quotes.push(at);
                    in_string = !in_string;
                }
                b'{' | b'}' | b'[' | b']' if !in_string && at > 0 => brackets.push(at as u32),
                _ => {}
            }
            escaped = byte == b'\\' && !escaped;
        }
        (quotes, brackets)
    }

    #[test]
    fn quotes_and_brackets_are_found_wherever_the_element_lies() {
        let long = "x".repeat(STRIDE - 20);
        let element = |at: usize| format!(r#"{{"{}":["a\"[",{{}},[{at}]],"b":"{long}"}}"#, "y".repeat(at));
        let elements: Vec<_> = (0..40).map(element).collect();
        let json = format!("[{}]", elements.join(","));
        let expected: Vec<_> = elements.iter().map(|element| marks_of(element)).collect();
        for chunk in [json.len(), STRIDE + 1, 1000, 7, 1] {
            let found = Arc::default();
            let capture = Capture::picked(Listener(Arc::clone(&found)));
            let mut pruner = Pruner::new(Keep::Window, 0..u64::MAX).capturing(capture);
            json.as_bytes().chunks(chunk).for_each(|chunk| drop(pruner.feed(chunk).unwrap()));
            pruner.finish().unwrap();
            assert_eq!(*found.lock().unwrap(), expected, "{chunk}");
        }
    }
}
