//! Windows.

use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io::{Error, Result};
use std::os::windows::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf, Prefix};
use std::process::ExitStatus;

use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown};
use windows::Win32::Storage::FileSystem::FILE_FLAG_OPEN_REPARSE_POINT;

/// Listens for Ctrl-C, Ctrl-Break, the closing of the console and the shutdown of the system from the moment it is
/// called, and waits for the first one; forever if they cannot be received. The system ends the process 5 s after the
/// console was closed.
pub(crate) fn shutdown_signal() -> impl Future<Output = ()> {
    let signals = ctrl_c().and_then(|interrupt| Ok((interrupt, ctrl_break()?, ctrl_close()?, ctrl_shutdown()?)));
    async {
        let Ok((mut interrupt, mut stop, mut close, mut shutdown)) = signals else {
            return std::future::pending().await;
        };
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = stop.recv() => {}
            _ = close.recv() => {}
            _ = shutdown.recv() => {}
        }
    }
}

/// The name of the signal that ended a process: Windows has no signals.
pub(crate) fn signal_name(_status: ExitStatus) -> Option<String> {
    None
}

/// The file to run for a program. The system itself finds only `.exe` files by their bare names, and not `npx.cmd`.
pub(crate) fn find_program(program: &Path) -> PathBuf {
    which::which(program).unwrap_or_else(|_| program.to_owned())
}

/// A path without links, as people write it: without `\\?\`.
pub(crate) fn simplified(path: PathBuf) -> PathBuf {
    dunce::simplified(&path).to_owned()
}

/// How many files this process may have open: no limit counts sockets.
pub(crate) fn open_file_limit() -> Option<u64> {
    None
}

/// Makes opening a link open the link itself, which is not a regular file.
pub(crate) fn do_not_follow_links(options: &mut OpenOptions) {
    options.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT.0);
}

/// Whether a file was not opened because it is a link: links are opened.
pub(crate) fn is_link(_error: &Error) -> bool {
    false
}

/// Options that create files with the permissions of their folder.
pub(crate) fn private_options() -> OpenOptions {
    OpenOptions::new()
}

/// Creates a folder with the permissions of the one that it is in, and the folders above it, unless it exists.
///
/// # Errors
/// It cannot be created.
pub(crate) fn create_private_folder(path: &Path) -> Result<()> {
    std::fs::create_dir_all(path)
}

/// The permissions of a file for its owner only: those that it inherits from its folder are kept.
pub(crate) fn private_permissions() -> Option<Permissions> {
    None
}

/// The permissions of a new file that others may use: those of its folder.
pub(crate) fn shared_permissions() -> Option<Permissions> {
    None
}

/// Whether other users of this machine may read or change a file: that is not known.
pub(crate) fn is_open_to_others(_file: &Metadata) -> bool {
    false
}

/// Whether a file belongs to another user: that is not known.
pub(crate) fn is_of_another_user(_file: &Metadata) -> bool {
    false
}

/// The process that holds the lock of a file: this system does not show it.
pub(crate) fn lock_holder(_file: &File) -> Option<String> {
    None
}

/// Gives a new file the owner of the one that it replaces: it keeps its own.
///
/// # Errors
/// None.
pub(crate) fn keep_owner(_new: &File, _old: &Metadata) -> Result<()> {
    Ok(())
}

/// Whether a path leads to this open file: that is not known.
pub(crate) fn is_file_at(_file: &File, _path: &Path) -> bool {
    false
}

/// Distinguishes a file from a later one with the same path while it is open: its path without links. SQLite opens its
/// files so that they can be neither deleted nor renamed meanwhile.
pub(crate) type FileIdentity = PathBuf;

/// The identity of the file that a path leads to, if there is one.
pub(crate) fn file_identity(path: &Path) -> Option<FileIdentity> {
    path.canonicalize().ok()
}

/// A folder for a file that a browser is to open: each user has a folder for temporary files.
pub(crate) fn browser_folder() -> PathBuf {
    std::env::temp_dir()
}

/// Whether a file is known to be on a network file system, also on one that has a drive letter.
pub(crate) fn is_on_network_file_system(file: &Path) -> bool {
    let resolved = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    match resolved.components().next() {
        Some(Component::Prefix(prefix)) => matches!(prefix.kind(), Prefix::UNC(..) | Prefix::VerbatimUNC(..)),
        _ => false,
    }
}
