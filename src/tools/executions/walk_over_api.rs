//! A walk over executions through n8n's API, newest first. n8n parses each body in its main process, so one call takes only
//! a few, two at a time, and continues with a cursor.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::listed::text;
use crate::json::Projection;
use crate::n8n::{self, Allowance, AllowanceLimits, Client, ExecutionRequest, ListQuery, Progress};
use crate::tools::Error;

/// The bodies that one call requests.
pub(super) const MAX_BODIES: u64 = 50;

/// The other requests of one call: lists, and executions without their data.
const MAX_OTHERS: u64 = 20;

/// What one call takes of n8n.
const LIMITS: AllowanceLimits = AllowanceLimits {
    requests: MAX_BODIES + MAX_OTHERS,
    bodies: MAX_BODIES,
    bytes: 64 * 1024 * 1024,
    body_bytes: 8 * 1024 * 1024,
    wait: Duration::from_secs(5),
};

/// How long one call may take.
const MAX_TIME: Duration = Duration::from_secs(20);

/// Bodies that n8n builds at the same time.
const AT_ONCE: usize = 2;

/// n8n's status for too many requests.
const TOO_MANY: u16 = 429;

/// The result of fetching one execution.
pub(super) enum Fetched<V> {
    /// It was read.
    Read(V),
    /// Its body is larger than one of many may be, or n8n took too long to build it.
    TooLarge,
    /// n8n has deleted it since it was listed.
    Deleted,
    /// Its body is broken.
    Unreadable,
}

/// How a walk ended.
#[derive(Default)]
pub(super) struct Walked {
    /// The last execution that was visited, unless it was the last one that there is.
    pub last: Option<String>,
    /// When the one after it started, if that is known.
    pub next_at: Option<String>,
    /// Whether it ended because n8n limits requests.
    pub is_rate_low: bool,
}

/// n8n, as far as one call may ask it.
pub(super) struct Limited {
    pub n8n: Client,
    allowance: Arc<Allowance>,
    /// When the time of the call is over.
    pub end: Instant,
}

impl Limited {
    pub(super) fn new(n8n: &Client) -> Self {
        let allowance = Arc::new(Allowance::new(LIMITS));
        Self { n8n: n8n.within(Arc::clone(&allowance)), allowance, end: Instant::now() + MAX_TIME }
    }
}

/// Visits the executions of a list; `take` gets each as it is listed, and says whether the walk goes on.
///
/// # Errors
/// n8n cannot be reached or refuses, and nothing was visited.
pub(super) async fn walk<P: Projection>(
    limited: &Limited,
    mut query: ListQuery,
    projection: &P,
    mut take: impl FnMut(&Value, Fetched<P::View>) -> bool + Send,
) -> Result<Walked, Error> {
    let Limited { n8n, allowance, end } = limited;
    let (mut walked, mut left) = (Walked::default(), MAX_BODIES as usize);
    // One more shows where the others begin.
    query.limit = MAX_BODIES + 1;
    loop {
        let listing = match n8n.list_executions(&query).await {
            Ok(listing) => listing,
            Err(error) => return stopped(walked, Some(error), allowance),
        };
        // No more are begun than may be read: two at a time, a later one could take the place of an earlier one.
        let fetches: Vec<_> = listing.data.iter().take(left).map(|listed| fetch(n8n, listed, projection)).collect();
        let mut fetches = futures::stream::iter(fetches).buffered(AT_ONCE);
        for (at, listed) in listing.data.iter().enumerate() {
            walked.next_at = text(listed, "startedAt");
            if left == 0 {
                return stopped(walked, None, allowance);
            }
            left -= 1;
            let fetched = match timeout_at(*end, fetches.next()).await {
                Ok(Some(Ok(Some(fetched)))) => fetched,
                // So that another call gets beyond it.
                Err(_) if walked.last.is_none() => Fetched::TooLarge,
                Ok(Some(Err(error))) => return stopped(walked, Some(error), allowance),
                Ok(_) | Err(_) => return stopped(walked, None, allowance),
            };
            let goes_on = take(listed, fetched);
            walked.last = text(listed, "id");
            walked.next_at = listing.data.get(at + 1).and_then(|next| text(next, "startedAt"));
            if at + 1 == listing.data.len() && listing.next_cursor.is_none() {
                return Ok(Walked::default());
            }
            if !goes_on || Instant::now() >= *end {
                return Ok(walked);
            }
        }
        let Some(cursor) = listing.next_cursor.filter(|_| !listing.data.is_empty()) else {
            return Ok(Walked::default());
        };
        if allowance.is_used_up() {
            return stopped(walked, None, allowance);
        }
        query.cursor = Some(cursor);
    }
}

/// The end of a walk before the last execution: an error if nothing was visited.
fn stopped(walked: Walked, error: Option<n8n::Error>, allowance: &Allowance) -> Result<Walked, Error> {
    let is_refused = matches!(error, Some(n8n::Error::Unavailable { status: TOO_MANY, .. }));
    let is_rate_low = is_refused || allowance.is_rate_low();
    match (&walked.last, error) {
        (Some(_), _) => Ok(Walked { is_rate_low, ..walked }),
        (None, Some(error)) if !matches!(error, n8n::Error::AllowanceUsedUp) => Err(error.into()),
        (None, _) => Err(Error::FailedPrecondition(
            "n8n has almost reached its limit of requests, so that nothing was read. Try again later, or start n8n-lens with --store."
                .to_owned(),
        )),
    }
}

/// Reads one execution; `None` if this call may take no more of n8n's capacity.
async fn fetch<P: Projection>(
    n8n: &Client,
    listed: &Value,
    projection: &P,
) -> Result<Option<Fetched<P::View>>, n8n::Error> {
    let Some(id) = text(listed, "id") else { return Ok(Some(Fetched::Unreadable)) };
    let request = ExecutionRequest { id, ignore_size_limit: false };
    Ok(Some(match n8n.read_execution(&request, projection, &Progress::default()).await {
        Ok(reading) => Fetched::Read(reading.view),
        Err(n8n::Error::AllowanceUsedUp) => return Ok(None),
        Err(n8n::Error::BodyLetGo | n8n::Error::TooLarge { .. }) => Fetched::TooLarge,
        Err(n8n::Error::NotFound(_)) => Fetched::Deleted,
        Err(
            n8n::Error::Fault(_)
            | n8n::Error::BrokenOff { .. }
            | n8n::Error::Idle { .. }
            | n8n::Error::OtherId { .. }
            | n8n::Error::Gzip { .. }
            | n8n::Error::NotJson { .. },
        ) => Fetched::Unreadable,
        Err(error) => return Err(error),
    }))
}
