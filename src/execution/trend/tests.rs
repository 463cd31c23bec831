use super::statistics::{hypergeometric_tail, mann_whitney, median, percentile_95};
use super::*;

/// Marsaglia's xorshift, and distributions made from it.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: u64) -> u64 {
        (self.next() >> 11) % end
    }

    /// Between 0 and 1, both excluded.
    fn share(&mut self) -> f64 {
        (self.below(1 << 40) as f64 + 0.5) / (1_u64 << 40) as f64
    }

    /// Log-normal around a median.
    fn around(&mut self, median: f64, sigma: f64) -> u32 {
        let normal = (-2.0 * self.share().ln()).sqrt() * (std::f64::consts::TAU * self.share()).cos();
        (median * (sigma * normal).exp()) as u32
    }
}

/// A workflow whose node runs as often in each period, with what `change` makes of its runs.
fn asked(seed: u64, each: u32, mut change: impl FnMut(&mut Observation, &mut Random)) -> Movements {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut trend = Trend::default();
    for execution in 0..each * u32::from(PERIODS) {
        let period = (execution / each) as u8;
        let (ms, items) = (random.around(400.0, 0.5), 8 + random.below(17) as u32);
        let failed = random.share() < 0.03;
        let mut run = Observation { execution, ms, items, version: 0, period, failed };
        change(&mut run, &mut random);
        assert!(trend.push("Node", run));
    }
    trend.finish()
}

fn whats(movements: &Movements) -> Vec<What> {
    movements.moved.iter().map(|moved| moved.what).collect()
}

#[test]
fn an_observation_is_small() {
    assert_eq!(size_of::<Observation>(), 16);
}

#[test]
fn noise_moves_nothing() {
    for seed in 0..300 {
        let each = [20, 50, 200][seed as usize % 3];
        let movements = asked(seed, each, |run, random| {
            // Far apart, with runs that take ten times as long.
            let slow = if random.share() < 0.05 { 10.0 } else { 1.0 };
            run.ms = random.around(400.0 * slow, if seed % 2 == 0 { 1.0 } else { 0.5 });
            run.items *= u32::from(random.share() < 0.8);
        });
        // Of 20 runs, fewer succeed.
        let judged = if each == 20 { movements.steady + movements.too_few.len() } else { movements.steady };
        assert_eq!((movements.moved, judged), (vec![], 1), "{seed}");
    }
}

#[test]
fn slower_since_the_edit() {
    for seed in 1..=20 {
        let slow = asked(seed, 30, |run, _| {
            if run.execution >= 213 {
                (run.ms, run.version) = (run.ms * 5 / 2, 7);
            }
        });
        assert_eq!(whats(&slow), [What::Slower], "{seed}");
        assert_eq!(slow.moved[0].since, Since { execution: 213, edited: Some((0, 7)) }, "{seed}");
        let Level { runs, figures: Figures::Spread { p50, p95 } } = slow.moved[0].after else { unreachable!() };
        assert!((20..=30).contains(&runs) && (700.0..1500.0).contains(&p50) && f64::from(p95) > p50);
    }
}

#[test]
fn slower_without_an_edit_is_found_near_its_first_run() {
    for seed in 1..=20 {
        let slow = asked(seed, 30, |run, _| run.ms = if run.execution >= 213 { run.ms * 5 / 2 } else { run.ms });
        let Since { execution, edited } = slow.moved[0].since;
        assert!(execution.abs_diff(213) <= 6 && edited.is_none(), "{seed}: {execution}");
        // A change beyond all noise is found to the run.
        let slow = asked(seed, 30, |run, _| run.ms = if run.execution >= 213 { run.ms + 90_000 } else { run.ms });
        assert_eq!(slow.moved[0].since.execution, slow_start(seed), "{seed}");
    }
}

/// The first successful run from 213 on.
fn slow_start(seed: u64) -> u32 {
    let mut first = None;
    asked(seed, 30, |run, _| {
        if run.execution >= 213 && !run.failed {
            first = first.or(Some(run.execution));
        }
    });
    first.unwrap()
}

#[test]
fn each_kind_of_movement() {
    type Change = fn(&mut Observation, &mut Random);
    let changes: [(What, Change); 6] = [
        (What::Slower, |run, _| run.ms = run.ms * 5 / 2),
        (What::Faster, |run, _| run.ms = run.ms * 2 / 5),
        (What::MoreItems, |run, _| run.items *= 4),
        (What::FewerItems, |run, _| run.items /= 4),
        (What::Failing, |run, random| run.failed |= random.share() < 0.5),
        (What::Empty, |run, random| run.items *= u32::from(random.share() < 0.3)),
    ];
    for (what, change) in changes {
        for seed in 1..=10 {
            let movements = asked(seed, 40, |run, random| {
                if run.period == 7 {
                    change(run, random);
                }
            });
            assert_eq!(whats(&movements), [what], "{seed}");
            assert_eq!((movements.steady, movements.too_few.len()), (0, 0));
        }
    }
    let names = changes.map(|(what, _)| what.name());
    assert_eq!(names, ["slower", "faster", "moreItems", "fewerItems", "failing", "empty"]);
}

