//! Unix.

use std::fs::{DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io::{Error, Result};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use rustix::fs::OFlags;
use rustix::io::Errno;
use tokio::signal::unix::{SignalKind, signal};

/// Readable and writable by the owner only.
const PRIVATE: u32 = 0o600;

/// The same for a folder, which its owner may enter.
const PRIVATE_FOLDER: u32 = 0o700;

/// Readable and writable by everyone whom the user's umask allows.
const SHARED: u32 = 0o666;

/// What users other than the owner may do with a file.
const OTHERS: u32 = 0o077;

/// Listens for SIGINT and SIGTERM from the moment it is called, and waits for the first one; forever if signals
/// cannot be received.
pub(crate) fn shutdown_signal() -> impl Future<Output = ()> {
    let signals = signal(SignalKind::terminate()).and_then(|term| Ok((term, signal(SignalKind::interrupt())?)));
    async {
        let Ok((mut terminate, mut interrupt)) = signals else {
            return std::future::pending().await;
        };
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    }
}

/// The name of the signal that ended a process, such as `SIGKILL`; `None` if it exited by itself.
pub(crate) fn signal_name(status: ExitStatus) -> Option<String> {
    let number = status.signal()?;
    // The standard library exposes names only in its display text: `signal: 9 (SIGKILL)`.
    let text = status.to_string();
    let name = text.split(['(', ')']).find(|word| word.starts_with("SIG"));
    Some(name.map_or_else(|| number.to_string(), str::to_owned))
}

/// The file to run for a program: the system finds it.
pub(crate) fn find_program(program: &Path) -> PathBuf {
    program.to_owned()
}

/// A path without links, as people write it: unchanged.
pub(crate) fn simplified(path: PathBuf) -> PathBuf {
    path
}

/// How many files this process may have open; `None` if there is no limit, or it is not known.
pub(crate) fn open_file_limit() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Nofile).current
}

/// Makes opening a link an error that [`is_link`] recognizes, and opening a pipe not wait for its other end.
pub(crate) fn do_not_follow_links(options: &mut OpenOptions) {
    options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
}

/// Whether a file was not opened because it is a link.
pub(crate) fn is_link(error: &Error) -> bool {
    // FreeBSD calls it `EMLINK`.
    [Errno::LOOP, Errno::MLINK].iter().any(|link| error.raw_os_error() == Some(link.raw_os_error()))
}

/// Options that create files for their owner only.
pub(crate) fn private_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(PRIVATE);
    options
}

/// Creates a folder that only its owner may enter, and the folders above it, unless it exists.
///
/// # Errors
/// It cannot be created.
pub(crate) fn create_private_folder(path: &Path) -> Result<()> {
    DirBuilder::new().recursive(true).mode(PRIVATE_FOLDER).create(path)
}

/// The permissions of a file for its owner only; `None` if the system has no such permissions.
pub(crate) fn private_permissions() -> Option<Permissions> {
    Some(Permissions::from_mode(PRIVATE))
}

/// The permissions of a new file that others may use; `None` if new files have those of their folder anyway.
pub(crate) fn shared_permissions() -> Option<Permissions> {
    Some(Permissions::from_mode(SHARED))
}

/// Whether other users of this machine may read or change a file, if that can be seen.
pub(crate) fn is_open_to_others(file: &Metadata) -> bool {
    file.permissions().mode() & OTHERS != 0
}

/// Whether a file belongs to another user.
pub(crate) fn is_of_another_user(file: &Metadata) -> bool {
    file.uid() != rustix::process::geteuid().as_raw()
}

/// Gives a new file the owner of the one that it replaces: root can do that for another user.
///
/// # Errors
/// This user may not hand the file to another one.
pub(crate) fn keep_owner(new: &File, old: &Metadata) -> Result<()> {
    let own = new.metadata()?;
    match (own.uid(), own.gid()) == (old.uid(), old.gid()) {
        true => Ok(()),
        false => fchown(new, Some(old.uid()), Some(old.gid())),
    }
}

/// Whether a path leads to this open file. `false` if that is not known.
pub(crate) fn is_file_at(file: &File, path: &Path) -> bool {
    let identity = |file: Metadata| (file.dev(), file.ino());
    file.metadata().ok().map(identity).is_some_and(|opened| file_identity(path) == Some(opened))
}

/// Distinguishes a file from a later one with the same path while it is open: the device and the inode.
pub(crate) type FileIdentity = (u64, u64);

/// The identity of the file that a path leads to, if there is one.
pub(crate) fn file_identity(path: &Path) -> Option<FileIdentity> {
    std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_have_names() {
        for (number, name) in [(9, "SIGKILL"), (11, "SIGSEGV"), (15, "SIGTERM"), (40, "40")] {
            assert_eq!(signal_name(ExitStatus::from_raw(number)).as_deref(), Some(name));
        }
        assert_eq!(signal_name(ExitStatus::from_raw(3 << 8)), None);
    }
}
