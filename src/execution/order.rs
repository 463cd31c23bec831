//! The order of execution.
//!
//! n8n counts the runs of an execution in `executionIndex`. The counter begins at 0 again whenever n8n resumes from
//! stored data: in a retry, after a wait, and when the editor runs a part of a workflow. The runs that n8n recovers
//! after a crash all have 0. In such an execution only the time determines the order. In all others the counter does:
//! several runs start within one millisecond, and a clock can be set back.
//! (`packages/core/src/execution-engine/workflow-execute.ts`,
//! `packages/cli/src/executions/execution-recovery.service.ts`; seen on n8n 2.41.)

use std::cmp::Ordering;

/// When a run started.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Start {
    /// n8n's `executionIndex`, which old versions lack.
    pub index: Option<f64>,
    /// n8n's `startTime`: milliseconds since 1970, seconds in a recovered run.
    pub time: Option<f64>,
}

impl Start {
    /// Milliseconds since 1970.
    pub(super) fn ms(self) -> Option<f64> {
        self.time.map(|time| if self.is_recovered() { time * 1000.0 } else { time })
    }

    /// The latest possible time, milliseconds since 1970. n8n recovers only nodes that started after the saved ones,
    /// so a recovered run comes last in its second.
    pub(super) fn latest_ms(self) -> Option<f64> {
        self.ms().map(|ms| if self.is_recovered() { ms + 999.0 } else { ms })
    }

    /// Whether the items of the run are the placeholders of a recovered one: its time is one in seconds since n8n exists.
    pub(super) fn has_placeholders(self) -> bool {
        /// In 2001.
        const SECONDS_FROM: f64 = 1e9;
        self.is_recovered() && self.time.is_some_and(|time| time >= SECONDS_FROM)
    }

    /// Whether n8n recovered the run from its event log after a crash: such a run has a time in seconds, and its items are
    /// placeholders.
    pub(super) fn is_recovered(self) -> bool {
        /// No n8n ran in 1973.
        const SECONDS_BELOW: f64 = 1e11;
        self.time.is_some_and(|time| time < SECONDS_BELOW)
    }

    /// Whether a counter begins with this run.
    pub(super) fn is_first(self) -> bool {
        self.index == Some(0.0)
    }
}

/// When the runs of a node started.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Starts {
    /// How many runs there are.
    pub runs: u64,
    /// When the first one started.
    pub first: Start,
    /// How many runs are the [first](Start::is_first) of a counter.
    pub counters: u64,
}

impl Starts {
    /// Adds the next run.
    pub(super) fn add(&mut self, run: Start) {
        if self.runs == 0 {
            self.first = run;
        }
        self.runs += 1;
        self.counters += u64::from(run.is_first());
    }
}

/// What determines the order of an execution's runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// `executionIndex`, then `startTime`.
    Counter,
    /// `startTime`, then `executionIndex`.
    Time,
}

impl Order {
    /// The order of an execution in which the runs of all nodes together begin this many counters.
    pub(super) fn new(counters: u64) -> Self {
        if counters > 1 { Self::Time } else { Self::Counter }
    }

    /// Whether a run is known to have started before another one.
    pub(super) fn is_before(self, one: Start, other: Start) -> bool {
        let is_known = match self {
            Self::Counter => other.index.is_some(),
            Self::Time => other.time.is_some(),
        };
        is_known && self.compare(one, other).is_lt()
    }

    /// Compares two runs; what is unknown comes last.
    pub(super) fn compare(self, one: Start, other: Start) -> Ordering {
        let by_counter = || known_first(one.index, other.index);
        match self {
            Self::Counter => by_counter().then_with(|| known_first(one.ms(), other.ms())),
            Self::Time => known_first(one.latest_ms(), other.latest_ms()).then_with(by_counter),
        }
    }
}

fn known_first(one: Option<f64>, other: Option<f64>) -> Ordering {
    match (one, other) {
        (Some(one), Some(other)) => one.total_cmp(&other),
        (one, other) => other.is_some().cmp(&one.is_some()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(index: f64, time: f64) -> Start {
        Start { index: Some(index), time: Some(time) }
    }

    #[test]
    fn the_counter_decides_unless_it_began_again() {
        let (early, late) = (start(1.0, 1_795_226_662_005.0), start(2.0, 1_795_226_662_000.0));
        assert_eq!(Order::new(1).compare(early, late), Ordering::Less, "the clock was set back");
        assert_eq!(Order::new(2).compare(early, late), Ordering::Greater);
        let unknown = Start::default();
        for order in [Order::Counter, Order::Time] {
            assert_eq!(order.compare(early, unknown), Ordering::Less);
        }
    }

    #[test]
    fn a_recovered_run_comes_last_in_its_second() {
        let (saved, recovered) = (start(5.0, 1_795_226_662_900.0), start(0.0, 1_795_226_662.0));
        assert!(recovered.is_recovered() && !saved.is_recovered());
        assert_eq!(recovered.ms(), Some(1_795_226_662_000.0));
        assert_eq!(Order::Time.compare(saved, recovered), Ordering::Less);
        assert_eq!(Order::Time.compare(start(0.0, 1_795_226_663_000.0), recovered), Ordering::Greater);
    }
}
