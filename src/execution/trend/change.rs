//! When a movement began.

use super::rules::Measure;
use super::{Observation, Since};

/// How many runs of a node may be between a change and the edit that caused it.
const NEAR_RUNS: usize = 10;

/// The first run after the change of a measure.
///
/// It is where the cumulated deviation from the mean, divided by `sqrt(k (n - k))`, is farthest from 0: without the
/// divisor the place is drawn to the middle. Milliseconds count by their logarithm, so that a slow run is not a change.
/// If the version changes at most ten runs away, the change is there.
pub(super) fn since(runs: &[Observation], measure: Measure) -> Option<Since> {
    let change = change(runs, measure)?;
    let edit = edit_near(runs, change);
    let (at, edited) = edit.map_or((change, None), |(at, versions)| (at, Some(versions)));
    runs.get(at).map(|run| Since { execution: run.execution, edited })
}

/// Which run is the first after the change.
fn change(runs: &[Observation], measure: Measure) -> Option<usize> {
    let values = || {
        let counted = runs.iter().enumerate().filter_map(|(at, run)| Some((at, measure.of(run)?)));
        counted.map(|(at, value)| {
            (at, if measure == Measure::Ms { f64::from(value.max(1)).ln() } else { f64::from(value) })
        })
    };
    let (count, sum) = values().fold((0_usize, 0.0), |(count, sum), (_, value)| (count + 1, sum + value));
    let mean = sum / count.max(1) as f64;
    let mut deviation = 0.0_f64;
    let mut most: Option<(f64, usize)> = None;
    for (before, (at, value)) in values().enumerate() {
        if before > 0 {
            let distance = deviation.abs() / ((before * (count - before)) as f64).sqrt();
            if most.is_none_or(|(most, _)| distance > most) {
                most = Some((distance, at));
            }
        }
        deviation += value - mean;
    }
    most.map(|(_, at)| at)
}

/// The nearest run with another version than the one before it, with both versions.
fn edit_near(runs: &[Observation], change: usize) -> Option<(usize, (u16, u16))> {
    let pairs = runs.iter().zip(runs.iter().skip(1)).enumerate();
    let edits = pairs.filter(|(_, (one, next))| one.version != next.version);
    let near = edits.map(|(at, (one, next))| (at + 1, (one.version, next.version)));
    near.filter(|(at, _)| at.abs_diff(change) <= NEAR_RUNS).min_by_key(|(at, _)| at.abs_diff(change))
}
