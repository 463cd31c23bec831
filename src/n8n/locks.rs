//! Named locks: calls that change the same workflow run one after another, because n8n has no locking and the last
//! writer would win; and so do proofs. The locks also apply to other processes on this machine.

use std::io::ErrorKind;

use tokio::sync::OwnedMutexGuard;

use super::error::Error;
use crate::blocking::blocking;
use crate::file_lock::FileLock;
use crate::json::stable_hash;
use crate::named_locks::NamedLocks;

/// A held lock; dropping it releases it.
pub struct Lock {
    /// Released before the lock within this process.
    _between_processes: Option<FileLock>,
    _within_process: OwnedMutexGuard<()>,
}

/// The locks of workflows, and of proofs.
#[derive(Default)]
pub(super) struct Locks(NamedLocks);

impl Locks {
    /// Acquires the lock with this name.
    pub(super) async fn lock(&self, name: &str) -> Result<Lock, Error> {
        self.lock_with(name, file_name(name)).await
    }

    /// Acquires the lock of the proofs in the n8n at this address.
    pub(super) async fn lock_proofs(&self, address: &str) -> Result<Lock, Error> {
        self.lock_with(address, proofs_file_name(address)).await
    }

    async fn lock_with(&self, name: &str, file: String) -> Result<Lock, Error> {
        let within_process = self.0.lock(name).await;
        // However many calls are cancelled, at most one thread per name waits for another process.
        blocking(move || Ok(Lock { _between_processes: lock_file(&file)?, _within_process: within_process })).await
    }
}

/// Acquires the lock between processes; `None` if there is no lock file, as for a user without a data folder.
fn lock_file(file: &str) -> Result<Option<FileLock>, Error> {
    let folder = dirs::data_local_dir().map(|folder| folder.join("n8n-lens").join("locks"));
    let Some(folder) = folder.filter(|folder| std::fs::create_dir_all(folder).is_ok()) else { return Ok(None) };
    match FileLock::acquire(&folder.join(file)) {
        Ok(lock) => Ok(Some(lock)),
        Err(error) if error.kind() == ErrorKind::WouldBlock => Err(Error::Locked(error.to_string())),
        Err(_) => Ok(None),
    }
}

/// The name of the lock file: the same in every build, because other processes must find it. Few files for many names:
/// two names that share a file wait for each other, which is harmless.
fn file_name(name: &str) -> String {
    format!("{:02x}", stable_hash(name) % 256)
}

/// The name of the lock file of the proofs in an n8n. They share it with nothing, since a proof takes long.
fn proofs_file_name(address: &str) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, address.as_bytes());
    let digits: String = digest.as_ref().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("proofs-{digits}")
}

#[cfg(test)]
mod tests {
    use super::{file_name, proofs_file_name};

    #[test]
    fn every_build_locks_the_same_file() {
        assert_eq!(["", "1", "workflow 1", "é"].map(file_name), ["d9", "10", "88", "5c"]);
    }

    #[test]
    fn proofs_in_two_n8n_do_not_wait_for_each_other() {
        let addresses: Vec<_> = (0..1000).map(|port| format!("http://127.0.0.1:{port}/api/v1")).collect();
        let files: std::collections::HashSet<_> = addresses.iter().map(|address| proofs_file_name(address)).collect();
        assert_eq!(files.len(), addresses.len());
    }
}
