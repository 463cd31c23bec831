//! Where in a flatted text a byte is: digits are the indices of elements in most places, and values only in some.

use crate::json::block::{BLOCK, STRIDE, Scanner, StringsAndContainers};

/// Where a byte of a flatted text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a string that is an element, or its opening quote.
    String,
    /// In an object or an array, but in no string of it: in a number or a literal, or between values.
    Scalar,
    /// In an index, in the name of a member, or between elements.
    Other,
}

/// Finds out where bytes are, from the beginning of a text to its end.
///
/// ```
/// use n8n_lens::json::flatted::{Place, Places};
///
/// let text = br#"[{"a7":"7","b":7},"x7"]"#;
/// let sevens = [4, 8, 15, 20];
/// let mut found = Vec::new();
/// Places::at_beginning().any(text, sevens, |_, place| {
///     found.push(place);
///     false
/// });
/// assert_eq!(found, [Place::Other, Place::Other, Place::Scalar, Place::String]);
/// ```
pub struct Places {
    scanner: Scanner,
    masks: StringsAndContainers,
    is_first: bool,
}

impl Places {
    /// At the beginning of a text.
    pub fn at_beginning() -> Self {
        Self { scanner: Scanner::new(), masks: StringsAndContainers::new(), is_first: true }
    }

    /// Passes over the next bytes. Returns whether `judge` accepts one of the `wanted` ones, in ascending order, with
    /// its place.
    pub fn any(
        &mut self,
        bytes: &[u8],
        wanted: impl IntoIterator<Item = usize>,
        mut judge: impl FnMut(usize, Place) -> bool,
    ) -> bool {
        // The outer bracket is not scanned, so that what is in it counts as outside of containers.
        let first = usize::from(std::mem::take(&mut self.is_first)).min(bytes.len());
        let mut wanted = wanted.into_iter().skip_while(|at| *at < first).peekable();
        for (number, stride) in bytes[first..].chunks(STRIDE).enumerate() {
            self.scanner.scan(stride, &mut self.masks);
            let begin = first + number * STRIDE;
            while let Some(at) = wanted.next_if(|at| *at < begin + stride.len()) {
                if judge(at, self.masks.place(at - begin)) {
                    return true;
                }
            }
        }
        false
    }
}

impl StringsAndContainers {
    fn place(&self, at: usize) -> Place {
        let is_in = |mask: &[u64]| mask[at / BLOCK] >> (at % BLOCK) & 1 == 1;
        match (is_in(&self.strings), is_in(&self.containers)) {
            (true, false) => Place::String,
            (false, true) => Place::Scalar,
            _ => Place::Other,
        }
    }
}
