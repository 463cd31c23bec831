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

    /// Whether [`looks_at`](Self::looks_at) and [`begin_member`](Self::begin_member) are called.
    fn reads_marks(&self) -> bool {
        false
    }

    /// Like [`picks`](Self::picks), where the filter [trusts the body](super::Pruner::trusting_body): the element begins `text`,
    /// which can end before it, or after it. Returns where the element ends, and whether it is captured; `None` if that cannot be
    /// told by the marks, and [`picks`](Self::picks) decides once its end is known.
    fn looks_at(&mut self, _array: u64, _index: u64, _text: &[u8], _: Marks<'_>) -> Option<(usize, bool)> {
        None
    }

    /// The member with this name of the outermost [`Keep::EachMember`](super::Keep::EachMember) follows.
    fn begin_member(&mut self, _: &str) {}
}

impl Pick for Prefilter {
    fn picks(&mut self, _: u64, _: u64, json: &[u8]) -> bool {
        self.may_be_in(json)
    }
}
