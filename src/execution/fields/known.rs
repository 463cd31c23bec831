//! Finds values that were there before, as most were, by how they are written.

use crate::json::Written;

/// Twice the most values of a path, so that few have the same slot.
const SLOTS: usize = 128;

/// Where the values of a path are among its groups: a hash table with open addresses.
#[derive(Debug)]
pub(super) struct Known {
    /// The number of a group, counted from 1; 0 in a free slot.
    slots: [u8; SLOTS],
}

impl Default for Known {
    fn default() -> Self {
        Self { slots: [0; SLOTS] }
    }
}

impl Known {
    /// The group that `is` the one of a value.
    pub(super) fn find(&self, written: Written<'_>, is: impl Fn(usize) -> bool) -> Option<usize> {
        let groups = slots(written).map(|slot| usize::from(self.slots[slot]));
        groups.take_while(|group| *group > 0).map(|group| group - 1).find(|group| is(*group))
    }

    /// Notes where a value is. There must be fewer than there are slots.
    pub(super) fn add(&mut self, written: Written<'_>, group: usize) {
        if let Some(free) = slots(written).find(|slot| self.slots[*slot] == 0) {
            self.slots[free] = group as u8 + 1;
        }
    }
}

/// The slots of a value, in the order in which they are tried.
fn slots(written: Written<'_>) -> impl Iterator<Item = usize> {
    // The highest bits of a product depend on all bits of its factors.
    let first = (written.fingerprint() >> (u64::BITS - SLOTS.ilog2())) as usize;
    (first..SLOTS).chain(0..first)
}
