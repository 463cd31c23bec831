//! When to ask again: three tries, exponential with jitter, `Retry-After` honoured. A change is only sent
//! again where there was no connection.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use jiff::Timestamp;
use jiff::fmt::rfc2822;
use reqwest::header::{HeaderMap, RETRY_AFTER};

/// How often a request is tried.
const TRIES: u32 = 3;

/// A server that asks for more patience than this is told no: the agent should know now.
const RETRY_AFTER_LONGEST: Duration = Duration::from_secs(60);

/// The pauses between tries.
pub(super) fn pauses() -> ExponentialBackoff {
    ExponentialBuilder::default()
        .with_min_delay(Duration::from_millis(250))
        .with_factor(3.0)
        .with_jitter()
        .with_max_times(TRIES as usize - 1)
        .build()
}

/// What the server asks for: seconds or a date (RFC 9110, 10.2.3). `Some(None)` is too long to wait.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Option<Duration>> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let pause = match value.parse() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => until(value)?,
    };
    Some((pause <= RETRY_AFTER_LONGEST).then_some(pause))
}

fn until(date: &str) -> Option<Duration> {
    // HTTP dates end in GMT, which RFC 2822 knows as an obsolete zone.
    let date = rfc2822::parse(date).ok()?.timestamp();
    let pause = date.as_millisecond() - Timestamp::now().as_millisecond();
    Some(Duration::from_millis(u64::try_from(pause).unwrap_or(0)))
}
