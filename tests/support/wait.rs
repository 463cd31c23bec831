//! Waiting for a condition.

use std::time::{Duration, Instant};

/// How long a test waits when it does not measure time. It is generous because machines can be busy.
pub const TEST_TIMEOUT: Duration = Duration::from_secs(60);

/// Waits until a condition holds; returns how long that took.
#[track_caller]
pub fn eventually(what: &str, holds: impl Fn() -> bool) -> Duration {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < TEST_TIMEOUT, "{what}: not within {TEST_TIMEOUT:?}");
        std::thread::sleep(Duration::from_millis(2));
    }
    begun.elapsed()
}
