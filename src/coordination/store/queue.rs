//! Passes units of work to the threads of the database, and returns their answers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

use super::{StoreError, Work};

/// The maximum number of waiting units. A database that hangs would otherwise collect them without limit.
const QUEUE_CAPACITY: usize = 4096;

/// How long a caller waits for the answer to a unit of work. It takes that long if the database hangs, or if
/// another process stopped while holding the lock.
pub(super) const ANSWER_TIMEOUT: Duration = Duration::from_secs(15);

/// How long the thread that is next in line keeps its connection without work. The other threads wait for the lock on
/// the receiver.
#[cfg(feature = "postgres")]
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// A unit of work with any type of answer.
pub(super) trait Job: Send {
    /// Runs the unit and keeps its answer; returns whether to commit its changes. It can run again if the
    /// transaction around it is retried. It does nothing if its caller is gone.
    fn run(&mut self, work: &mut Work<'_>) -> bool;

    /// Whether the caller is gone, so that the unit need not run.
    fn is_abandoned(&self) -> bool;

    /// Sends the answer, once the outcome of the transaction is known.
    fn answer(self: Box<Self>, outcome: Result<(), StoreError>);
}

/// The receiving end of the queue, shared by all threads.
#[derive(Clone)]
pub(super) struct JobReceiver(Arc<Mutex<Receiver<Box<dyn Job>>>>);

/// The sending end of the queue.
#[derive(Clone)]
pub(super) struct JobQueue(SyncSender<Box<dyn Job>>);

pub(super) fn job_queue() -> (JobQueue, JobReceiver) {
    let (sender, receiver) = sync_channel(QUEUE_CAPACITY);
    (JobQueue(sender), JobReceiver(Arc::new(Mutex::new(receiver))))
}

impl JobReceiver {
    /// Waits for the next job; `None` once the store has been dropped.
    pub(super) fn next(&self) -> Option<Box<dyn Job>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
    }

    /// Waits for the next job; `Ok(None)` if none came within the idle timeout, `Err` once the store has been
    /// dropped.
    #[cfg(feature = "postgres")]
    pub(super) fn next_or_idle(&self) -> Result<Option<Box<dyn Job>>, StoreError> {
        match self.0.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(IDLE_TIMEOUT) {
            Ok(job) => Ok(Some(job)),
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => Ok(None),
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => Err(StoreError::Closed),
        }
    }

    /// The next job, if one is waiting.
    pub(super) fn try_next(&self) -> Option<Box<dyn Job>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).try_recv().ok()
    }
}

impl JobQueue {
    /// Runs a unit of work on a thread of the database and waits for its answer. If the caller is cancelled, a
    /// unit that has begun still runs to its end, so that no transaction stays open; one that has not begun is
    /// skipped.
    pub(super) async fn submit<T, E, F>(&self, timeout: Duration, unit: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: FnMut(&mut Work<'_>) -> Result<T, E> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let closed = || E::from(StoreError::Closed);
        self.0.try_send(Box::new(Unit { unit, answer: None, reply })).map_err(|error| match error {
            TrySendError::Full(_) => E::from(StoreError::Busy),
            TrySendError::Disconnected(_) => closed(),
        })?;
        match tokio::time::timeout(timeout, answer).await {
            Ok(answer) => answer.map_err(|_| closed())?,
            Err(_) => Err(StoreError::Timeout(timeout).into()),
        }
    }
}

struct Unit<F, T, E> {
    unit: F,
    answer: Option<Result<T, E>>,
    reply: oneshot::Sender<Result<T, E>>,
}

impl<T, E, F> Job for Unit<F, T, E>
where
    T: Send,
    E: From<StoreError> + Send,
    F: FnMut(&mut Work<'_>) -> Result<T, E> + Send,
{
    fn run(&mut self, work: &mut Work<'_>) -> bool {
        if self.is_abandoned() {
            return false;
        }
        // A panic must not end the thread that all other units depend on.
        let result = catch_unwind(AssertUnwindSafe(|| (self.unit)(work)));
        let answer = result.unwrap_or_else(|_| Err(StoreError::Bug.into()));
        self.answer.insert(answer).is_ok()
    }

    fn is_abandoned(&self) -> bool {
        self.reply.is_closed()
    }

    fn answer(self: Box<Self>, outcome: Result<(), StoreError>) {
        let answer = match (self.answer, outcome) {
            // The unit's own error counts, whatever the outcome of the transaction.
            (Some(Err(error)), _) => Err(error),
            (_, Err(error)) => Err(error.into()),
            (Some(answer), Ok(())) => answer,
            (None, Ok(())) => Err(StoreError::Closed.into()),
        };
        // The caller may be gone.
        let _ = self.reply.send(answer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_timeout_names_the_time_that_the_caller_waited() {
        let (queue, _jobs) = job_queue();
        let timeout = Duration::from_millis(1);
        let answer: Result<(), StoreError> = queue.submit(timeout, |_| Ok(())).await;
        assert_eq!(answer, Err(StoreError::Timeout(timeout)));
        let import = StoreError::Timeout(Duration::from_secs(600)).to_string();
        assert!(import.contains("did not answer within 600 s"), "{import}");
    }
}
