//! Statistics of two samples. Samples are in ascending order.

use std::f64::consts::TAU;

/// The median, between the middle two of an even number.
pub(super) fn median(values: &[u32]) -> Option<f64> {
    let middle = values.len() / 2;
    let upper = f64::from(*values.get(middle)?);
    if values.len() % 2 == 1 {
        return Some(upper);
    }
    values.get(middle.checked_sub(1)?).map(|lower| f64::midpoint(f64::from(*lower), upper))
}

/// The 95th percentile, by nearest rank.
pub(super) fn percentile_95(values: &[u32]) -> Option<u32> {
    let rank = (values.len() * 95).div_ceil(100);
    values.get(rank.checked_sub(1)?).copied()
}

/// The z of Mann and Whitney with ties corrected, above 0 if the other sample is higher; 0 if all values are equal.
pub(super) fn mann_whitney(one: &[u32], other: &[u32]) -> f64 {
    let (m, n) = (one.len() as f64, other.len() as f64);
    let total = m + n;
    // How many pairs the other sample wins, a tie by half, and how much ties lower the variance.
    let (mut wins, mut ties) = (0.0, 0.0);
    let (mut one, mut other) = (one, other);
    let mut below = 0.0;
    while let Some(value) = one.first().into_iter().chain(other.first()).min().copied() {
        let (equal, equal_other) = (take_equal(&mut one, value), take_equal(&mut other, value));
        wins += equal_other * (below + equal / 2.0);
        below += equal;
        let tied = equal + equal_other;
        ties += tied * (tied * tied - 1.0);
    }
    let variance = m * n / 12.0 * (total + 1.0 - ties / (total * (total - 1.0)));
    if variance > 0.0 { (wins - m * n / 2.0) / variance.sqrt() } else { 0.0 }
}

/// Takes the values that equal the smallest one, and counts them.
fn take_equal(values: &mut &[u32], value: u32) -> f64 {
    let (equal, rest) = values.split_at(values.partition_point(|its| *its <= value));
    *values = rest;
    equal.len() as f64
}

/// The probability of drawing at least `cases` cases in `drawn` draws from `total` runs, of which `all_cases` are cases.
pub(super) fn hypergeometric_tail(cases: usize, drawn: usize, all_cases: usize, total: usize) -> f64 {
    let Some(others) = total.checked_sub(all_cases) else { return 0.0 };
    let most = drawn.min(all_cases);
    let ways = ln_binomial(total, drawn);
    let chance = |cases| (ln_binomial(all_cases, cases) + ln_binomial(others, drawn - cases) - ways).exp();
    // Fewer cannot be drawn: there are not enough others.
    let least = drawn.saturating_sub(others);
    (cases.max(least)..=most).map(chance).sum::<f64>().min(1.0)
}

fn ln_binomial(n: usize, k: usize) -> f64 {
    ln_factorial(n) - ln_factorial(k) - ln_factorial(n.saturating_sub(k))
}

/// The logarithm of a factorial: by Stirling's series, whose error from 16 on is below 1e-11.
fn ln_factorial(n: usize) -> f64 {
    if n < 16 {
        return (1..=n).map(|factor| factor as f64).product::<f64>().ln();
    }
    let n = n as f64;
    let square = n * n;
    let series = (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / (1260.0 * square)) / square) / n;
    n * n.ln() - n + (TAU * n).ln() / 2.0 + series
}
