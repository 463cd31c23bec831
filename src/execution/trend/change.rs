//! When a movement began.

use std::ops::Range;

use super::rules::Measure;
use super::{Observation, Since};

/// How many runs of a node may be between a change and the edit that caused it.
const NEAR_RUNS: usize = 10;

/// How many runs after a change an edit may be, whatever their levels: where the change is found is not exact.
const INEXACT_RUNS: usize = 3;

/// The first run after the change of a measure.
///
/// It is where the cumulated deviation from the mean, divided by `sqrt(k (n - k))`, is farthest from 0: without the
/// divisor the place is drawn to the middle. Milliseconds count by their logarithm, so that a slow run is not a change.
/// If the version changes at most ten runs before it or three after it, the change is there; if it changes four to ten
/// runs after it, only if at most half of the runs between them have the new level: what came before an edit is not
/// due to it.
pub(super) fn since(runs: &[Observation], measure: Measure) -> Option<Since> {
    let change = change(runs, measure)?;
    let edit = edit_near(runs, change, measure);
    let (at, edited) = edit.map_or((change, None), |(at, versions)| (at, Some(versions)));
    runs.get(at).map(|run| Since { execution: run.execution, edited })
}

/// Which run is the first after the change.
fn change(runs: &[Observation], measure: Measure) -> Option<usize> {
    let values = || values(runs, measure);
    let (count, mean) = (values().count(), mean(values()));
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

/// The runs that a measure counts, each with its place and its value on the measure's scale.
fn values(runs: &[Observation], measure: Measure) -> impl Iterator<Item = (usize, f64)> {
    let counted = runs.iter().enumerate().filter_map(move |(at, run)| Some((at, measure.of(run)?)));
    counted.map(move |(at, value)| match measure {
        Measure::Ms => (at, f64::from(value.max(1)).ln()),
        Measure::Items | Measure::Failures | Measure::Empties => (at, f64::from(value)),
    })
}

fn mean(values: impl Iterator<Item = (usize, f64)>) -> f64 {
    let (count, sum) = values.fold((0_usize, 0.0), |(count, sum), (_, value)| (count + 1, sum + value));
    sum / count.max(1) as f64
}

/// The nearest run that may be where the change began and has another version than the one before it, with both versions.
fn edit_near(runs: &[Observation], change: usize, measure: Measure) -> Option<(usize, (u16, u16))> {
    let pairs = runs.iter().zip(runs.iter().skip(1)).enumerate();
    let edits = pairs.filter(|(_, (one, next))| one.version != next.version);
    let near = edits.map(|(at, (one, next))| (at + 1, (one.version, next.version)));
    near.filter(|(at, _)| at.abs_diff(change) <= NEAR_RUNS)
        .filter(|(at, _)| *at <= change + INEXACT_RUNS || is_mostly_old(runs, change..*at, measure))
        .min_by_key(|(at, _)| at.abs_diff(change))
}

/// Whether at most half of these runs, which begin at the change, are nearer to the mean from there on than to the one before.
fn is_mostly_old(runs: &[Observation], between: Range<usize>, measure: Measure) -> bool {
    let old = mean(values(&runs[..between.start], measure));
    let new = mean(values(&runs[between.start..], measure));
    let levels = values(&runs[between], measure).map(|(_, value)| (value - new).abs() < (value - old).abs());
    let (all, new) = levels.fold((0, 0), |(all, new), is_new| (all + 1, new + usize::from(is_new)));
    2 * new <= all
}
