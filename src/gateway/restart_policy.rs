//! When a server that ended is started again: soon when it was up, exponentially later when it does not even
//! start, and after five ends within a minute only when somebody asks for it.

use std::collections::VecDeque;
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use tokio::time::Instant;

/// Ends that are older say nothing about the next start.
const WINDOW: Duration = Duration::from_secs(60);

/// So many ends within the window are enough.
const ENOUGH: usize = 5;

/// How long nothing is tried then; also the longest pause.
const REST: Duration = Duration::from_secs(30);

/// The first pause; each further one is twice as long, plus a jitter of up to its own length.
const FIRST_PAUSE: Duration = Duration::from_millis(250);

/// What follows from an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// It is started again by itself.
    Restart(Instant),
    /// It is started by the first call after this time.
    OnCall(Instant),
}

/// The ends of one server.
#[derive(Default)]
pub(super) struct Crashes {
    within_window: VecDeque<Instant>,
    /// Ends since it was last up.
    failed_starts: usize,
}

impl Crashes {
    /// Counts an end.
    pub(super) fn record(&mut self, now: Instant, was_up: bool) -> Next {
        self.within_window.push_back(now);
        self.within_window.retain(|end| now.duration_since(*end) <= WINDOW);
        self.failed_starts = if was_up { 0 } else { self.failed_starts + 1 };
        if self.within_window.len() >= ENOUGH {
            return Next::OnCall(now + REST);
        }
        let mut pauses = ExponentialBuilder::default()
            .with_min_delay(FIRST_PAUSE)
            .with_max_delay(REST)
            .with_jitter()
            .without_max_times()
            .build();
        let pause = pauses.nth(self.failed_starts.saturating_sub(1)).unwrap_or(REST);
        Next::Restart(now + pause.min(REST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pause(next: Next, now: Instant) -> u128 {
        let Next::Restart(at) = next else { panic!("too early to give up") };
        at.duration_since(now).as_millis()
    }

    #[test]
    fn each_failed_start_makes_the_pause_longer_until_it_is_enough() {
        let now = Instant::now();
        let mut crashes = Crashes::default();
        for least in [250, 500, 1000, 2000] {
            let pause = pause(crashes.record(now, false), now);
            assert!((least..=2 * least).contains(&pause), "{pause}");
        }
        assert_eq!(crashes.record(now, false), Next::OnCall(now + REST));
        // Still the same minute; later, it has a new chance.
        assert!(matches!(crashes.record(now + Duration::from_secs(31), false), Next::OnCall(_)));
        assert!(matches!(crashes.record(now + Duration::from_secs(92), false), Next::Restart(_)));
    }

    #[test]
    fn what_was_up_is_back_soon_but_not_for_ever() {
        let now = Instant::now();
        let mut crashes = Crashes::default();
        for was_up in [false, false, true, true] {
            let pause = pause(crashes.record(now, was_up), now);
            assert!(!was_up || (250..=500).contains(&pause), "{pause}");
        }
        assert_eq!(crashes.record(now, true), Next::OnCall(now + REST));
    }
}
