//! Which elements of an array are captured, decided by what is written in them.

use super::prefilter::Prefilter;

/// Decides which containers in a [`Keep::Window`](super::Keep::Window) are captured; the others are only counted.
///
/// It is asked in the order of the text, but not about elements that are captured anyway: strings, numbers and literals,
/// and what is larger than 1 MiB.
pub trait Pick: Send {
    /// Whether this element is captured: `array` is the number of the array, counted over the whole text, `index` its
    /// place in it, `json` its text.
    fn picks(&mut self, array: u64, index: u64, json: &[u8]) -> bool;
}

impl Pick for Prefilter {
    fn picks(&mut self, _: u64, _: u64, json: &[u8]) -> bool {
        self.may_be_in(json)
    }
}
