//! The kinds of the bytes of a flatted text: digits are the indices of elements in most places, and values only in some.

use crate::json::block::{BLOCK, STRIDE, Scanner, StringsAndContainers};

/// What a byte of a flatted text belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteKind {
    /// In a string that is an element, or its opening quote.
    String,
    /// In an object or an array, but in no string of it: in a number or a literal, or between values.
    Scalar,
    /// In an index, in the name of a member, or between elements.
    Other,
}

/// Finds out the kinds of bytes, from the beginning of a text to its end.
///
/// ```
/// use n8n_lens::json::flatted::{ByteKind, ByteKinds};
///
/// let text = br#"[{"a7":"7","b":7},"x7"]"#;
/// let sevens = [4, 8, 15, 20];
/// let mut found = Vec::new();
/// ByteKinds::at_beginning().any(text, sevens, |_, kind| {
///     found.push(kind);
///     false
/// });
/// assert_eq!(found, [ByteKind::Other, ByteKind::Other, ByteKind::Scalar, ByteKind::String]);
/// ```
pub struct ByteKinds {
    scanner: Scanner,
    masks: StringsAndContainers,
    is_first: bool,
}

impl ByteKinds {
    /// At the beginning of a text.
    pub fn at_beginning() -> Self {
        Self { scanner: Scanner::new(), masks: StringsAndContainers::new(), is_first: true }
    }

    /// Passes over the next bytes. Returns whether `accepts` is true of one of the `wanted` ones, in ascending order, and its
    /// kind.
    pub fn any(
        &mut self,
        bytes: &[u8],
        wanted: impl IntoIterator<Item = usize>,
        mut accepts: impl FnMut(usize, ByteKind) -> bool,
    ) -> bool {
        // The outer bracket is not scanned, so that what is in it counts as outside of containers.
        let first = usize::from(std::mem::take(&mut self.is_first)).min(bytes.len());
        let mut wanted = wanted.into_iter().skip_while(|at| *at < first).peekable();
        for (number, stride) in bytes[first..].chunks(STRIDE).enumerate() {
            self.scanner.scan(stride, &mut self.masks);
            let begin = first + number * STRIDE;
            while let Some(at) = wanted.next_if(|at| *at < begin + stride.len()) {
                if accepts(at, self.masks.kind(at - begin)) {
                    return true;
                }
            }
        }
        false
    }
}

impl StringsAndContainers {
    fn kind(&self, at: usize) -> ByteKind {
        let is_in = |mask: &[u64]| mask[at / BLOCK] >> (at % BLOCK) & 1 == 1;
        match (is_in(&self.strings), is_in(&self.containers)) {
            (true, false) => ByteKind::String,
            (false, true) => ByteKind::Scalar,
            _ => ByteKind::Other,
        }
    }
}
