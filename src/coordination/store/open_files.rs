//! Notices that the files of an SQLite database were deleted or replaced while it is open. SQLite would go on with
//! the files that it has open, and the changes would be lost with them.

use std::path::{Path, PathBuf};

use super::StoreError;

/// The files next to the path of the database, from SQLite's names for them: the database, its log of changes and
/// the index of that log. All of them exist for as long as a connection is open.
const SUFFIXES: [&str; 3] = ["", "-wal", "-shm"];

/// The files of a database as they were when it was opened.
#[derive(Clone)]
pub(super) struct OpenFiles(Vec<(PathBuf, Identity)>);

impl OpenFiles {
    /// The files of a database, of which a connection has been used and is still open.
    pub(super) fn of(database: &Path) -> Result<Self, StoreError> {
        let identified = |suffix: &&str| {
            let mut path = database.as_os_str().to_owned();
            path.push(suffix);
            let path = PathBuf::from(path);
            identity(&path).map(|identity| (path, identity))
        };
        let files = SUFFIXES.iter().map(identified).collect::<Option<_>>();
        files.map(Self).ok_or(StoreError::Replaced)
    }

    /// Refuses to go on if a file was deleted or replaced.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        let is_same = |(path, opened): &(PathBuf, Identity)| identity(path).as_ref() == Some(opened);
        if self.0.iter().all(is_same) { Ok(()) } else { Err(StoreError::Replaced) }
    }
}

/// The device and the inode.
#[cfg(unix)]
type Identity = (u64, u64);

#[cfg(unix)]
fn identity(path: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

/// Elsewhere a file that is open cannot be deleted.
#[cfg(not(unix))]
type Identity = ();

#[cfg(not(unix))]
fn identity(_path: &Path) -> Option<Identity> {
    Some(())
}
