//! Waiting for what happens by itself.

use std::time::{Duration, Instant};

/// How long a test waits where time is not what it measures: a busy machine is slow.
pub const TEST_TIMEOUT: Duration = Duration::from_secs(60);

/// Waits until something is so; returns how long that took.
#[track_caller]
pub fn eventually(what: &str, is_so: impl Fn() -> bool) -> Duration {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < TEST_TIMEOUT, "{what}: not within {TEST_TIMEOUT:?}");
        std::thread::sleep(Duration::from_millis(2));
    }
    begun.elapsed()
}
