//! Detects that the files of an SQLite database were deleted or replaced while it is open. SQLite would continue with
//! the files that it has open, and the changes would be lost with them.

use std::path::{Path, PathBuf};

use super::StoreError;
use crate::platform::{FileIdentity, file_identity};

/// The suffixes that SQLite appends to the name of a database, without links, for its log of changes and the index of that log.
/// Both files exist for as long as a connection is open.
const SUFFIXES: [&str; 2] = ["-wal", "-shm"];

/// The files of a database as they were when it was opened.
#[derive(Clone)]
pub(super) struct OpenFiles(Vec<(PathBuf, FileIdentity)>);

impl OpenFiles {
    /// The files of a database with an open connection that has been used. `resolved` is its path without links.
    pub(super) fn of(database: &Path, resolved: &Path) -> Result<Self, StoreError> {
        // A link can be redirected, so the database is checked by the path that was configured.
        let paths = SUFFIXES.iter().map(|suffix| with_suffix(resolved, suffix)).chain([database.to_owned()]);
        let files = paths.map(|path| file_identity(&path).map(|identity| (path, identity))).collect::<Option<_>>();
        files.map(Self).ok_or(StoreError::Replaced)
    }

    /// Refuses to continue if a file was deleted or replaced.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        let is_same = |(path, opened): &(PathBuf, FileIdentity)| file_identity(path).as_ref() == Some(opened);
        if self.0.iter().all(is_same) { Ok(()) } else { Err(StoreError::Replaced) }
    }
}

/// The path of a database with a suffix.
pub(super) fn with_suffix(database: &Path, suffix: &str) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push(suffix);
    path.into()
}
