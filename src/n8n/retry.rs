//! When to retry: three attempts, exponential backoff with jitter, `Retry-After` honoured. A change is retried only if
//! there was no connection, or n8n rejected it for its rate limit.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use jiff::Timestamp;
use jiff::fmt::rfc2822;
use reqwest::header::{HeaderMap, RETRY_AFTER};

/// How many attempts a request gets.
const MAX_ATTEMPTS: usize = 3;

/// A request is not retried if the server demands a longer wait: the agent should learn of it at once.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);

/// How long to wait before the next attempt.
#[derive(Clone, Copy)]
pub(crate) enum RetryDelay {
    /// The next delay of the exponential backoff.
    Backoff,
    /// The delay that the server demands (`Retry-After`).
    RetryAfter(Duration),
    /// The server demands more than n8n-lens is willing to wait.
    TooLong,
}

impl RetryDelay {
    /// The delay before the next attempt, given the next one of the backoff; `None` if there is no further attempt.
    pub(crate) fn or(self, backoff: Option<Duration>) -> Option<Duration> {
        match self {
            Self::Backoff => backoff,
            Self::RetryAfter(delay) => backoff.map(|_| delay),
            Self::TooLong => None,
        }
    }
}

/// The delays between attempts.
pub(crate) fn backoff() -> ExponentialBackoff {
    ExponentialBuilder::default()
        .with_min_delay(Duration::from_millis(250))
        .with_factor(3.0)
        .with_jitter()
        .with_max_times(MAX_ATTEMPTS - 1)
        .build()
}

/// The delay that the server demands, as seconds or a date (RFC 9110, 10.2.3); `None` without a valid `Retry-After`.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<RetryDelay> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let delay = match value.parse() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => until(value)?,
    };
    Some(if delay <= MAX_RETRY_AFTER { RetryDelay::RetryAfter(delay) } else { RetryDelay::TooLong })
}

fn until(date: &str) -> Option<Duration> {
    // HTTP dates end in GMT, an obsolete but valid zone in RFC 2822.
    let date = rfc2822::parse(date).ok()?.timestamp();
    let delay = date.as_millisecond() - Timestamp::now().as_millisecond();
    Some(Duration::from_millis(u64::try_from(delay).unwrap_or(0)))
}
