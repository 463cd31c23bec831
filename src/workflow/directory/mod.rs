//! An open folder. It stays the same folder whatever its path leads to meanwhile, so nothing is read or written outside the
//! root when a folder or a file is exchanged with a link between the check of a path and its use.
//!
//! Unix has calls that start at an open folder. Windows does not let an open folder be exchanged.

#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub use unix::Directory;

#[cfg(windows)]
mod windows;
#[cfg(windows)]
pub use windows::Directory;
