//! The first bytes of a database file, and the files next to it, which determine how it may be opened.
//!
//! POSIX drops all locks that a process holds on a file when the process closes any handle of it, so a look at the file
//! would drop the locks of SQLite's own handles. Handles are therefore kept open while a connection of this process is, and
//! closed with the last one.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use crate::json::ReadAt;
use crate::platform;
use crate::store::error::{DATABASE, Error};

/// The beginning of every SQLite file.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// How many bytes the header has.
const HEADER_BYTES: usize = 100;

/// The write version: 2 for a write-ahead log.
const WRITE_VERSION: usize = 18;

/// A number that each change of a file without a write-ahead log counts up.
const CHANGE_COUNTER: std::ops::Range<usize> = 24..28;

/// What determines how a database may be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::store) struct Header {
    pub is_wal: bool,
    change_counter: [u8; 4],
    bytes: u64,
    /// A checkpoint of a write-ahead log may leave the counter unchanged.
    modified: Option<SystemTime>,
    pub has_wal: bool,
    pub has_shm: bool,
    pub has_journal: bool,
}

/// The handles that must not be closed yet, and how many connections there are.
struct Open {
    connections: usize,
    files: Vec<(PathBuf, File)>,
}

static OPEN: Mutex<Open> = Mutex::new(Open { connections: 0, files: Vec::new() });

/// Lives as long as a connection of this process.
pub(super) struct InUse(());

impl InUse {
    pub(super) fn begin() -> Self {
        open().connections += 1;
        Self(())
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        let mut open = open();
        open.connections -= 1;
        if open.connections == 0 {
            open.files.clear();
        }
    }
}

impl Open {
    /// The file at this path, which stays open until the last connection of this process is closed.
    fn file(&mut self, path: &Path) -> io::Result<&mut File> {
        let known = self.files.iter().position(|(other, known)| other == path && platform::is_file_at(known, path));
        let at = match known {
            Some(at) => at,
            None => {
                let opened = File::open(path)?;
                self.files.push((path.to_owned(), opened));
                self.files.len() - 1
            }
        };
        Ok(&mut self.files[at].1)
    }
}

/// Passes a file next to the database to `look`. [`InUse`] must be alive.
#[cfg(unix)]
pub(super) fn look<T>(path: &Path, look: impl FnOnce(&File) -> T) -> io::Result<T> {
    open().file(path).map(|file| look(file))
}

fn open() -> std::sync::MutexGuard<'static, Open> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The path of a file next to the database.
pub(super) fn next_to(file: &Path, ending: &str) -> PathBuf {
    let mut path = file.as_os_str().to_owned();
    path.push(ending);
    path.into()
}

impl Header {
    /// Reads the header of a database. [`InUse`] must be alive.
    ///
    /// # Errors
    /// There is no such file, it may not be read, or it is not SQLite's.
    pub(super) fn of(file: &Path) -> Result<Self, Error> {
        let mut open = open();
        let opened = open.file(file).map_err(unreadable)?;
        let mut header = [0; HEADER_BYTES];
        match opened.read_at(0, &mut header) {
            Ok(()) if header.starts_with(MAGIC) => {}
            Ok(()) => return Err(Error::NotSqlite),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Err(Error::NotSqlite),
            Err(error) => return Err(unreadable(error)),
        }
        let exists = |ending| next_to(file, ending).try_exists().unwrap_or(false);
        let mut change_counter = [0; 4];
        change_counter.copy_from_slice(&header[CHANGE_COUNTER]);
        Ok(Self {
            is_wal: header[WRITE_VERSION] == 2,
            change_counter,
            bytes: opened.len(),
            modified: opened.metadata().and_then(|metadata| metadata.modified()).ok(),
            has_wal: exists("-wal"),
            has_shm: exists("-shm"),
            has_journal: exists("-journal"),
        })
    }

    /// Whether n8n is running, if that can be seen; `is_open` is the result of
    /// [`is_open_elsewhere`](super::alive::is_open_elsewhere).
    pub(in crate::store) fn is_n8n_running(&self, is_open: Option<bool>) -> Option<bool> {
        match (self.is_wal, self.has_wal) {
            (true, true) => is_open,
            // n8n removes the log when it stops.
            (true, false) => Some(false),
            (false, _) => None,
        }
    }

    /// Whether no process has it open: SQLite then neither needs nor may create the files next to it.
    pub(super) fn is_closed(&self) -> bool {
        self.is_wal && !self.has_wal
    }

    /// Whether `-wal` and `-shm` are there: n8n makes both when it starts, and removes both when it stops.
    pub(super) fn log_files(&self) -> (bool, bool) {
        (self.has_wal, self.has_shm)
    }

    /// Whether there is a write-ahead log without its index: n8n is starting or stopping, or was killed and its `-shm` is gone.
    pub(super) fn lacks_index(&self) -> bool {
        self.is_wal && self.has_wal && !self.has_shm
    }
}

/// Why the database file cannot be read.
pub(super) fn unreadable(error: io::Error) -> Error {
    match error.kind() {
        ErrorKind::NotFound => Error::NoFile,
        _ => Error::reading(DATABASE)(error),
    }
}
