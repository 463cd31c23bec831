//! Turns by name: whoever reads a workflow to change it waits for those before it, since n8n has no lock and
//! the last writer would win. Other processes of this machine wait, too.

use std::collections::HashMap;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OwnedMutexGuard;

use crate::blocking::blocking;

/// A turn; it ends when this is dropped.
pub struct Turn {
    /// Held, not read: the lock of the file ends first.
    _file: Option<File>,
    _lock: OwnedMutexGuard<()>,
}

/// Who is at it, by name.
#[derive(Default)]
pub(super) struct Turns(Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>);

impl Turns {
    /// Waits for a turn.
    pub(super) async fn turn(&self, name: &str) -> Turn {
        let lock = {
            let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            locks.retain(|_, lock| Arc::strong_count(lock) > 1);
            locks.entry(name.to_owned()).or_default().clone()
        };
        let lock = lock.lock_owned().await;
        let name = name.to_owned();
        // Whoever is cancelled leaves one thread behind that waits for another process, and not one each.
        blocking(move || Turn { _file: lock_file(&name), _lock: lock }).await
    }
}

/// The lock among processes; none where this user has no folder for data.
fn lock_file(name: &str) -> Option<File> {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    let folder = dirs::data_dir()?.join("n8n-lens").join("turns");
    std::fs::create_dir_all(&folder).ok()?;
    // Few files for many names: two that share one wait for each other, which harms nothing.
    let file = folder.join(format!("{:02x}", hasher.finish() % 256));
    let file = File::options().create(true).truncate(false).write(true).open(file).ok()?;
    file.lock().ok().map(|()| file)
}
