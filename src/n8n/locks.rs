//! Named locks: calls that change the same workflow run one after another, because n8n has no locking and the last
//! writer would win. The locks also apply to other processes on this machine.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::ErrorKind;

use tokio::sync::OwnedMutexGuard;

use super::error::Error;
use crate::blocking::blocking;
use crate::file_lock::FileLock;
use crate::named_locks::NamedLocks;

/// A held lock; dropping it releases it.
pub struct Lock {
    /// Released before the lock within this process.
    _between_processes: Option<FileLock>,
    _within_process: OwnedMutexGuard<()>,
}

/// The locks of workflows.
#[derive(Default)]
pub(super) struct Locks(NamedLocks);

impl Locks {
    /// Acquires the lock with this name.
    pub(super) async fn lock(&self, name: &str) -> Result<Lock, Error> {
        let within_process = self.0.lock(name).await;
        let name = name.to_owned();
        // However many calls are cancelled, at most one thread per name waits for another process.
        blocking(move || Ok(Lock { _between_processes: lock_file(&name)?, _within_process: within_process })).await
    }
}

/// Acquires the lock between processes; `None` if there is no lock file, as for a user without a data folder.
fn lock_file(name: &str) -> Result<Option<FileLock>, Error> {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    let folder = dirs::data_local_dir().map(|folder| folder.join("n8n-lens").join("locks"));
    let Some(folder) = folder.filter(|folder| std::fs::create_dir_all(folder).is_ok()) else { return Ok(None) };
    // Few files for many names: two names that share a file wait for each other, which is harmless.
    let file = folder.join(format!("{:02x}", hasher.finish() % 256));
    match FileLock::acquire(&file) {
        Ok(lock) => Ok(Some(lock)),
        Err(error) if error.kind() == ErrorKind::WouldBlock => Err(Error::Locked(error.to_string())),
        Err(_) => Ok(None),
    }
}
