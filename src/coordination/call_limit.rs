//! Limits how many calls of one agent run at once, so that no agent keeps the others from the database.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Semaphore;

use super::Caller;
use super::store::Work;

/// The maximum number of calls of one agent that run at once; the others wait.
const MAX_CALLS: usize = 2;

/// The calls in progress, by agent.
#[derive(Default)]
pub(super) struct CallLimit(Mutex<HashMap<String, Arc<Semaphore>>>);

impl CallLimit {
    /// Waits until a call may run, and returns its unit of work. The call counts until the unit is dropped, since a unit
    /// that has begun runs to its end even if its caller has gone.
    ///
    /// Only tokens of agents are limited: a Runner's calls are small, and a local caller or an administrator is trusted
    /// with the whole database.
    pub(super) async fn admit<T, F>(&self, caller: &Caller, mut unit: F) -> impl FnMut(&mut Work<'_>) -> T + use<T, F>
    where
        F: FnMut(&mut Work<'_>) -> T,
    {
        let permit = match self.calls(caller) {
            // The semaphore is never closed.
            Some(calls) => calls.acquire_owned().await.ok(),
            None => None,
        };
        move |work: &mut Work<'_>| {
            let _counts = &permit;
            unit(work)
        }
    }

    /// The calls of the caller's agent.
    fn calls(&self, caller: &Caller) -> Option<Arc<Semaphore>> {
        let agent = caller.agent()?;
        let mut agents = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        agents.retain(|_, calls| Arc::strong_count(calls) > 1);
        let new = || Arc::new(Semaphore::new(MAX_CALLS));
        Some(agents.entry(agent.to_owned()).or_insert_with(new).clone())
    }
}
