//! Named locks: calls that change the same workflow run one after another, because n8n has no locking and the last
//! writer would win. The locks also apply to other processes on this machine.

use std::collections::HashMap;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OwnedMutexGuard;

use crate::blocking::blocking;

/// A held lock; dropping it releases it.
pub struct Lock {
    /// Released before the lock within this process.
    _between_processes: Option<File>,
    _within_process: OwnedMutexGuard<()>,
}

/// The locks that are held or waited for, by name.
#[derive(Default)]
pub(super) struct Locks(Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>);

impl Locks {
    /// Acquires the lock with this name.
    pub(super) async fn lock(&self, name: &str) -> Lock {
        let lock = {
            let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            locks.retain(|_, lock| Arc::strong_count(lock) > 1);
            locks.entry(name.to_owned()).or_default().clone()
        };
        let within_process = lock.lock_owned().await;
        let name = name.to_owned();
        // However many calls are cancelled, at most one thread per name waits for another process.
        blocking(move || Lock { _between_processes: lock_file(&name), _within_process: within_process }).await
    }
}

/// Acquires the lock between processes; `None` if there is no lock file, as for a user without a data folder.
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
