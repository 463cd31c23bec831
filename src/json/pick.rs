//! Decides by their text which elements of an array are captured.

use super::marks::Marks;
use super::prefilter::Prefilter;

/// Decides which containers in a [`Keep::Window`](super::Keep::Window) are captured; the others are only counted.
///
/// It is asked in the order of the text, but not about elements that are captured anyway: strings, numbers and literals,
/// and what is larger than 1 MiB.
pub trait Pick: Send {
    /// Whether this element is captured: `array` is the number of the array, counted over the whole text, `index` its
    /// place in it, `json` its text.
    fn picks(&mut self, array: u64, index: u64, json: &[u8]) -> bool;

    /// Whether [`picks_marked`](Self::picks_marked) and [`begin_member`](Self::begin_member) are called.
    fn reads_marks(&self) -> bool {
        false
    }

    /// Like [`picks`](Self::picks), with the marks of the element's text.
    fn picks_marked(&mut self, array: u64, index: u64, json: &[u8], _: Marks<'_>) -> bool {
        self.picks(array, index, json)
    }

    /// The member with this name of the outermost [`Keep::EachMember`](super::Keep::EachMember) follows.
    fn begin_member(&mut self, _: &str) {}
}

impl Pick for Prefilter {
    fn picks(&mut self, _: u64, _: u64, json: &[u8]) -> bool {
        self.may_be_in(json)
    }
}
