//! Whether another process has a database with a write-ahead log open.

use std::path::Path;

/// Whether another process has it open: each connection holds a shared lock on one byte of `-shm`. `None` where that cannot
/// be seen. [`InUse`](super::header::InUse) must be alive.
#[cfg(unix)]
pub(super) fn is_open_elsewhere(shm: &Path) -> Option<bool> {
    use rustix::process::{Flock, FlockOffsetType, FlockType, fcntl_getlk};

    /// `UNIX_SHM_DMS` in SQLite's `os_unix.c`.
    const LOCK_BYTE: u64 = 128;
    let wanted =
        Flock { start: LOCK_BYTE, length: 1, pid: None, typ: FlockType::WriteLock, offset_type: FlockOffsetType::Set };
    match super::header::look(shm, |file| fcntl_getlk(file, &wanted)) {
        Ok(lock) => lock.ok().map(|lock| lock.is_some()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some(false),
        Err(_) => None,
    }
}

#[cfg(not(unix))]
pub(super) fn is_open_elsewhere(_shm: &Path) -> Option<bool> {
    None
}
