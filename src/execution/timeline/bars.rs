//! The runs of one node on a time axis, added up where they are too narrow to be seen.

/// One run of a node, or several short ones that follow each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// When the first of them began, milliseconds since 1970.
    pub from: f64,
    /// When the last of them ended, milliseconds since 1970.
    pub to: f64,
    /// The first of them, from 0.
    pub run: u64,
    /// How many there are.
    pub runs: u64,
    /// How many of them failed: all or none.
    pub failed: u64,
    /// The items in their outputs.
    pub items: u64,
    /// How long they took together, ms.
    pub ms: u64,
}

impl Bar {
    /// Where it is on an axis whose slots are this many milliseconds wide.
    fn slot(&self, width: f64) -> f64 {
        (self.from / width).floor()
    }

    /// Whether both are too narrow to be distinguished. A failed run is never hidden in one that succeeded.
    fn joins(&self, other: &Self, width: f64) -> bool {
        let is_narrow = |bar: &Self| bar.to - bar.from < width;
        is_narrow(self)
            && is_narrow(other)
            && (self.failed > 0) == (other.failed > 0)
            && self.slot(width) == other.slot(width)
    }

    fn join(&mut self, other: &Self) {
        self.from = self.from.min(other.from);
        self.to = self.to.max(other.to);
        self.run = self.run.min(other.run);
        self.runs += other.runs;
        self.failed += other.failed;
        self.items = self.items.saturating_add(other.items);
        self.ms = self.ms.saturating_add(other.ms);
    }
}

/// The bars of a node, at most as many as requested.
#[derive(Clone, Debug)]
pub(super) struct Bars {
    bars: Vec<Bar>,
    /// The width of a slot, ms: it doubles whenever there are too many bars.
    width: f64,
}

/// n8n counts whole milliseconds.
const MIN_WIDTH: f64 = 1.0;

impl Default for Bars {
    fn default() -> Self {
        Self { bars: Vec::new(), width: MIN_WIDTH }
    }
}

impl Bars {
    /// Adds a run, and keeps at most `most` bars.
    pub(super) fn add(&mut self, run: Bar, most: usize) {
        self.put(run);
        self.shrink(most);
    }

    /// Joins bars until there are at most `most`, which is at least 2.
    pub(super) fn shrink(&mut self, most: usize) {
        while self.bars.len() > most.max(2) && self.width < f64::MAX / 2.0 {
            self.width *= 2.0;
            for bar in std::mem::take(&mut self.bars) {
                self.put(bar);
            }
        }
    }

    fn put(&mut self, bar: Bar) {
        // The last two bars of a slot are the failed runs and the others.
        match self.bars.iter_mut().rev().take(2).find(|last| last.joins(&bar, self.width)) {
            Some(last) => last.join(&bar),
            None => self.bars.push(bar),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.bars.len()
    }

    pub(super) fn into_bars(self) -> Vec<Bar> {
        self.bars
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(run: u64, from: f64, ms: u64, failed: bool) -> Bar {
        Bar { from, to: from + ms as f64, run, runs: 1, failed: failed.into(), items: 2, ms }
    }

    fn bars(runs: &[Bar], most: usize) -> Vec<Bar> {
        let mut bars = Bars::default();
        runs.iter().for_each(|run| bars.add(*run, most));
        bars.into_bars()
    }

    #[test]
    fn few_runs_have_a_bar_each() {
        let runs: Vec<_> = (0..10).map(|at| run(at, 1e12 + at as f64 * 10.0, 5, at == 3)).collect();
        assert_eq!(bars(&runs, 20), runs);
    }

    #[test]
    fn many_runs_are_added_up_and_those_that_failed_have_bars_of_their_own() {
        let runs: Vec<_> = (0..300_000).map(|at| run(at, 1e12 + at as f64 * 3.0, 2, at == 150_000)).collect();
        let bars = bars(&runs, 500);
        assert!((100..=500).contains(&bars.len()), "{}", bars.len());
        assert_eq!(bars.iter().map(|bar| bar.runs).sum::<u64>(), 300_000);
        assert_eq!(bars.iter().map(|bar| bar.items).sum::<u64>(), 600_000);
        let failed: Vec<_> = bars.iter().filter(|bar| bar.failed > 0).collect();
        assert_eq!(failed, [&run(150_000, 1e12 + 450_000.0, 2, true)]);
    }

    #[test]
    fn runs_at_odd_times_end() {
        let times = [f64::MAX, f64::MIN, 0.0, -1.0, 1e300, f64::NAN, f64::INFINITY];
        let runs: Vec<_> = (0..70).map(|at| run(at, times[at as usize % 7], 5, at % 2 == 0)).collect();
        assert_eq!(bars(&runs, 4).iter().map(|bar| bar.runs).sum::<u64>(), 70);
    }
}
