//! The rule that decides whether a value is an outlier.
//!
//! With at least 20 values, the rare groups are outliers if they are at most 2 % (at least 1, at most 5), and each other
//! group has at least ten times as many. Values are grouped by, in this order: their kind; being there at all; the value,
//! where there are at most 12; the pattern of a string, where there are at most 12; the length of an array, if there are at most 12. The
//! first criterion that finds something decides.

use super::NodePlace;
use super::item_set::{ItemSet, NumberedPlace};

/// Fewer values have no outlier.
const MIN_VALUES: u64 = 20;

/// A value that differs from almost all others with its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outlier {
    /// Where it is.
    pub place: NodePlace,
    /// The value as JSON, shortened; `None` if it is missing there.
    pub value: Option<String>,
}

/// The maximum number of outliers.
const MAX_OUTLIERS: u64 = 5;

/// How many times larger each common group is.
const COMMON: u64 = 10;

/// Whether the differing values are few enough to be outliers.
pub(super) fn few(differing: u64, values: u64) -> bool {
    values >= MIN_VALUES && (1..=(values / 50).clamp(1, MAX_OUTLIERS)).contains(&differing)
}

/// Values in groups, up to a number of groups.
#[derive(Debug)]
pub(super) struct Groups<K> {
    most: usize,
    groups: Vec<Group<K>>,
    /// Whether there are more groups; then none is counted any longer.
    is_full: bool,
}

/// Values that are alike.
#[derive(Debug)]
pub(super) struct Group<K> {
    key: K,
    pub count: u64,
    /// The items that have one.
    pub items: ItemSet,
    pub first: NodePlace,
    /// The first of them, as JSON.
    pub shown: String,
}

impl<K> Groups<K> {
    pub(super) fn new(most: usize) -> Self {
        Self { most, groups: Vec::new(), is_full: false }
    }

    /// Groups that are not wanted: none is counted.
    pub(super) fn full() -> Self {
        Self { most: 0, groups: Vec::new(), is_full: true }
    }

    /// Counts a value of the group whose key `is` this one; otherwise of a new group. Returns the number of the group, if
    /// there is one.
    pub(super) fn add(
        &mut self,
        is: impl Fn(&K) -> bool,
        key: impl FnOnce() -> K,
        place: &NumberedPlace,
        shown: impl FnOnce() -> String,
    ) -> Option<usize> {
        if self.is_full {
            return None;
        }
        let known = self.find(is);
        if known.is_some() {
            self.count(known, place);
        } else if self.groups.len() < self.most {
            let mut items = ItemSet::default();
            items.add(place);
            self.groups.push(Group { key: key(), count: 1, items, first: place.place, shown: shown() });
            return Some(self.groups.len() - 1);
        } else {
            self.overflow();
        }
        known
    }

    /// Sets how many values the only group has, and the items that have one.
    pub(super) fn set_only(&mut self, count: u64, items: ItemSet) {
        if let [only] = &mut self.groups[..] {
            (only.count, only.items) = (count, items);
        }
    }

    /// The number of the group whose key `is` this one.
    pub(super) fn find(&self, is: impl Fn(&K) -> bool) -> Option<usize> {
        self.groups.iter().position(|group| is(&group.key))
    }

    /// Counts another value of a group, if it is still counted.
    pub(super) fn count(&mut self, group: Option<usize>, place: &NumberedPlace) {
        if let Some(group) = group.and_then(|group| self.groups.get_mut(group)) {
            group.count += 1;
            group.items.add(place);
        }
    }

    /// Counts more values of a group, if it is still counted, without their items.
    pub(super) fn count_more(&mut self, group: Option<usize>, more: u64) {
        if let Some(group) = group.and_then(|group| self.groups.get_mut(group)) {
            group.count += more;
        }
    }

    /// Whether another group would be one too many.
    pub(super) fn has_no_room(&self) -> bool {
        self.groups.len() == self.most
    }

    /// The key of a group.
    pub(super) fn key(&self, group: usize) -> Option<&K> {
        self.groups.get(group).map(|group| &group.key)
    }

    /// Stops counting: there are too many groups.
    pub(super) fn overflow(&mut self) {
        (self.is_full, self.groups) = (true, Vec::new());
    }

    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    pub(super) fn len(&self) -> usize {
        self.groups.len()
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (&K, &Group<K>)> {
        self.groups.iter().map(|group| (&group.key, group))
    }

    /// The very first value.
    pub(super) fn first(&self) -> Option<Outlier> {
        self.groups.first().map(Group::outlier)
    }

    /// The first value of a rare group, if few enough are in one and all other groups are common.
    pub(super) fn outlier(&self) -> Option<Outlier> {
        let total = self.groups.iter().map(|group| group.count).sum();
        let rare = || self.groups.iter().filter(|group| group.count <= MAX_OUTLIERS);
        let differing = rare().map(|group| group.count).sum();
        let mut common = self.groups.iter().filter(|group| group.count > MAX_OUTLIERS);
        let is_outlier = few(differing, total) && common.all(|group| group.count >= COMMON * differing);
        // Groups are in the order of their first values.
        rare().next().filter(|_| is_outlier).map(Group::outlier)
    }
}

impl<K> Group<K> {
    pub(super) fn outlier(&self) -> Outlier {
        Outlier { place: self.first, value: Some(self.shown.clone()) }
    }
}

#[cfg(test)]
mod tests {
    use super::few;

    #[test]
    fn few_are_at_most_two_percent() {
        for (differing, values, expected) in [
            (1, 20, true),
            (1, 19, false),
            (2, 99, false),
            (2, 100, true),
            (5, 250, true),
            (6, 1000, false),
            (0, 100, false),
        ] {
            assert_eq!(few(differing, values), expected, "{differing} of {values}");
        }
    }
}
