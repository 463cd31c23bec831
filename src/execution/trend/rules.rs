//! The rule that decides what has moved.

use super::statistics::{hypergeometric_tail, mann_whitney, median, percentile_95};
use super::{Figures, Level, Observation, PERIODS, What};

/// The minimum runs of a node in the last period.
pub const MIN_LAST: usize = 20;

/// The minimum runs of all earlier periods, and of an earlier one that counts; and how many must count.
const MIN_EARLIER: usize = 60;
const MIN_OF_PERIOD: usize = 20;
const MIN_PERIODS: usize = 3;

/// How far a median must be beyond that of every single earlier period.
const BEYOND: f64 = 1.25;

/// The minimum z of Mann-Whitney.
const MIN_Z: f64 = 4.0;

/// The minimum factor and points of a share, and the minimum number of cases.
const SHARE_FACTOR: f64 = 2.0;
const SHARE_POINTS: f64 = 0.05;
const MIN_CASES: usize = 3;

/// The chance must be below this.
const CHANCE: f64 = 0.0001;

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    /// Milliseconds of successful runs.
    Ms,
    /// Items of successful runs.
    Items,
    /// Whether a run failed: 0 or 1.
    Failures,
    /// Whether a successful run output nothing: 0 or 1.
    Empties,
}

impl Measure {
    pub(super) const ALL: [Self; 4] = [Self::Ms, Self::Items, Self::Failures, Self::Empties];

    /// The value of a run, if it counts.
    pub(super) fn of(self, run: &Observation) -> Option<u32> {
        match self {
            Self::Failures => Some(u32::from(run.failed)),
            _ if run.failed => None,
            Self::Ms => Some(run.ms),
            Self::Items => Some(run.items),
            Self::Empties => Some(u32::from(run.items == 0)),
        }
    }
}

/// The values of each period, in ascending order.
#[derive(Debug)]
pub(super) struct Sample {
    earlier: [Vec<u32>; PERIODS as usize - 1],
    last: Vec<u32>,
}

/// How far a median must move.
struct Least {
    factor: f64,
    /// In the unit of the values.
    distance: f64,
    up: What,
    down: What,
}

const MS: Least = Least { factor: 1.5, distance: 100.0, up: What::Slower, down: What::Faster };
const ITEMS: Least = Least { factor: 2.0, distance: 5.0, up: What::MoreItems, down: What::FewerItems };

impl Sample {
    /// The values of a measure for these runs.
    pub(super) fn of(runs: &[Observation], measure: Measure) -> Self {
        let mut sample = Self { earlier: Default::default(), last: Vec::new() };
        for run in runs {
            if let Some(value) = measure.of(run) {
                sample.earlier.get_mut(usize::from(run.period)).unwrap_or(&mut sample.last).push(value);
            }
        }
        sample.earlier.iter_mut().chain([&mut sample.last]).for_each(|values| values.sort_unstable());
        sample
    }

    /// The median of each period, the earliest first; `None` without runs.
    pub(super) fn medians(&self) -> impl Iterator<Item = Option<f64>> {
        self.earlier.iter().chain([&self.last]).map(|values| median(values))
    }

    /// Whether there are enough runs to judge them.
    pub(super) fn is_enough(&self) -> bool {
        let lens = || self.earlier.iter().map(Vec::len);
        self.last.len() >= MIN_LAST
            && lens().sum::<usize>() >= MIN_EARLIER
            && lens().filter(|len| *len >= MIN_OF_PERIOD).count() >= MIN_PERIODS
    }

    /// Whether the node ran often enough in every earlier period, and not at all in the last one.
    pub(super) fn has_stopped(&self) -> bool {
        self.last.is_empty() && self.earlier.iter().all(|values| values.len() >= MIN_OF_PERIOD)
    }

    /// What has moved, with the levels before and after.
    pub(super) fn moved(&self, measure: Measure) -> Option<(What, Level, Level)> {
        if !self.is_enough() {
            return None;
        }
        match measure {
            Measure::Ms => self.moved_median(&MS),
            Measure::Items => self.moved_median(&ITEMS),
            Measure::Failures => self.moved_share(What::Failing),
            Measure::Empties => self.moved_share(What::Empty),
        }
    }

    fn moved_median(&self, least: &Least) -> Option<(What, Level, Level)> {
        let mut before = self.earlier.concat();
        before.sort_unstable();
        let (old, new) = (median(&before)?, median(&self.last)?);
        let z = mann_whitney(&before, &self.last);
        let (what, z, is_beyond): (_, _, fn(f64, f64, f64) -> bool) = if new > old {
            (least.up, z, |new, old, factor| new >= old * factor)
        } else {
            (least.down, -z, |new, old, factor| new * factor <= old)
        };
        let mut each = self.earlier.iter().filter_map(|values| median(values));
        let is_moved = z >= MIN_Z
            && is_beyond(new, old, least.factor)
            && (new - old).abs() >= least.distance
            && each.all(|old| is_beyond(new, old, BEYOND));
        is_moved.then_some((what, spread(&before)?, spread(&self.last)?))
    }

    fn moved_share(&self, what: What) -> Option<(What, Level, Level)> {
        let (before, after) = (cases(self.earlier.iter().flatten()), cases(&self.last));
        let mut each = self.earlier.iter().filter(|values| !values.is_empty()).map(|values| cases(values).share());
        let is_moved = after.share() >= SHARE_FACTOR * before.share()
            && after.share() - before.share() >= SHARE_POINTS
            && after.count >= MIN_CASES
            && each.all(|share| after.share() > share)
            && hypergeometric_tail(after.count, after.runs, before.count + after.count, before.runs + after.runs)
                < CHANCE;
        is_moved.then_some((what, before.level(), after.level()))
    }
}

fn spread(values: &[u32]) -> Option<Level> {
    let figures = Figures::Spread { p50: median(values)?, p95: percentile_95(values)? };
    Some(Level { runs: values.len(), figures })
}

/// How many of some runs are 1.
struct Cases {
    runs: usize,
    count: usize,
}

fn cases<'a>(values: impl IntoIterator<Item = &'a u32>) -> Cases {
    values.into_iter().fold(Cases { runs: 0, count: 0 }, |cases, value| Cases {
        runs: cases.runs + 1,
        count: cases.count + usize::from(*value > 0),
    })
}

impl Cases {
    fn share(&self) -> f64 {
        self.count as f64 / self.runs.max(1) as f64
    }

    fn level(&self) -> Level {
        Level { runs: self.runs, figures: Figures::Cases { count: self.count, share: self.share() } }
    }
}
