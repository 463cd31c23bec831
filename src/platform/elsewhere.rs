//! Unix systems other than Linux.

use std::path::{Path, PathBuf};

/// A folder for a file that a browser is to open.
pub(crate) fn browser_folder() -> PathBuf {
    std::env::temp_dir()
}

/// Whether a file is known to be on a network file system: it never is here.
pub(crate) fn is_on_network_file_system(_file: &Path) -> bool {
    false
}
