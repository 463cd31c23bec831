//! Sets of the items of a node that can be compared without being held.

use super::NodePlace;

/// Where an item is, and its number among the items of the node.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::execution) struct NumberedPlace {
    pub(in crate::execution) place: NodePlace,
    /// Its number among all items that were read, from 1.
    pub(super) number: u64,
    /// A hash of the number.
    hash: u64,
}

impl NumberedPlace {
    pub(super) fn new(number: u64, place: NodePlace) -> Self {
        Self { place, number, hash: mix(number) }
    }
}

/// A set of items. Two sets are almost certainly the same if they have the same `len` and `hash`.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::execution) struct ItemSet {
    /// How many items there are.
    pub(in crate::execution) len: u64,
    /// The sum of their hashes, which does not depend on their order.
    hash: u64,
    /// The number of the last one.
    last: u64,
}

impl ItemSet {
    /// Adds an item, unless it is the last one.
    #[inline]
    pub(super) fn add(&mut self, item: &NumberedPlace) {
        if self.last != item.number {
            self.last = item.number;
            self.len += 1;
            self.hash = self.hash.wrapping_add(item.hash);
        }
    }

    /// The items of `all` that are not in this set.
    pub(super) fn complement(self, all: Self) -> Self {
        Self { len: all.len - self.len, hash: all.hash.wrapping_sub(self.hash), last: 0 }
    }

    /// What distinguishes it from other sets.
    pub(super) fn key(self) -> (u64, u64) {
        (self.len, self.hash)
    }

    /// The number of the last item.
    pub(super) fn last(self) -> u64 {
        self.last
    }
}

/// Spreads a number over all bits: the finalizer of SplitMix64.
fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(items: &[u64]) -> ItemSet {
        let mut set = ItemSet::default();
        items.iter().for_each(|item| set.add(&NumberedPlace::new(*item, NodePlace::default())));
        set
    }

    #[test]
    fn a_set_depends_on_its_items_alone() {
        assert_eq!(set(&[1, 2, 2, 3]).key(), set(&[3, 1, 2]).key());
        assert_ne!(set(&[1, 4]).key(), set(&[2, 3]).key());
        assert_ne!(set(&[1]).key(), set(&[1, 2]).key());
        assert_eq!(set(&[2, 3]).complement(set(&[1, 2, 3, 4])).key(), set(&[1, 4]).key());
    }
}
