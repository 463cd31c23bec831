//! What one question about many executions may request from n8n, which parses each body in its main process.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use reqwest::header::HeaderMap;

use super::error::Error;

/// n8n's rate limit (2.47 and newer), if it has any: how many requests there are, and how many are left.
const LIMIT: &str = "x-ratelimit-limit";
const REMAINING: &str = "x-ratelimit-remaining";

/// The part of n8n's limit that is left to others.
const LEFT_TO_OTHERS: u64 = 10;

/// Limits of one question, and how much of them was used.
#[derive(Debug)]
pub struct Allowance {
    limits: AllowanceLimits,
    requests: AtomicU64,
    bodies: AtomicU64,
    bytes: AtomicU64,
    waited_ms: AtomicU64,
    is_rate_low: AtomicBool,
}

/// What one question may take.
#[derive(Clone, Copy, Debug)]
pub struct AllowanceLimits {
    /// Requests of all kinds, repeated ones included.
    pub requests: u64,
    /// Bodies of executions that are requested; to ask whether one in the cache is unchanged counts as much.
    pub bodies: u64,
    /// Bytes of all of them.
    pub bytes: u64,
    /// Bytes of one: a larger one is dropped.
    pub body_bytes: u64,
    /// How long to wait altogether before requests are repeated.
    pub wait: Duration,
}

impl Allowance {
    /// Nothing was used yet.
    pub fn new(limits: AllowanceLimits) -> Self {
        let none = || AtomicU64::new(0);
        let is_rate_low = AtomicBool::new(false);
        Self { limits, requests: none(), bodies: none(), bytes: none(), waited_ms: none(), is_rate_low }
    }

    /// Whether little is left of n8n's rate limit.
    pub fn is_rate_low(&self) -> bool {
        self.is_rate_low.load(Ordering::Relaxed)
    }

    /// Whether no more bodies are admitted.
    pub fn is_used_up(&self) -> bool {
        let AllowanceLimits { requests, bodies, bytes, .. } = self.limits;
        self.is_rate_low()
            || self.requests.load(Ordering::Relaxed) >= requests
            || self.bodies.load(Ordering::Relaxed) >= bodies
            || self.bytes.load(Ordering::Relaxed) >= bytes
    }

    /// Admits one more request, of whatever kind.
    pub(super) fn admit_request(&self) -> Result<(), Error> {
        if self.is_rate_low() || self.requests.fetch_add(1, Ordering::Relaxed) >= self.limits.requests {
            return Err(Error::AllowanceUsedUp);
        }
        Ok(())
    }

    /// Admits one more body.
    pub(super) fn admit(&self) -> Result<(), Error> {
        // Two bodies may be requested at the same time.
        if self.is_used_up() || self.bodies.fetch_add(1, Ordering::Relaxed) >= self.limits.bodies {
            return Err(Error::AllowanceUsedUp);
        }
        Ok(())
    }

    /// Admits a body of this length, if n8n announces one.
    pub(super) fn admit_length(&self, total: Option<u64>) -> Result<(), Error> {
        if total.is_some_and(|total| total > self.limits.body_bytes) { Err(Error::BodyLetGo) } else { Ok(()) }
    }

    /// Counts a chunk of a body, after `before` bytes.
    pub(super) fn receive(&self, chunk: u64, before: u64) -> Result<(), Error> {
        if before + chunk > self.limits.body_bytes {
            return Err(Error::BodyLetGo);
        }
        let all = self.bytes.fetch_add(chunk, Ordering::Relaxed) + chunk;
        if all > self.limits.bytes { Err(Error::AllowanceUsedUp) } else { Ok(()) }
    }

    /// Whether a request may wait this long before it is repeated.
    pub(super) fn may_wait(&self, delay: Duration) -> bool {
        let ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
        let before = self.waited_ms.fetch_add(ms, Ordering::Relaxed);
        u128::from(before.saturating_add(ms)) <= self.limits.wait.as_millis()
    }

    /// Notes how many requests n8n has left.
    pub(super) fn note(&self, headers: &HeaderMap) {
        let number = |name| headers.get(name)?.to_str().ok()?.trim().parse::<u64>().ok();
        let limits = number(REMAINING).zip(number(LIMIT));
        if limits.is_some_and(|(remaining, limit)| remaining.saturating_mul(LEFT_TO_OTHERS) < limit) {
            self.is_rate_low.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;

    fn allowance() -> Allowance {
        let wait = Duration::from_secs(5);
        Allowance::new(AllowanceLimits { requests: 3, bodies: 2, bytes: 100, body_bytes: 60, wait })
    }

    #[test]
    fn what_is_used_up_is_refused() {
        let allowance = allowance();
        assert!(allowance.admit().is_ok() && allowance.admit().is_ok() && allowance.admit().is_err());
        assert!(matches!(allowance.receive(1, 60), Err(Error::BodyLetGo)));
        assert!(allowance.receive(60, 0).is_ok() && matches!(allowance.receive(41, 0), Err(Error::AllowanceUsedUp)));
        assert!(allowance.admit_length(Some(60)).is_ok() && allowance.admit_length(Some(61)).is_err());
        let admitted = [(); 4].map(|()| allowance.admit_request().is_ok());
        assert_eq!(admitted, [true, true, true, false]);
        assert!(allowance.may_wait(Duration::from_secs(5)) && !allowance.may_wait(Duration::from_millis(1)));
    }

    #[test]
    fn a_tenth_of_the_limit_is_left_to_others() {
        for (remaining, is_low) in [("10", false), ("9", true), ("0", true), ("many", false)] {
            let allowance = allowance();
            let headers = [(LIMIT, "100"), (REMAINING, remaining)];
            allowance.note(
                &headers.into_iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect(),
            );
            assert_eq!((allowance.is_rate_low(), allowance.admit_request().is_err()), (is_low, is_low), "{remaining}");
        }
    }
}