#[test]
fn a_level_that_an_earlier_period_had_is_no_movement() {
    let twice = asked(3, 40, |run, _| run.ms *= [1, 1, 4, 1, 1, 1, 1, 3][usize::from(run.period)]);
    assert_eq!(whats(&twice), []);
    let failing = asked(3, 40, |run, _| run.failed = [2, 7].contains(&run.period) && run.execution % 2 == 0);
    assert_eq!(whats(&failing), []);
}

#[test]
fn shares_are_counted() {
    let failing = asked(5, 30, |run, _| run.failed = run.execution >= 220 || run.execution == 17);
    let Moved { what, before, after, since, .. } = &failing.moved[0];
    assert_eq!((*what, since.execution), (What::Failing, 220));
    assert_eq!(*before, Level { runs: 210, figures: Figures::Cases { count: 1, share: 1.0 / 210.0 } });
    assert_eq!(*after, Level { runs: 30, figures: Figures::Cases { count: 20, share: 20.0 / 30.0 } });
    // Too few succeed to say how long they take.
    let failing =
        asked(5, 30, |run, _| (run.failed, run.ms) = (run.execution >= 220, run.ms + run.execution / 210 * 9000));
    assert_eq!(whats(&failing), [What::Failing]);
}

#[test]
fn an_edit_must_be_near() {
    for (edit, edited) in [(209, None), (210, Some((0, 1))), (223, Some((0, 1))), (224, None), (230, None)] {
        let failing = asked(1, 30, |run, _| {
            (run.failed, run.version) = (run.execution >= 220, u16::from(run.execution >= edit));
        });
        let expected = Since { execution: if edited.is_some() { edit } else { 220 }, edited };
        assert_eq!(failing.moved[0].since, expected, "{edit}");
    }
}

#[test]
fn an_edit_after_runs_at_the_new_level_is_not_the_change() {
    // (the edit, whether it is the change): four slow runs and more were before it.
    for (edit, is_change) in [(200, false), (201, true), (211, true), (212, true), (215, false), (221, false)] {
        let slow = asked(1, 30, |run, _| {
            let ms = if run.execution >= 211 { 2000 } else { 200 } + run.execution % 7;
            (run.ms, run.failed, run.version) = (ms, false, u16::from(run.execution >= edit));
        });
        let expected = match is_change {
            true => Since { execution: edit, edited: Some((0, 1)) },
            false => Since { execution: 211, edited: None },
        };
        assert_eq!(slow.moved[0].since, expected, "{edit}");
    }
    // Two of the five runs before the edit were slow by chance.
    let slow = asked(1, 30, |run, _| {
        let is_slow = run.execution >= 216 || [211, 213].contains(&run.execution);
        (run.ms, run.failed) = (if is_slow { 2000 } else { 200 }, false);
        run.version = u16::from(run.execution >= 216);
    });
    assert_eq!(slow.moved[0].since, Since { execution: 216, edited: Some((0, 1)) });
}

#[test]
fn a_node_that_rarely_succeeds_is_not_steady() {
    for (succeed, expected) in [(19, (0, 1)), (20, (1, 0))] {
        let movements = asked(1, 30, |run, _| {
            (run.ms, run.items, run.failed) = (200, 1, run.execution % 30 >= succeed);
        });
        assert_eq!(movements.moved, []);
        assert_eq!((movements.steady, movements.too_few.len()), expected, "{succeed}");
    }
}

#[test]
fn rare_nodes_are_not_judged() {
    // (runs of each earlier period, of the last, whether they are enough)
    for (earlier, last, is_enough) in [
        ([20, 20, 20, 0, 0, 0, 0], 20, true),
        ([20, 20, 19, 1, 0, 0, 0], 20, false),
        ([20, 20, 19, 19, 19, 19, 19], 20, false),
        ([100, 20, 20, 0, 0, 0, 0], 19, false),
        ([0; 7], 0, false),
    ] {
        let mut trend = Trend::default();
        for (period, count) in earlier.into_iter().chain([last]).enumerate() {
            for _ in 0..count {
                let run =
                    Observation { execution: 0, ms: 1, items: 1, version: 0, period: period as u8, failed: false };
                assert!(trend.push("Node", run));
            }
        }
        let movements = trend.finish();
        let expected = if is_enough { (1, 0) } else { (0, usize::from(earlier[1] > 0)) };
        assert_eq!((movements.steady, movements.too_few.len()), expected, "{earlier:?} {last}");
    }
}

#[test]
fn what_is_not_held_is_said() {
    let mut trend = Trend::default();
    let run = Observation { execution: 0, ms: 1, items: 1, version: 0, period: 7, failed: false };
    assert!(!trend.push("Node", Observation { period: PERIODS, ..run }));
    trend.observations = MAX_OBSERVATIONS - 1;
    assert!(trend.push("Node", run));
    assert!(!trend.push("Node", run));
}

