//! Limits how many calls of one agent run at once, so that no agent keeps the others from the database.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Caller;

/// The maximum number of calls of one agent that run at once; the others wait.
const MAX_CALLS: usize = 2;

/// The calls in progress, by agent.
#[derive(Default)]
pub(super) struct CallLimit(Mutex<HashMap<String, Arc<Semaphore>>>);

impl CallLimit {
    /// Waits until a call may run; it must keep what this returns. Only tokens of agents are limited: a Runner's
    /// calls are small, and a local caller or an administrator is trusted with the whole database.
    pub(super) async fn admit(&self, caller: &Caller) -> Option<OwnedSemaphorePermit> {
        let calls = {
            let mut agents = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            agents.retain(|_, calls| Arc::strong_count(calls) > 1);
            let new = || Arc::new(Semaphore::new(MAX_CALLS));
            agents.entry(caller.agent()?.to_owned()).or_insert_with(new).clone()
        };
        // The semaphore is never closed.
        calls.acquire_owned().await.ok()
    }
}
