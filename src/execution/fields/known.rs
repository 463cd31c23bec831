//! Finds values that occurred before, as most did, by their raw text.

use crate::json::Written;

/// Twice the maximum number of values of a path, so that few have the same slot.
const SLOTS: usize = 128;

/// The groups of a path's values: a hash table with open addressing.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The number of a group, counted from 1; 0 in a free slot. Boxed, since it is not needed once there are many values.
    slots: Option<Box<[u8; SLOTS]>>,
}

impl Known {
    /// The group of a value, which `is` confirms.
    #[inline]
    pub(super) fn find(&self, written: Written<'_>, is: impl Fn(usize) -> bool) -> Option<usize> {
        let slots = self.slots.as_deref()?;
        let mut slot = first_slot(written);
        loop {
            let group = usize::from(slots[slot]).checked_sub(1)?;
            if is(group) {
                return Some(group);
            }
            slot = (slot + 1) % SLOTS;
        }
    }

    /// Notes the group of a value. There must be fewer values than slots.
    pub(super) fn add(&mut self, written: Written<'_>, group: usize) {
        let slots = self.slots.get_or_insert_with(|| Box::new([0; SLOTS]));
        let mut slot = first_slot(written);
        while slots[slot] > 0 {
            slot = (slot + 1) % SLOTS;
        }
        slots[slot] = group as u8 + 1;
    }
}

/// The first slot to search for a value: the highest bits of a product depend on all bits of its factors.
fn first_slot(written: Written<'_>) -> usize {
    (written.fingerprint() >> (u64::BITS - SLOTS.ilog2())) as usize
}
