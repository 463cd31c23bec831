//! The open connections of a listener, and which one is closed when it is slow or there are too many.
//!
//! A connection waits for a request head, has a request in progress, listens for events, or is idle between two requests. Only the
//! server's own work may take long: a head has 10 s, an idle connection 75 s, and a client that reads nothing of its response 60 s,
//! or less if more than 64 MiB of responses wait to be read.
//!
//! hyper's `header_read_timeout` is not used: it starts at the previous response, so it would also end idle connections,
//! which clients expect to keep (a POST on one that was just closed is lost). A semaphore or tower's `ConcurrencyLimit`
//! would refuse new connections, while here the connection that has waited longest makes room.

use std::collections::HashMap;
use std::net::IpAddr;
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::lock;
use crate::platform::open_file_limit;

/// How long a request head may take, from the start of the connection or from the head's first byte.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a connection is kept between two requests.
const KEEP_ALIVE: Duration = Duration::from_secs(75);

/// How long a client may read nothing of a response.
const READ_TIMEOUT: Duration = Duration::from_secs(60);

/// The most bytes of responses that may wait to be read for longer than a moment, on all connections together.
const MAX_UNREAD_BYTES: usize = 64 * 1024 * 1024;

/// A client that reads less than this in [`CHECK_INTERVAL`] is slow, bytes.
const FAIR_BYTES: usize = 64 * 1024;

/// How often these are checked.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// How often closed connections are reported.
const REPORT_INTERVAL: Duration = Duration::from_secs(60);

/// The most connections of a listener.
const MAX_CONNECTIONS: usize = 1024;

/// The most connections of one address other than this machine's own.
const MAX_PER_ADDRESS: usize = 64;

/// What a connection waits for, and since when.
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// The rest of a request head.
    Head(Instant),
    /// The server's response.
    Busy,
    /// Events, on a stream that the client opened for messages from the server.
    Listening(Instant),
    /// The next request.
    Idle(Instant),
}

/// An open connection; dropping it makes room for another.
pub(super) struct Open(Arc<Connection>);

/// The state of a connection.
pub(super) struct Connection {
    id: u64,
    pub(super) peer: IpAddr,
    phase: Mutex<Phase>,
    unread: Mutex<Unread>,
    /// Cancelled to close the connection.
    pub(super) closed: CancellationToken,
    table: Arc<Table>,
}

/// The part of a response that the client has not read.
#[derive(Clone, Copy, Default)]
struct Unread {
    /// Bytes that are held until all of them are written.
    bytes: usize,
    /// Since when they have waited, or the client last read a fair amount.
    since: Option<Instant>,
    /// Bytes written after that.
    written: usize,
    /// Since when the client has read nothing at all.
    blocked_since: Option<Instant>,
}

/// All connections of a listener.
#[derive(Default)]
struct Table {
    open: Mutex<HashMap<u64, Arc<Connection>>>,
    next_id: AtomicU64,
    refused: AtomicU64,
    timed_out: AtomicU64,
}

/// The connections of a listener.
#[derive(Clone)]
pub(super) struct Connections {
    table: Arc<Table>,
    max: usize,
}

impl Connections {
    /// No connections yet. The limit leaves half of the file descriptors for children, n8n and the
    /// database, and is at most 1,024.
    pub(super) fn new() -> Self {
        let descriptors = open_file_limit().map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        Self { table: Arc::default(), max: (descriptors / 2).clamp(16, MAX_CONNECTIONS) }
    }

