//! Locks by name: a call that reads a workflow in order to change it waits for earlier ones, because n8n has no lock
//! and the last writer would win. Other processes of this machine wait, too.

use std::collections::HashMap;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OwnedMutexGuard;

use crate::blocking::blocking;

/// A held lock; dropping it releases it.
pub struct Lock {
    /// Held, not read; released before the lock within this process.
    _between_processes: Option<File>,
    _within_process: OwnedMutexGuard<()>,
}

/// The locks that are held or waited for, by name.
#[derive(Default)]
pub(super) struct Locks(Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>);

impl Locks {
    /// Waits for the lock of this name.
    pub(super) async fn lock(&self, name: &str) -> Lock {
        let lock = {
            let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            locks.retain(|_, lock| Arc::strong_count(lock) > 1);
            locks.entry(name.to_owned()).or_default().clone()
        };
        let within_process = lock.lock_owned().await;
        let name = name.to_owned();
        // However many calls are cancelled, at most one thread per name is left waiting for another process.
        blocking(move || Lock { _between_processes: lock_file(&name), _within_process: within_process }).await
    }
}

/// The lock between processes; `None` if this user has no data folder.
fn lock_file(name: &str) -> Option<File> {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    let folder = dirs::data_dir()?.join("n8n-lens").join("locks");
    std::fs::create_dir_all(&folder).ok()?;
    // Few files for many names: two names that share a file wait for each other, which is harmless.
    let file = folder.join(format!("{:02x}", hasher.finish() % 256));
    let file = File::options().create(true).truncate(false).write(true).open(file).ok()?;
    file.lock().ok().map(|()| file)
}
