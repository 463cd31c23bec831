//! How many requests wait on n8n at once, and how many bodies are read at once.

use tokio::sync::{Semaphore, SemaphorePermit};

use super::error::Error;
use super::progress::{Progress, Stage};

/// The maximum number of requests of one kind that n8n works on (or as many as bodies may be read, if that is more): it
/// sends the first byte once the whole body is built.
const MAX_WAITING: usize = 16;

/// The slots of all requests. Executions can take n8n minutes to build and are read for as long; everything else is
/// small, and never waits for them.
pub(super) struct Slots {
    pub executions: Lane,
    /// Workflows, lists and changes.
    pub small: Lane,
}

/// The slots of one kind of requests.
pub(super) struct Lane {
    waiting: Semaphore,
    reading: Semaphore,
}

/// A slot for a request on which n8n works.
pub(super) struct WaitingSlot<'a> {
    lane: &'a Lane,
    _permit: SemaphorePermit<'a>,
}

impl Slots {
    /// Slots for this many bodies of each kind.
    pub(super) fn new(max_bodies: usize) -> Self {
        let lane = || Lane {
            waiting: Semaphore::new(MAX_WAITING.max(max_bodies)),
            reading: Semaphore::new(max_bodies.max(1)),
        };
        Self { executions: lane(), small: lane() }
    }
}

impl Lane {
    /// Waits until a request can be sent.
    pub(super) async fn enter(&self, progress: &Progress) -> Result<WaitingSlot<'_>, Error> {
        Ok(WaitingSlot { lane: self, _permit: acquire(&self.waiting, progress).await? })
    }

    /// Waits until a body that n8n does not have to send can be read.
    pub(super) async fn read(&self, progress: &Progress) -> Result<SemaphorePermit<'_>, Error> {
        acquire(&self.reading, progress).await
    }
}

impl<'a> WaitingSlot<'a> {
    /// Waits until the body, which has begun to arrive, can be read. Until then the slot stays taken, so that the
    /// bodies that are built but not read are limited, too.
    pub(super) async fn read(self, progress: &Progress) -> Result<SemaphorePermit<'a>, Error> {
        acquire(&self.lane.reading, progress).await
    }
}

async fn acquire<'a>(slots: &'a Semaphore, progress: &Progress) -> Result<SemaphorePermit<'a>, Error> {
    if let Ok(permit) = slots.try_acquire() {
        return Ok(permit);
    }
    progress.set(Stage::Queued);
    slots.acquire().await.map_err(|_| Error::Stopped)
}
