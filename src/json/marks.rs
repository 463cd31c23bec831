//! Where the quotes and the brackets of an element are, so that a part of it is found without looking at each byte.

use super::block::Masks;

/// Where the quotes and the containers of an element are.
#[derive(Clone, Copy)]
pub struct Marks<'a> {
    pub(super) masks: &'a Masks,
    /// Where the element begins in the bytes that have the masks.
    pub(super) start: usize,
}

impl Marks<'_> {
    /// The first quote at or after this byte that begins or ends a string. It can be after the end of the element.
    #[inline]
    pub fn quote(&self, from: usize) -> Option<usize> {
        Some(self.masks.quote(self.start + from)? - self.start)
    }

    /// Where the container that begins at this byte ends: the index after its bracket. It can be after the end of the element if
    /// its brackets do not match.
    #[inline]
    pub fn end(&self, start: usize) -> Option<usize> {
        Some(self.masks.end(self.start + start + 1, &mut 1)? - self.start)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::json::block::STRIDE;
    use crate::json::{Capture, Keep, Pick, Pruner};

    /// The quotes of an element, and where its containers begin and end.
    type Found = (Vec<usize>, Vec<(usize, usize)>);

    /// Finds the marks of each element, and holds them.
    struct Listener(Arc<Mutex<Vec<Found>>>);

    impl Pick for Listener {
        fn picks(&mut self, _: u64, _: u64, _: &[u8]) -> bool {
            false
        }

        fn reads_marks(&self) -> bool {
            true
        }

        fn looks_at(&mut self, _: u64, _: u64, text: &[u8], marks: Marks<'_>) -> Option<(usize, bool)> {
            let end = marks.end(0)?;
            let json = &text[..end];
            let quotes = std::iter::successors(marks.quote(0), |at| marks.quote(at + 1));
            let quotes: Vec<_> = quotes.take_while(|at| *at < json.len()).collect();
            let is_in_string = |at: usize| quotes.iter().filter(|quote| **quote < at).count() % 2 == 1;
            let starts = (0..json.len()).filter(|at| matches!(json[*at], b'{' | b'[') && !is_in_string(*at));
            let containers = starts.map(|start| (start, marks.end(start).unwrap())).collect();
            self.0.lock().unwrap().push((quotes, containers));
            Some((end, false))
        }
    }

    /// The same, byte by byte.
    fn marks_of(json: &str) -> Found {
        let (mut quotes, mut open, mut containers) = (Vec::new(), Vec::new(), Vec::new());
        let (mut in_string, mut escaped) = (false, false);
        for (at, byte) in json.bytes().enumerate() {
            match byte {
                _ if escaped => {}
                b'"' => {
                    quotes.push(at);
                    in_string = !in_string;
                }
                b'{' | b'[' if !in_string => open.push(at),
                b'}' | b']' if !in_string => containers.push((open.pop().unwrap(), at + 1)),
                _ => {}
            }
            escaped = byte == b'\\' && !escaped;
        }
        containers.sort_unstable();
        (quotes, containers)
    }

    #[test]
    fn quotes_and_containers_are_found_wherever_the_element_lies() {
        let long = "x".repeat(STRIDE - 20);
        let deep = format!("{}{{}}{}", "[".repeat(70), "]".repeat(70));
        let element =
            |at: usize| format!(r#"{{"{}":["a\"[",{{}},[{at}],{deep}],"b":"{long}","c":[[]]}}"#, "y".repeat(at));
        let elements: Vec<_> = (0..40).map(element).collect();
        let json = format!("[{}]", elements.join(","));
        let expected: Vec<_> = elements.iter().map(|element| marks_of(element)).collect();
        for chunk in [json.len(), STRIDE + 1, 1000, 7, 1] {
            let found = Arc::default();
            let capture = Capture::picked(Listener(Arc::clone(&found)));
            let mut pruner = Pruner::new(Keep::Window, 0..u64::MAX).capturing(capture).trusting_body();
            json.as_bytes().chunks(chunk).for_each(|chunk| drop(pruner.feed(chunk).unwrap()));
            pruner.finish().unwrap();
            assert_eq!(*found.lock().unwrap(), expected, "{chunk}");
        }
    }
}
