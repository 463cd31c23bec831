//! Files that can be fetched again: a folder of compressed bodies, shared by several processes of one user.
//!
//! This module knows files, not their contents. A body has a [`Name`] that reveals nothing about it. It is written
//! while it arrives, by the one process that holds its [`Claim`], and becomes an [`Entry`], with a note, if it is
//! complete and an [`Inspector`] wants it kept. The reader checks whether the note is still true. A failure here, from
//! a full disk to a damaged file, only means that there is no entry: it is logged once and is never an error.
//!
//! | file | contents |
//! |---|---|
//! | `<name>.zst` | an entry; its last modification is its last use |
//! | `<name>.part` | a body that is being written; only a killed process leaves one |
//! | `00.lock` … `ff.lock` | held by the process that writes a body whose name begins this way; contains its progress |
//! | `key` | the key of the names |

mod claim;
mod entry;
mod folder;
mod name;
mod writer;

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

pub use claim::{Amount, Attempt, Claim, Holder, State};
pub use entry::{Body, Entry, Watch};
pub use folder::Listed;
pub use name::Name;
pub use writer::{Inspector, Writer};

use folder::Folder;

/// Where the cache is, and what it may hold.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The folder, which only its owner may enter. It is created if it does not exist.
    pub folder: PathBuf,
    /// The maximum number of bytes of all entries.
    pub max_bytes: u64,
    /// How long a body may be used after it was fetched.
    pub ttl: Duration,
}

/// A folder of bodies. Cheap to clone; nothing is read or created before the first use.
#[derive(Clone)]
pub struct Cache(Arc<Shared>);

struct Shared {
    settings: Settings,
    folder: Folder,
    /// Set once the folder was prepared.
    key: OnceLock<name::Key>,
    has_complained: AtomicBool,
}

impl Cache {
    /// The cache in a folder.
    pub fn new(settings: Settings) -> Self {
        let folder = Folder(settings.folder.clone());
        let has_complained = AtomicBool::new(false);
        Self(Arc::new(Shared { settings, folder, key: OnceLock::new(), has_complained }))
    }

    /// Its settings.
    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// The name of the body that these parts identify; `None` if the folder cannot be used. Blocks.
    pub fn name(&self, parts: &[&[u8]]) -> Option<Name> {
        Some(self.usable(self.prepare())?.name(parts))
    }

    /// An entry that is not too old; a damaged one is removed. Blocks.
    pub fn find(&self, name: &Name) -> Option<Entry> {
        let found = Entry::open(&self.entry_path(name));
        match found {
            Ok(entry) if entry.age().is_some_and(|age| age <= self.settings().ttl) => return Some(entry),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => self.complain(&error),
        }
        self.remove(name);
        None
    }

    /// Removes an entry, if it is there. Blocks.
    pub fn remove(&self, name: &Name) {
        match std::fs::remove_file(self.entry_path(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => self.complain(&error),
            _ => {}
        }
    }

    /// Claims the right to write a body; `None` if it cannot be written. Blocks.
    pub fn claim(&self, name: &Name) -> Option<Attempt> {
        self.usable(Claim::attempt(self, name))?
    }

    /// The entries, least recently used first. Blocks.
    ///
    /// # Errors
    /// The folder cannot be used.
    pub fn list(&self) -> io::Result<Vec<Listed>> {
        // Nothing is removed because of its age: another process may keep bodies for longer.
        self.0.folder.create()?;
        self.0.folder.entries()
    }

    /// Removes all entries, but no body that is being written; returns what was removed. Blocks.
    ///
    /// # Errors
    /// The folder cannot be used, or a file cannot be removed.
    pub fn clear(&self) -> io::Result<Vec<Listed>> {
        let entries = self.list()?;
        self.0.folder.sweep(Duration::MAX);
        entries.iter().try_for_each(|entry| folder::remove(&entry.path))?;
        Ok(entries)
    }

    /// Creates the folder and removes leftovers, at the first use; returns the key of the names.
    fn prepare(&self) -> io::Result<&name::Key> {
        if let Some(key) = self.0.key.get() {
            return Ok(key);
        }
        self.0.folder.create()?;
        let key = name::Key::of(&self.0.folder.key())?;
        self.0.folder.sweep(self.settings().ttl);
        Ok(self.0.key.get_or_init(|| key))
    }

    /// Removes the least recently used entries until there is room for this many bytes.
    ///
    /// # Errors
    /// The folder cannot be read, or a file cannot be removed.
    fn make_room(&self, bytes: u64) -> io::Result<()> {
        let Settings { max_bytes, ttl, .. } = *self.settings();
        let entries = self.0.folder.entries()?;
        let mut held: u64 = entries.iter().map(|entry| entry.bytes).sum();
        for entry in entries {
            // An entry unused for this long is too old to be used.
            let is_old = SystemTime::now().duration_since(entry.used).is_ok_and(|age| age > ttl);
            if held.saturating_add(bytes) > max_bytes || is_old {
                folder::remove(&entry.path)?;
                held -= entry.bytes;
            }
        }
        Ok(())
    }

    fn entry_path(&self, name: &Name) -> PathBuf {
        self.0.folder.entry(name)
    }

    fn usable<T>(&self, done: io::Result<T>) -> Option<T> {
        done.map_err(|error| self.complain(&error)).ok()
    }

    /// Logs the first failure. The text of a system error names no file.
    fn complain(&self, error: &io::Error) {
        if self.0.has_complained.swap(true, Relaxed) {
            tracing::debug!(%error, "the cache");
        } else {
            tracing::warn!(%error, "the cache has a problem, and n8n is asked again instead: check its folder and the disk");
        }
    }
}
