//! A lock between processes: a file that one of them holds locked.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Error, ErrorKind, Read, Result, Seek, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::platform;

/// How long to wait for another process.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// How often to try.
const RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// The longest process id, bytes.
const PID_BYTES: u64 = 20;

/// A held lock. The system releases it when this is dropped, or the process ends.
pub(crate) struct FileLock {
    file: File,
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // So that the next holder, which can be another program, is not taken for this process.
        let _ = self.file.set_len(0);
    }
}

impl FileLock {
    /// Waits for the lock, for 10 s at most; blocks the thread.
    ///
    /// # Errors
    /// When the file cannot be opened or is not a regular file, and when another process holds the lock for longer: then
    /// the error names that process, if the system shows it (Linux), or else if it is one of ours and a locked file can be
    /// read (not on Windows).
    pub(crate) fn acquire(path: &Path) -> Result<Self> {
        Self::lock(open(path))
    }

    /// Like [`acquire`](Self::acquire), with a lock file that was opened for reading and writing, without following a
    /// link.
    ///
    /// # Errors
    /// As [`acquire`](Self::acquire).
    pub(crate) fn lock(opened: Result<File>) -> Result<Self> {
        let refused = || Error::other("the lock file next to it is not a regular file: remove it");
        let mut file = opened.map_err(|error| if platform::is_link(&error) { refused() } else { error })?;
        if !file.metadata()?.is_file() {
            return Err(refused());
        }
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if start.elapsed() < LOCK_TIMEOUT => std::thread::sleep(RETRY_INTERVAL),
                Err(TryLockError::WouldBlock) => return Err(held(&mut file)),
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        // For the error of waiting processes: nothing depends on it.
        let pid = std::process::id().to_string();
        let _ = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(pid.as_bytes()));
        Ok(Self { file })
    }
}

/// Opens the lock file, which must be neither a link nor a pipe: opening a pipe would wait for its other end.
fn open(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).read(true).write(true);
    platform::do_not_follow_links(&mut options);
    options.open(path)
}

fn held(file: &mut File) -> Error {
    let shown = platform::lock_holder(file).or_else(|| written(file));
    let holder = shown.unwrap_or_else(|| "another process".to_owned());
    let message = format!("{holder} has held its lock for {} s; try again when it is done", LOCK_TIMEOUT.as_secs());
    Error::new(ErrorKind::WouldBlock, message)
}

/// The process that has written its id into the file.
fn written(file: &mut File) -> Option<String> {
    let mut pid = String::new();
    file.rewind().ok()?;
    (&*file).take(PID_BYTES).read_to_string(&mut pid).ok()?;
    pid.parse::<u32>().ok().map(|pid| format!("process {pid}"))
}
