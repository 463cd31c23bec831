//! Divides the tokens among items: each output and input shows its first item before any shows its second; the rest is
//! split evenly between outputs and inputs, and what one side does not need goes to the other.

use crate::budget::{self, Need};

/// What the items of one output or input need.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ListNeed {
    /// All of them, in full detail.
    pub(super) all: Need,
    /// Tokens of the first one, in full detail.
    pub(super) first: usize,
}

/// The tokens that one output or input gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Share {
    Nothing,
    /// For the first item only.
    First(usize),
    Items(usize),
}

/// Almost always enough for one item, clipped if necessary.
const ITEM_TOKENS: usize = 60;

/// Divides `total` tokens among the outputs and the inputs. `least` returns what the first items need in the least detail.
pub(super) fn divide(
    total: usize,
    sections: [&[ListNeed]; 2],
    least: impl FnOnce() -> [Vec<usize>; 2],
) -> [Vec<Share>; 2] {
    let first = |need: &ListNeed| need.first.min(ITEM_TOKENS);
    let firsts: usize = sections.iter().flat_map(|lists| lists.iter()).map(first).sum();
    if firsts > total {
        return only_first(total, sections, &least());
    }
    let rest = |need: &ListNeed| need.all.tokens.saturating_sub(first(need));
    let rests = sections.map(|lists| lists.iter().map(rest).collect::<Vec<_>>());
    let of_sections = budget::shares(total - firsts, &rests.each_ref().map(|rests| rests.iter().sum()));
    let share = |at: usize| {
        let shares = budget::shares(of_sections[at], &rests[at]);
        let needs = sections[at].iter().zip(shares);
        needs
            .map(|(need, share)| if need.first > 0 { Share::Items(first(need) + share) } else { Share::Nothing })
            .collect()
    };
    [share(0), share(1)]
}

/// Shares for first items only; if even those do not all fit, as many as fit, outputs and inputs in turn.
fn only_first(total: usize, sections: [&[ListNeed]; 2], least: &[Vec<usize>; 2]) -> [Vec<Share>; 2] {
    let longest = sections.iter().map(|lists| lists.len()).max().unwrap_or(0);
    let places = (0..longest).flat_map(|at| [(0, at), (1, at)]);
    let mut used = 0;
    let mut shown = Vec::new();
    for (section, at) in places.filter(|(section, at)| sections[*section].get(*at).is_some_and(|need| need.first > 0)) {
        let tokens = least[section][at];
        if used + tokens > total && !shown.is_empty() {
            break;
        }
        used += tokens;
        shown.push((section, at, tokens));
    }
    let rests: Vec<_> =
        shown.iter().map(|(section, at, least)| sections[*section][*at].first.saturating_sub(*least)).collect();
    let mut shares = sections.map(|lists| vec![Share::Nothing; lists.len()]);
    for ((section, at, least), more) in shown.into_iter().zip(budget::shares(total.saturating_sub(used), &rests)) {
        shares[section][at] = Share::First(least + more);
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needs(first: usize, all: usize) -> ListNeed {
        ListNeed { all: Need { tokens: all, bytes: 3 * all }, first }
    }

    /// Every first item needs at most 12 tokens in the least detail.
    fn divide(total: usize, sections: [&[ListNeed]; 2]) -> [Vec<Share>; 2] {
        let least = || sections.map(|lists| lists.iter().map(|need| need.first.min(12)).collect());
        super::divide(total, sections, least)
    }

    #[test]
    fn every_first_item_comes_before_a_second() {
        let lists = [needs(20, 1000), needs(0, 0), needs(5, 5)];
        let shares = divide(200, [&lists, &[needs(50, 60)]]);
        assert_eq!(shares[0], [Share::Items(135), Share::Nothing, Share::Items(5)]);
        assert_eq!(shares[1], [Share::Items(60)]);

        let shares = divide(60, [&lists, &[needs(50, 60)]]);
        assert_eq!(shares[0], [Share::First(20), Share::Nothing, Share::First(5)]);
        assert_eq!(shares[1], [Share::First(12 + 23)]);

        let many = [needs(100, 100); 20];
        let shares = divide(60, [&many, &many]);
        let shown = shares.iter().flatten().filter(|share| **share == Share::First(12)).count();
        assert_eq!((shown, shares[0][2], shares[1][2]), (5, Share::First(12), Share::Nothing));
        assert_eq!(divide(0, [&many, &many])[0][0], Share::First(12), "one item is always shown");
    }
}
