//! When a server that has exited is started again.
//!
//! A server that was available restarts after 0.25 s plus jitter. One that fails to start restarts with exponential
//! backoff. After five exits within a minute, restarts pause for 30 s, and then wait for a call.

use std::collections::VecDeque;
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use tokio::time::Instant;

/// Exits older than this are forgotten.
const EXIT_WINDOW: Duration = Duration::from_secs(60);

/// With this many exits in the window, the server no longer restarts by itself.
const MAX_EXITS: usize = 5;

/// How long calls cannot start such a server; also the longest backoff.
const MAX_BACKOFF: Duration = Duration::from_secs(30);

/// The first backoff. Each further one is twice as long, plus jitter of up to its own length.
const MIN_BACKOFF: Duration = Duration::from_millis(250);

/// When the server starts next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextStart {
    /// At this time.
    At(Instant),
    /// On the first call after this time.
    OnCallAfter(Instant),
}

/// The recent exits of one server.
#[derive(Default)]
pub(super) struct RestartPolicy {
    exits_in_window: VecDeque<Instant>,
    /// Since the server was last available.
    failed_starts: usize,
}

impl RestartPolicy {
    /// Records an exit; `was_available` says whether the start before it had succeeded.
    pub(super) fn record_exit(&mut self, now: Instant, was_available: bool) -> NextStart {
        self.exits_in_window.push_back(now);
        self.exits_in_window.retain(|exit| now.duration_since(*exit) <= EXIT_WINDOW);
        self.failed_starts = if was_available { 0 } else { self.failed_starts + 1 };
        if self.exits_in_window.len() >= MAX_EXITS {
            return NextStart::OnCallAfter(now + MAX_BACKOFF);
        }
        let mut backoffs = ExponentialBuilder::default()
            .with_min_delay(MIN_BACKOFF)
            .with_max_delay(MAX_BACKOFF)
            .with_jitter()
            .without_max_times()
            .build();
        let backoff = backoffs.nth(self.failed_starts.saturating_sub(1)).unwrap_or(MAX_BACKOFF);
        NextStart::At(now + backoff.min(MAX_BACKOFF))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backoff_ms(next: NextStart, now: Instant) -> u128 {
        let NextStart::At(time) = next else { panic!("gave up too early") };
        time.duration_since(now).as_millis()
    }

    #[test]
    fn each_failed_start_doubles_the_backoff_until_restarts_pause() {
        let now = Instant::now();
        let mut policy = RestartPolicy::default();
        for least in [250, 500, 1000, 2000] {
            let backoff = backoff_ms(policy.record_exit(now, false), now);
            assert!((least..=2 * least).contains(&backoff), "{backoff}");
        }
        assert_eq!(policy.record_exit(now, false), NextStart::OnCallAfter(now + MAX_BACKOFF));
        // Within the same minute restarts stay paused; later they resume.
        assert!(matches!(policy.record_exit(now + Duration::from_secs(31), false), NextStart::OnCallAfter(_)));
        assert!(matches!(policy.record_exit(now + Duration::from_secs(92), false), NextStart::At(_)));
    }

    #[test]
    fn a_server_that_was_available_restarts_soon_but_not_forever() {
        let now = Instant::now();
        let mut policy = RestartPolicy::default();
        for was_available in [false, false, true, true] {
            let backoff = backoff_ms(policy.record_exit(now, was_available), now);
            assert!(!was_available || (250..=500).contains(&backoff), "{backoff}");
        }
        assert_eq!(policy.record_exit(now, true), NextStart::OnCallAfter(now + MAX_BACKOFF));
    }
}
