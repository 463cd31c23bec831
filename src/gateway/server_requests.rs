//! Requests of a server to the gateway, such as `ping`. Each is answered by a task of its own, and the answer waits
//! until the server takes it, so their number is bounded.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The most requests of one server that are answered at a time. Further ones are ignored.
const MAX_PENDING: usize = 64;

/// How many requests of a server are not answered yet.
#[derive(Clone, Default)]
pub(super) struct ServerRequests(Arc<AtomicUsize>);

impl ServerRequests {
    /// Counts a request; returns whether it may be answered.
    pub(super) fn admit(&self) -> bool {
        let admitted = self.0.fetch_update(Relaxed, Relaxed, |pending| (pending < MAX_PENDING).then_some(pending + 1));
        admitted.is_ok()
    }

    /// A request is answered.
    pub(super) fn answered(&self) {
        let _ = self.0.fetch_update(Relaxed, Relaxed, |pending| pending.checked_sub(1));
    }

    /// The session has begun anew: earlier requests are answered no more.
    pub(super) fn reset(&self) {
        self.0.store(0, Relaxed);
    }
}
