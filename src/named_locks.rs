//! Locks by name, within this process: waiting for one takes no thread.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OwnedMutexGuard;

/// The locks that are held or waited for, by name.
#[derive(Default)]
pub(crate) struct NamedLocks(Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>);

impl NamedLocks {
    /// Waits for the lock with this name; dropping the guard releases it.
    pub(crate) async fn lock(&self, name: &str) -> OwnedMutexGuard<()> {
        let lock = {
            let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            locks.retain(|_, lock| Arc::strong_count(lock) > 1);
            locks.entry(name.to_owned()).or_default().clone()
        };
        lock.lock_owned().await
    }
}
