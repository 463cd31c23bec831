//! Units of work on their way to a thread of the database, and their answers on the way back.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

use super::{Fault, Work};

/// Units that may wait at once. Behind a database that stands still there is no end to them.
const WAITING: usize = 4096;

/// How long anybody waits for a database: one that is stopped, or a lock that a stopped process holds.
pub(super) const PATIENCE: Duration = Duration::from_secs(15);

/// How long the thread that waits for work keeps a connection that has none; the others wait for their turn.
const IDLE: Duration = Duration::from_secs(30);

/// A unit of work, whatever it answers.
pub(super) trait Job: Send {
    /// Does it, and keeps its answer; whether what it wrote is to stay. It may be run once more, when the
    /// database gave up the transaction around it. Nobody is waiting: then it does nothing.
    fn run(&mut self, work: &mut Work<'_>) -> bool;

    /// Hands the answer over, once it is known whether what was written stays.
    fn answer(self: Box<Self>, done: Result<(), Fault>);
}

/// Where threads take their work from.
#[derive(Clone)]
pub(super) struct Takers(Arc<Mutex<Receiver<Box<dyn Job>>>>);

/// Where it is put.
#[derive(Clone)]
pub(super) struct Queue(SyncSender<Box<dyn Job>>);

pub(super) fn queue() -> (Queue, Takers) {
    let (sender, receiver) = sync_channel(WAITING);
    (Queue(sender), Takers(Arc::new(Mutex::new(receiver))))
}

impl Takers {
    /// The next one, when it comes; `None` when the store is gone.
    pub(super) fn next(&self) -> Option<Box<dyn Job>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
    }

    /// The next one, if it comes before a connection has been idle for too long; `Err` when the store is gone.
    pub(super) fn next_before_idle(&self) -> Result<Option<Box<dyn Job>>, Fault> {
        match self.0.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(IDLE) {
            Ok(job) => Ok(Some(job)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(Fault::Closed),
        }
    }

    /// The next one, if it is there.
    pub(super) fn at_hand(&self) -> Option<Box<dyn Job>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).try_recv().ok()
    }
}

impl Queue {
    /// Has a unit of work done. One that was begun is ended, even if nobody waits for it any more: a call
    /// that is cut off leaves no transaction open. One that was not yet is not begun then.
    pub(super) async fn put<T, E, F>(&self, patience: Duration, unit: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Fault> + Send + 'static,
        F: FnMut(&mut Work<'_>) -> Result<T, E> + Send + 'static,
    {
        let (reply, answered) = oneshot::channel();
        let closed = || E::from(Fault::Closed);
        self.0.try_send(Box::new(Unit { unit, answer: None, reply })).map_err(|error| match error {
            TrySendError::Full(_) => E::from(Fault::Busy),
            TrySendError::Disconnected(_) => closed(),
        })?;
        match tokio::time::timeout(patience, answered).await {
            Ok(answered) => answered.map_err(|_| closed())?,
            Err(_) => Err(Fault::Silent.into()),
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
    E: From<Fault> + Send,
    F: FnMut(&mut Work<'_>) -> Result<T, E> + Send,
{
    fn run(&mut self, work: &mut Work<'_>) -> bool {
        if self.reply.is_closed() {
            return false;
        }
        // One fault of ours must not end the thread that all others wait for.
        let done = catch_unwind(AssertUnwindSafe(|| (self.unit)(work)));
        let answer = done.unwrap_or_else(|_| Err(Fault::Ours.into()));
        self.answer.insert(answer).is_ok()
    }

    fn answer(self: Box<Self>, done: Result<(), Fault>) {
        let answer = match (self.answer, done) {
            // What was refused is refused, whatever became of the transaction.
            (Some(Err(refused)), _) => Err(refused),
            (_, Err(fault)) => Err(fault.into()),
            (Some(answer), Ok(())) => answer,
            (None, Ok(())) => Err(Fault::Closed.into()),
        };
        // Whoever asked may be gone.
        let _ = self.reply.send(answer);
    }
}
