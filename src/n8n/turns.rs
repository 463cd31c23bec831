//! Turns by name: whoever reads a workflow to change it waits for those before it, since n8n has no lock and
//! the last writer would win.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OwnedMutexGuard;

/// A turn; it ends when this is dropped.
pub struct Turn(#[allow(dead_code, reason = "it is held, not read")] OwnedMutexGuard<()>);

/// Who is at it, by name.
#[derive(Default)]
pub(super) struct Turns(Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>);

impl Turns {
    /// Waits for a turn.
    pub(super) async fn turn(&self, name: &str) -> Turn {
        let lock = {
            let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            locks.retain(|_, lock| Arc::strong_count(lock) > 1);
            locks.entry(name.to_owned()).or_default().clone()
        };
        Turn(lock.lock_owned().await)
    }
}
