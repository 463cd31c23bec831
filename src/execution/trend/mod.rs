//! What has moved at the nodes of a workflow: the last period against the seven of the same length before it.
//!
//! A node is judged if it ran at least 20 times in the last period, 60 times in the seven, and 20 times in at least
//! three of them. Measures of successful runs are judged if there are as many of those alone; without them, a node that
//! does not fail more often has run too rarely to be judged.
//!
//! | moved | conditions, all of a row |
//! |---|---|
//! | [`Slower`](What::Slower), [`Faster`](What::Faster): ms of successful runs | the median by a factor of 1.5 and by 100 ms; beyond the median of every single earlier period by a factor of 1.25; Mann-Whitney z of at least 4, ties corrected |
//! | [`MoreItems`](What::MoreItems), [`FewerItems`](What::FewerItems): items of successful runs | the same with a factor of 2 and 5 items |
//! | [`Failing`](What::Failing): of all runs; [`Empty`](What::Empty): of successful runs | the share by a factor of 2 and by 5 points; at least 3 cases; above the share of every single earlier period; exact hypergeometric tail below 0.0001 |
//! | [`Stopped`](What::Stopped) | no run in the last period; at least 20 in each of the seven |
//!
//! A node that is `Empty` is not reported as `FewerItems`, too: it would be the same change twice. A median must differ
//! by 100 ms or 5 items; to reach these is not enough.
//!
//! Independent noise is not a movement; a level that wanders from hour to hour is one. The condition on every single
//! earlier period is for such levels; the two tests are for chance. The 95th percentile is shown and never judged: it
//! jumps where a few runs in a hundred are slow.

mod change;
mod rules;
mod statistics;

#[cfg(test)]
mod tests;

use indexmap::IndexMap;

use self::change::since;
pub use self::rules::MIN_LAST;
use self::rules::{Measure, Sample};

/// How many periods there are: the last one, and the seven before it.
pub const PERIODS: u8 = 8;

/// The maximum number of observations held, 16 bytes each. 20,000 executions of 50 nodes make as many.
pub const MAX_OBSERVATIONS: usize = 1_000_000;

/// One run of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observation {
    /// The execution, by a number of the caller's.
    pub execution: u32,
    /// How long it took, in milliseconds.
    pub ms: u32,
    /// How many items it output; none is [`What::Empty`].
    pub items: u32,
    /// The version of the workflow, by a number of the caller's; always the same one if versions are unknown.
    pub version: u16,
    /// When it ran: 0 for the earliest period, 7 for the last.
    pub period: u8,
    /// Whether it failed.
    pub failed: bool,
}

/// The runs of all nodes.
///
/// ```
/// use n8n_lens::execution::trend::{Observation, Trend, What};
///
/// let mut trend = Trend::default();
/// for execution in 0..240 {
///     let (period, failed) = ((execution / 30) as u8, execution >= 215);
///     trend.push("Ship", Observation { execution, ms: 300, items: 1, version: 0, period, failed });
/// }
/// let movements = trend.finish();
/// assert_eq!(movements.moved[0].what, What::Failing);
/// assert_eq!(movements.moved[0].since.execution, 215);
/// ```
#[derive(Debug, Default)]
pub struct Trend {
    nodes: IndexMap<String, Vec<Observation>>,
    observations: usize,
}

/// What moved, and what did not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Movements {
    /// What moved, in the order in which the nodes were first seen; a node can move in several ways.
    pub moved: Vec<Moved>,
    /// How many nodes were judged and did not move.
    pub steady: usize,
    /// The nodes that ran, or succeeded, too rarely to be judged.
    pub too_few: Vec<String>,
}

/// A movement of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct Moved {
    /// The node's name.
    pub node: String,
    /// What moved.
    pub what: What,
    /// The seven periods.
    pub before: Level,
    /// The last period.
    pub after: Level,
    /// When it began.
    pub since: Since,
}

/// A node through all periods.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The node's name.
    pub node: String,
    /// The earliest period first.
    pub periods: [Point; PERIODS as usize],
}

/// A node in one period.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// How often it ran.
    pub runs: usize,
    /// How many of these runs failed.
    pub failed: usize,
    /// The median of the milliseconds of successful runs.
    pub ms: Option<f64>,
    /// The median of their items.
    pub items: Option<f64>,
}

impl Line {
    fn of(node: &str, runs: &[Observation]) -> Self {
        let mut periods = [Point::default(); PERIODS as usize];
        for run in runs {
            if let Some(point) = periods.get_mut(usize::from(run.period)) {
                point.runs += 1;
                point.failed += usize::from(run.failed);
            }
        }
        let (ms, items) = (Sample::of(runs, Measure::Ms), Sample::of(runs, Measure::Items));
        for (point, (ms, items)) in periods.iter_mut().zip(ms.medians().zip(items.medians())) {
            (point.ms, point.items) = (ms, items);
        }
        Self { node: node.to_owned(), periods }
    }
}

