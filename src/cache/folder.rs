//! The folder and its files.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::claim;
use super::name::Name;
use crate::platform;

const ENTRY: &str = "zst";
const PART: &str = "part";
const LOCK: &str = "lock";

/// The folder of the cache.
pub(super) struct Folder(pub(super) PathBuf);

/// An entry, as the folder lists it.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Its file.
    pub path: PathBuf,
    /// Its size, bytes.
    pub bytes: u64,
    /// When it was last used.
    pub used: SystemTime,
}

impl Folder {
    pub(super) fn entry(&self, name: &Name) -> PathBuf {
        self.0.join(format!("{name}.{ENTRY}"))
    }

    pub(super) fn part(&self, name: &Name) -> PathBuf {
        self.0.join(format!("{name}.{PART}"))
    }

    pub(super) fn lock(&self, name: &Name) -> PathBuf {
        self.0.join(format!("{}.{LOCK}", name.lock()))
    }

    pub(super) fn key(&self) -> PathBuf {
        self.0.join("key")
    }

    /// Creates the folder, if it does not exist.
    ///
    /// # Errors
    /// It cannot be created, it belongs to another user, or others than its owner may enter it.
    pub(super) fn create(&self) -> io::Result<()> {
        platform::create_private_folder(&self.0)?;
        let folder = self.0.metadata()?;
        // Root may enter the folder of another user, who could then read and replace its contents.
        if platform::is_of_another_user(&folder) {
            let refusal =
                "its folder belongs to another user: run n8n-lens as that user, or name another folder with --cache";
            return Err(io::Error::other(refusal));
        }
        match platform::is_open_to_others(&folder) {
            true => Err(io::Error::other("other users may enter its folder: run chmod 700 on it")),
            false => Ok(()),
        }
    }

    /// The entries, least recently used first.
    pub(super) fn entries(&self) -> io::Result<Vec<Listed>> {
        let mut entries: Vec<_> = self.files(ENTRY)?.into_iter().filter_map(|(path, _)| listed(path)).collect();
        entries.sort_by_key(|entry| entry.used);
        Ok(entries)
    }

    /// Removes what killed processes left, and entries that were unused for this long.
    pub(super) fn sweep(&self, ttl: Duration) {
        for (part, name) in self.files(PART).unwrap_or_default() {
            // If it cannot be removed, the next start tries again.
            let _ = claim::unclaimed(&self.lock(&name), || remove(&part));
        }
        for entry in self.entries().unwrap_or_default() {
            if entry.used.elapsed().is_ok_and(|unused| unused > ttl) {
                let _ = remove(&entry.path);
            }
        }
    }

    /// The files with this ending and one of our names.
    fn files(&self, ending: &str) -> io::Result<Vec<(PathBuf, Name)>> {
        let mut files = Vec::new();
        for file in std::fs::read_dir(&self.0)? {
            let path = file?.path();
            let name = path.file_stem().and_then(OsStr::to_str).and_then(Name::parse);
            if let (Some(name), true) = (name, path.extension().is_some_and(|its| its == ending)) {
                files.push((path, name));
            }
        }
        Ok(files)
    }
}

fn listed(path: PathBuf) -> Option<Listed> {
    // Another process may have removed it by now.
    let metadata = path.metadata().ok()?;
    Some(Listed { bytes: metadata.len(), used: metadata.modified().ok()?, path })
}

/// Removes a file, which another process may have done already.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
