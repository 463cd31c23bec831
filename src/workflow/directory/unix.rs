//! Folders by their descriptors.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Permissions};
use std::io::Result;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, mkdirat, open, openat, renameat, statat, unlinkat};
use rustix::io::Errno;

/// Folders on the way need not be readable.
#[cfg(target_os = "linux")]
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Opening a pipe would wait for its other end.
const FILE: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

/// An open folder.
#[derive(Debug)]
pub struct Directory {
    handle: OwnedFd,
    path: PathBuf,
}

impl Directory {
    /// Where it was when it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a folder below a root, both without links in their paths.
    pub(in crate::workflow) fn open(root: &Path, path: &Path) -> Result<Self> {
        let below = path.strip_prefix(root).map_err(|_| Errno::NOENT)?;
        let mut handle = open(root, FOLDER, Mode::empty())?;
        for name in below {
            handle = openat(&handle, name, FOLDER, Mode::empty())?;
        }
        Ok(Self { handle, path: path.to_owned() })
    }

    /// Whether an error means that there is a link in place of a folder or a file. FreeBSD calls it `EMLINK`.
    pub(in crate::workflow) fn met_link(error: &std::io::Error) -> bool {
        [Errno::LOOP, Errno::MLINK, Errno::NOTDIR].iter().any(|link| error.raw_os_error() == Some(link.raw_os_error()))
    }

    /// Whether this is a file, and not a folder, a pipe or a device. A link is an error, as when it is opened.
    pub(in crate::workflow) fn is_file(&self, name: &OsStr) -> Result<bool> {
        let found = statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW)?;
        match FileType::from_raw_mode(found.st_mode) {
            FileType::Symlink => Err(Errno::LOOP.into()),
            kind => Ok(kind == FileType::RegularFile),
        }
    }

    /// Opens a file, or anything else with this name, for reading.
    pub(in crate::workflow) fn open_file(&self, name: &OsStr) -> Result<File> {
        self.open_with(name, OFlags::RDONLY)
    }

    /// Opens a file for locking; creates it if necessary.
    pub(in crate::workflow) fn open_lock(&self, name: &str) -> Result<File> {
        self.open_with(name.as_ref(), OFlags::RDWR | OFlags::CREATE)
    }

    /// Creates a file, which must not exist.
    pub(in crate::workflow) fn create(&self, name: &str) -> Result<File> {
        self.open_with(name.as_ref(), OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL)
    }

    /// Creates a file that only its owner can read; it must not exist.
    pub(in crate::workflow) fn create_private(&self, name: &str) -> Result<File> {
        let flags = FILE | OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        Ok(File::from(openat(&self.handle, name, flags, Mode::from_raw_mode(0o600))?))
    }

    /// Opens a folder in this one; creates it, for its owner only, if necessary.
    pub(in crate::workflow) fn open_or_create_folder(&self, name: &str) -> Result<Self> {
        match mkdirat(&self.handle, name, Mode::from_raw_mode(0o700)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        let handle = openat(&self.handle, name, FOLDER, Mode::empty())?;
        Ok(Self { handle, path: self.path.join(name) })
    }

    fn open_with(&self, name: &OsStr, flags: OFlags) -> Result<File> {
        Ok(File::from(openat(&self.handle, name, FILE | flags, Mode::from_raw_mode(0o666))?))
    }

    /// Removes a file.
    pub(in crate::workflow) fn remove(&self, name: &str) -> Result<()> {
        Ok(unlinkat(&self.handle, name, AtFlags::empty())?)
    }

    /// Renames a file, replacing any other.
    pub(in crate::workflow) fn rename(&self, from: &str, to: &OsStr) -> Result<()> {
        Ok(renameat(&self.handle, from, &self.handle, to)?)
    }

    /// The permissions of the entry with this name, if it exists.
    pub(in crate::workflow) fn permissions(&self, name: &OsStr) -> Result<Option<Permissions>> {
        #[allow(clippy::unnecessary_cast, reason = "the type of the bits depends on the platform")]
        match statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => Ok(Some(Permissions::from_mode(Mode::from_raw_mode(found.st_mode).bits() as u32))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The names of the files in the folder, without links, folders, pipes and devices.
    pub(in crate::workflow) fn names(&self) -> Result<Vec<OsString>> {
        let readable = openat(&self.handle, ".", OFlags::RDONLY | OFlags::DIRECTORY | FILE, Mode::empty())?;
        let mut names = Vec::new();
        for entry in Dir::read_from(&readable)? {
            let name = OsStr::from_bytes(entry?.file_name().to_bytes()).to_owned();
            if self.is_file(&name).unwrap_or(false) {
                names.push(name);
            }
        }
        Ok(names)
    }
}
