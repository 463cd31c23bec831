//! An open folder. It stays the same folder even if its path comes to lead elsewhere, so nothing is read or written outside
//! the root if a folder or a file is replaced with a link between the check of a path and its use.
//!
//! Unix has calls that start at an open folder. Windows does not let an open folder be replaced. cap-std would follow a
//! link that stays inside the root; here no link is followed at all, so that a file has only one name to be locked by.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{ErrorKind, Result, Write};

#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub use unix::Directory;

#[cfg(windows)]
mod windows;
#[cfg(windows)]
pub use windows::Directory;

impl Directory {
    /// Replaces a file with a text. At every instant the file is either the old one or the new one. `create` makes the temporary
    /// file that takes its place, always under the same name, so that a leftover is reused.
    pub(super) fn replace(
        &self,
        name: &OsStr,
        text: &[u8],
        temporary: &str,
        create: impl FnOnce(&str) -> Result<File>,
    ) -> Result<()> {
        self.remove_if_there(temporary)?;
        let write = || {
            let mut out = create(temporary)?;
            out.write_all(text)?;
            out.sync_all()?;
            self.rename(temporary, name)
        };
        // The error is what the caller must know; whether the leftover could be removed is not.
        write().inspect_err(|_| drop(self.remove(temporary)))
    }

    /// Removes a file, which may not exist.
    pub(super) fn remove_if_there(&self, name: &str) -> Result<()> {
        match self.remove(name) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}