/// What can move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// Successful runs take longer.
    Slower,
    /// Successful runs take less time.
    Faster,
    /// Successful runs output more items.
    MoreItems,
    /// Successful runs output fewer items.
    FewerItems,
    /// More runs fail.
    Failing,
    /// More successful runs output nothing.
    Empty,
    /// It does not run any more.
    Stopped,
}

/// Runs of some periods.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// How many there are of what is compared: all runs for [`What::Failing`] and [`What::Stopped`], otherwise successful ones.
    pub runs: usize,
    /// What is compared.
    pub figures: Figures,
}

/// What is compared of runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Figures {
    /// Milliseconds or items: the median (between the middle two of an even number), and the 95th percentile (by nearest rank).
    Spread {
        /// The median.
        p50: f64,
        /// The 95th percentile.
        p95: u32,
    },
    /// Only their number.
    Runs,
    /// Runs that failed or output nothing.
    Cases {
        /// How many.
        count: usize,
        /// Their share, from 0 to 1.
        share: f64,
    },
}

/// The first run after a change, or with the edit next to it; the last one of a node that stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Since {
    /// Its execution.
    pub execution: u32,
    /// The versions before and from this run, if an edit is what changed.
    pub edited: Option<(u16, u16)>,
}

impl What {
    /// Its name in answers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Slower => "slower",
            Self::Faster => "faster",
            Self::MoreItems => "moreItems",
            Self::FewerItems => "fewerItems",
            Self::Failing => "failing",
            Self::Empty => "empty",
            Self::Stopped => "stopped",
        }
    }
}

impl Trend {
    /// Adds a run of a node. Runs of a node come in the order of time. Returns whether it was held: `false` once there are
    /// [`MAX_OBSERVATIONS`], or if its period is not one of the eight. The answer then covers only the runs that are held.
    #[must_use = "a run that was not held is missing in the answer"]
    pub fn push(&mut self, node: &str, observation: Observation) -> bool {
        if self.observations >= MAX_OBSERVATIONS || observation.period >= PERIODS {
            return false;
        }
        self.observations += 1;
        match self.nodes.get_mut(node) {
            Some(runs) => runs.push(observation),
            None => _ = self.nodes.insert(node.to_owned(), vec![observation]),
        }
        true
    }

    /// The runs of each node, period by period, in the order in which the nodes were first seen.
    pub fn lines(&self) -> Vec<Line> {
        self.nodes.iter().map(|(node, runs)| Line::of(node, runs)).collect()
    }

    /// Judges all nodes.
    pub fn finish(self) -> Movements {
        let mut movements = Movements::default();
        for (node, runs) in self.nodes {
            let all = Sample::of(&runs, Measure::Failures);
            if all.has_stopped() {
                movements.moved.extend(stopped(&node, &runs));
                continue;
            }
            if !all.is_enough() {
                movements.too_few.push(node);
                continue;
            }
            let moved = all_moved(&node, &runs);
            // Whether it fails more often is then all that is known of it.
            if moved.is_empty() && !Sample::of(&runs, Measure::Ms).is_enough() {
                movements.too_few.push(node);
                continue;
            }
            movements.steady += usize::from(moved.is_empty());
            movements.moved.extend(moved);
        }
        movements
    }
}

/// What moved at a node. Fewer items are not reported in addition to runs that output none.
fn all_moved(node: &str, runs: &[Observation]) -> Vec<Moved> {
    let mut all: Vec<_> = Measure::ALL.iter().filter_map(|measure| moved(node, runs, *measure)).collect();
    let is_empty = all.iter().any(|one| one.what == What::Empty);
    all.retain(|one| !is_empty || one.what != What::FewerItems);
    all
}

/// The movement of a node that does not run any more.
fn stopped(node: &str, runs: &[Observation]) -> Option<Moved> {
    let level = |runs| Level { runs, figures: Figures::Runs };
    let since = Since { execution: runs.last()?.execution, edited: None };
    let node = node.to_owned();
    Some(Moved { node, what: What::Stopped, before: level(runs.len()), after: level(0), since })
}

/// How a measure of a node's runs moved.
fn moved(node: &str, runs: &[Observation], measure: Measure) -> Option<Moved> {
    let (what, before, after) = Sample::of(runs, measure).moved(measure)?;
    let since = since(runs, measure)?;
    Some(Moved { node: node.to_owned(), what, before, after, since })
}
