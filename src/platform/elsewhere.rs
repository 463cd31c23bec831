//! Unix systems other than Linux.

use std::fs::File;
use std::path::{Path, PathBuf};

/// A folder for a file that a browser is to open.
pub(crate) fn browser_folder() -> PathBuf {
    std::env::temp_dir()
}

/// Whether a file is known to be on a network file system: it never is here.
pub(crate) fn is_on_network_file_system(_file: &Path) -> bool {
    false
}

/// The process that holds the lock of a file: this system does not show it.
pub(crate) fn lock_holder(_file: &File) -> Option<String> {
    None
}