#[test]
fn medians_and_percentiles() {
    for (values, p50, p95) in [
        (vec![], None, None),
        (vec![7], Some(7.0), Some(7)),
        (vec![1, 4], Some(2.5), Some(4)),
        ((1..=20).collect(), Some(10.5), Some(19)),
        ((1..=101).collect(), Some(51.0), Some(96)),
    ] {
        assert_eq!((median(&values), percentile_95(&values)), (p50, p95), "{values:?}");
    }
}

#[test]
fn mann_whitney_equals_the_count_of_all_pairs() {
    let mut random = Random(7);
    for _ in 0..500 {
        let values = 1 + random.below(30);
        let mut sample = |least| -> Vec<u32> {
            let mut sample: Vec<_> = (0..least + random.below(25)).map(|_| random.below(values) as u32).collect();
            sample.sort_unstable();
            sample
        };
        let (one, other) = (sample(1), sample(1));
        let pairs = one.iter().flat_map(|one| other.iter().map(move |other| one.cmp(other)));
        let wins: f64 = pairs.map(|order| 0.5 - f64::from(order as i8) / 2.0).sum();
        let (m, n) = (one.len() as f64, other.len() as f64);
        // The variance of the sum of ranks, from the ranks themselves: ties share theirs.
        let mut all = [one.as_slice(), &other].concat();
        all.sort_unstable();
        let rank = |value: &u32| {
            let (below, to) = (all.partition_point(|its| its < value), all.partition_point(|its| its <= value));
            (below + to + 1) as f64 / 2.0
        };
        let middle = (m + n + 1.0) / 2.0;
        let spread: f64 = all.iter().map(|value| (rank(value) - middle).powi(2)).sum();
        let variance = m * n * spread / ((m + n) * (m + n - 1.0));
        let expected = if variance > 0.0 { (wins - m * n / 2.0) / variance.sqrt() } else { 0.0 };
        assert!((mann_whitney(&one, &other) - expected).abs() < 1e-9, "{one:?} {other:?}");
    }
    assert_eq!(mann_whitney(&[], &[]), 0.0);
}

#[test]
fn hypergeometric_tail_equals_products_of_fractions() {
    /// The chance of exactly this many cases, drawn one by one.
    fn exactly(cases: usize, drawn: usize, all_cases: usize, total: usize) -> f64 {
        let mut chances = vec![1.0];
        for step in 0..drawn {
            let mut next = vec![0.0; chances.len() + 1];
            for (found, chance) in chances.iter().enumerate() {
                let left = all_cases.saturating_sub(found) as f64 / (total - step) as f64;
                next[found + 1] += chance * left;
                next[found] += chance * (1.0 - left);
            }
            chances = next;
        }
        chances.get(cases).copied().unwrap_or(0.0)
    }
    let mut random = Random(11);
    for _ in 0..400 {
        let total = 1 + random.below(120) as usize;
        let (drawn, all) = (random.below(total as u64 + 1) as usize, random.below(total as u64 + 1) as usize);
        let cases = random.below(drawn as u64 + 2) as usize;
        let expected: f64 = (cases..=drawn).map(|cases| exactly(cases, drawn, all, total)).sum();
        let tail = hypergeometric_tail(cases, drawn, all, total);
        assert!((tail - expected).abs() < 1e-9 * (1.0 + expected), "{cases} {drawn} {all} {total}: {tail} {expected}");
    }
    // Where it is small: from exact binomials.
    for (cases, drawn, all, total, expected) in
        [(20, 25, 30, 10_025, 3.747_288_980_224_405e-50), (30, 2000, 300, 100_000, 8.367_730_017_782_905e-13)]
    {
        let tail = hypergeometric_tail(cases, drawn, all, total);
        assert!((tail / expected - 1.0).abs() < 1e-8, "{tail:e} {expected:e}");
    }
}

#[test]
fn lines_have_a_point_for_each_period() {
    let mut trend = Trend::default();
    let runs = [(0, 100, 1, false), (0, 300, 3, false), (0, 9000, 9, true), (7, 50, 0, false)];
    for (execution, (period, ms, items, failed)) in (0..).zip(runs) {
        assert!(trend.push("A", Observation { execution, ms, items, version: 0, period, failed }));
    }
    let lines = trend.lines();
    assert_eq!((lines.len(), &*lines[0].node), (1, "A"));
    let points = lines[0].periods;
    // Neither the time nor the items of a failed run count.
    assert_eq!(points[0], Point { runs: 3, failed: 1, ms: Some(200.0), items: Some(2.0) });
    assert_eq!(points[3], Point::default());
    assert_eq!(points[7], Point { runs: 1, failed: 0, ms: Some(50.0), items: Some(0.0) });
}
