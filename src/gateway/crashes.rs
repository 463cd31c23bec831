//! When a server that ended is started again: exponentially later, and after five ends within a minute only
//! when somebody asks for it.

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

/// The ends of one server within the last minute.
#[derive(Default)]
pub(super) struct Crashes(VecDeque<Instant>);

impl Crashes {
    /// Counts an end.
    pub(super) fn record(&mut self, now: Instant) -> Next {
        self.0.push_back(now);
        while self.0.front().is_some_and(|end| now.duration_since(*end) > WINDOW) {
            self.0.pop_front();
        }
        if self.0.len() >= ENOUGH {
            return Next::OnCall(now + REST);
        }
        let mut pauses = ExponentialBuilder::default()
            .with_min_delay(FIRST_PAUSE)
            .with_max_delay(REST)
            .with_jitter()
            .without_max_times()
            .build();
        Next::Restart(now + pauses.nth(self.0.len() - 1).unwrap_or(REST).min(REST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn each_pause_is_longer_until_it_is_enough() {
        let now = Instant::now();
        let mut crashes = Crashes::default();
        for least in [250, 500, 1000, 2000] {
            let Next::Restart(at) = crashes.record(now) else { panic!("too early to give up") };
            let pause = at.duration_since(now).as_millis();
            assert!((least..=2 * least).contains(&pause), "{pause}");
        }
        assert_eq!(crashes.record(now), Next::OnCall(now + REST));
        // Still the same minute; later, it has a new chance.
        assert!(matches!(crashes.record(now + Duration::from_secs(31)), Next::OnCall(_)));
        assert!(matches!(crashes.record(now + Duration::from_secs(92)), Next::Restart(_)));
    }
}
