//! A set of a node's runs.

/// Fewer ranges are not sorted while runs are added.
const MIN_RANGES: usize = 1024;

/// A set of a node's runs, as ranges: a loop names one run after the other, which is one range however often it runs.
#[derive(Clone, Debug, Default)]
pub(super) struct RunSet {
    /// The first and the last run of each range.
    ranges: Vec<(u32, u32)>,
    /// How many ranges there may be before they are sorted.
    room: usize,
}

impl RunSet {
    /// Adds a run. No body has one beyond the range of 32 bits.
    pub(super) fn add(&mut self, run: u64) {
        let Ok(run) = u32::try_from(run) else { return };
        match self.ranges.last_mut() {
            Some((first, last)) if (*first..=last.saturating_add(1)).contains(&run) => *last = run.max(*last),
            _ => self.push(run),
        }
    }

    fn push(&mut self, run: u32) {
        if self.ranges.len() >= self.room.max(MIN_RANGES) {
            self.sort();
            self.room = 2 * self.ranges.len();
        }
        self.ranges.push((run, run));
    }

    /// Sorts the ranges, and joins those that touch.
    pub(super) fn sort(&mut self) {
        self.ranges.sort_unstable();
        self.ranges.dedup_by(|next, range| {
            let touches = next.0 <= range.1.saturating_add(1);
            if touches {
                range.1 = range.1.max(next.1);
            }
            touches
        });
    }

    /// How many bytes the ranges take.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.ranges[..])
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Whether it has this run; it must be [sorted](Self::sort).
    pub(super) fn contains(&self, run: u64) -> bool {
        let before = self.ranges.partition_point(|(first, _)| u64::from(*first) <= run);
        before.checked_sub(1).is_some_and(|at| run <= u64::from(self.ranges[at].1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_held_in_any_order() {
        let mut set = RunSet::default();
        let runs = [5, 6, 6, 5, 1, 0, 9, 7, u64::MAX, u64::from(u32::MAX)];
        runs.iter().for_each(|run| set.add(*run));
        set.sort();
        assert_eq!(set.ranges, [(0, 1), (5, 7), (9, 9), (u32::MAX, u32::MAX)]);
        let has = |run: &u64| set.contains(*run);
        assert!([0, 1, 5, 6, 7, 9].iter().all(has) && ![2, 4, 8, 10, u64::MAX].iter().any(has));
    }

    #[test]
    fn a_loop_is_one_range_and_disorder_is_sorted_now_and_then() {
        let (mut all, mut mixed) = (RunSet::default(), RunSet::default());
        (0..300_000).for_each(|run| all.add(run));
        (0..300_000).for_each(|at| mixed.add(at * 7919 % 300_000));
        assert_eq!(all.ranges, [(0, 299_999)]);
        mixed.sort();
        assert_eq!(mixed.ranges, all.ranges);
    }
}