    /// Adds a connection; `None` if its address has too many. If there are too many in total, the one that has waited
    /// longest for a request head is closed, or else the one that has been idle longest, or that has listened longest; if
    /// all are busy, the new one is refused.
    pub(super) fn open(&self, peer: IpAddr) -> Option<Open> {
        let mut open = lock(&self.table.open);
        let peer = peer.to_canonical();
        let from_peer = open.values().filter(|connection| connection.peer == peer).count();
        let is_allowed = peer.is_loopback() || from_peer < MAX_PER_ADDRESS;
        if !is_allowed || (open.len() >= self.max && !close_longest_waiting(&mut open)) {
            self.table.refused.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        let connection = Arc::new(Connection {
            id: self.table.next_id.fetch_add(1, Ordering::Relaxed),
            peer,
            phase: Mutex::new(Phase::Head(Instant::now())),
            unread: Mutex::default(),
            closed: CancellationToken::new(),
            table: self.table.clone(),
        });
        open.insert(connection.id, connection.clone());
        Some(Open(connection))
    }

    /// Closes slow connections, and reports once a minute how many, for as long as it is polled.
    pub(super) async fn watch(&self) {
        let mut reported = Instant::now();
        loop {
            tokio::time::sleep(CHECK_INTERVAL).await;
            self.close_slow();
            self.close_unread();
            if reported.elapsed() >= REPORT_INTERVAL {
                reported = Instant::now();
                self.report();
            }
        }
    }

    /// Closes the connections that wait for a request; those with one in progress go on.
    pub(super) fn close_waiting(&self) {
        for connection in lock(&self.table.open).values() {
            if connection.waits() {
                connection.closed.cancel();
            }
        }
    }

    /// Closes all connections.
    pub(super) fn close_all(&self) {
        lock(&self.table.open).values().for_each(|connection| connection.closed.cancel());
    }

    /// Whether none are open.
    pub(super) fn is_empty(&self) -> bool {
        lock(&self.table.open).is_empty()
    }

    fn close_slow(&self) {
        for connection in lock(&self.table.open).values().filter(|connection| connection.is_slow()) {
            if !connection.closed.is_cancelled() && !matches!(*lock(&connection.phase), Phase::Idle(_)) {
                self.table.timed_out.fetch_add(1, Ordering::Relaxed);
            }
            connection.closed.cancel();
        }
    }

    /// Closes the connections whose clients have not read for the longest time, if too much waits in total. A single response
    /// may be larger than that.
    fn close_unread(&self) {
        let open = lock(&self.table.open);
        let waiting = |connection: &Arc<Connection>| {
            let unread = *lock(&connection.unread);
            unread.since.map(|since| (since, unread.bytes, connection.clone()))
        };
        let mut unread: Vec<_> = open.values().filter_map(waiting).collect();
        unread.sort_unstable_by_key(|(since, ..)| *since);
        let mut bytes: usize = unread.iter().map(|(_, bytes, _)| bytes).sum();
        unread.pop();
        for (since, freed, connection) in unread {
            if bytes <= MAX_UNREAD_BYTES || since.elapsed() < CHECK_INTERVAL {
                break;
            }
            bytes -= freed;
            self.table.timed_out.fetch_add(1, Ordering::Relaxed);
            connection.closed.cancel();
        }
    }

    fn report(&self) {
        let refused = self.table.refused.swap(0, Ordering::Relaxed);
        let timed_out = self.table.timed_out.swap(0, Ordering::Relaxed);
        if refused + timed_out > 0 {
            tracing::warn!(refused, timed_out, max = self.max, "connections were refused or closed in the last minute");
        }
    }
}

impl Connection {
    /// The client sent something: an idle connection now waits for the rest of a head.
    pub(super) fn received(&self) {
        let mut phase = lock(&self.phase);
        if matches!(*phase, Phase::Idle(_)) {
            *phase = Phase::Head(Instant::now());
        }
    }

    /// A request head is complete.
    pub(super) fn requested(&self) {
        *lock(&self.phase) = Phase::Busy;
    }

    /// The response is a stream of events that do not answer a request.
    pub(super) fn listens(&self) {
        *lock(&self.phase) = Phase::Listening(Instant::now());
    }

    /// A response is complete, although some of it may not have been sent.
    pub(super) fn responded(&self) {
        *lock(&self.phase) = Phase::Idle(Instant::now());
    }

    /// A part of a response waits to be written.
    pub(super) fn queued(&self, bytes: usize) {
        let mut unread = lock(&self.unread);
        unread.bytes += bytes;
        unread.since.get_or_insert_with(Instant::now);
    }

    /// How many of the pending bytes the client took; `None` if it takes nothing now.
    pub(super) fn wrote(&self, bytes: Option<usize>) {
        let mut unread = lock(&self.unread);
        let Some(bytes) = bytes else {
            unread.blocked_since.get_or_insert_with(Instant::now);
            return;
        };
        unread.blocked_since = None;
        unread.written += bytes;
        if unread.written >= FAIR_BYTES && unread.since.is_some() {
            (unread.since, unread.written) = (Some(Instant::now()), 0);
        }
    }

    /// Everything that was queued is written.
    pub(super) fn flushed(&self) {
        let sent = std::mem::take(&mut *lock(&self.unread));
        let mut phase = lock(&self.phase);
        if sent.since.is_some() && matches!(*phase, Phase::Idle(_)) {
            *phase = Phase::Idle(Instant::now());
        }
    }

    /// Whether it waits for a request, and its last response has been sent.
    fn waits(&self) -> bool {
        lock(&self.unread).since.is_none() && matches!(*lock(&self.phase), Phase::Head(_) | Phase::Idle(_))
    }

    fn is_slow(&self) -> bool {
        let unread = *lock(&self.unread);
        let is_blocked = unread.blocked_since.is_some_and(|since| since.elapsed() > READ_TIMEOUT);
        is_blocked
            || match *lock(&self.phase) {
                Phase::Head(since) => since.elapsed() > HEAD_TIMEOUT,
                Phase::Idle(since) => since.elapsed() > KEEP_ALIVE && unread.since.is_none(),
                Phase::Busy | Phase::Listening(_) => false,
            }
    }
}

impl Deref for Open {
    type Target = Arc<Connection>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        lock(&self.0.table.open).remove(&self.0.id);
    }
}

/// Makes room for one connection; returns whether that was possible.
fn close_longest_waiting(open: &mut HashMap<u64, Arc<Connection>>) -> bool {
    let longest = open.values().filter_map(|connection| match *lock(&connection.phase) {
        Phase::Head(since) => Some((0, since, connection.id)),
        Phase::Idle(since) if lock(&connection.unread).since.is_none() => Some((1, since, connection.id)),
        Phase::Listening(since) => Some((2, since, connection.id)),
        Phase::Idle(_) | Phase::Busy => None,
    });
    let Some(closed) = longest.min().and_then(|(_, _, id)| open.remove(&id)) else { return false };
    closed.table.refused.fetch_add(1, Ordering::Relaxed);
    closed.closed.cancel();
    true
}
