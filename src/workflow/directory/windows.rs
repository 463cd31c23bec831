//! Folders that are held: while a handle is open that was not opened for sharing deletion, nobody can rename or remove
//! its folder, so that its path cannot lead elsewhere.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Permissions};
use std::io::{Error, ErrorKind, Result};
use std::os::windows::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use windows::Win32::Foundation::{ERROR_ACCESS_DENIED, ERROR_SHARING_VIOLATION, ERROR_STOPPED_ON_SYMLINK, WIN32_ERROR};
use windows::Win32::Storage::FileSystem::{
    FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_OPEN_REPARSE_POINT, FILE_SHARE_READ, FILE_SHARE_WRITE,
};

/// How long to wait for a program that has a file open, such as a virus scanner, before it cannot be replaced; and how
/// often to try.
const RENAME_TIMEOUT: Duration = Duration::from_secs(1);
const RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// An open folder.
#[derive(Debug)]
pub struct Directory {
    /// The folders from the root to this one.
    _held: Vec<File>,
    path: PathBuf,
}

impl Directory {
    /// Where it is, as people write it, without `\\?\`.
    pub fn path(&self) -> &Path {
        dunce::simplified(&self.path)
    }

    /// Opens a folder below a root, both without links in their paths.
    pub(in crate::workflow) fn open(root: &Path, path: &Path) -> Result<Self> {
        let below = path.strip_prefix(root).map_err(|_| ErrorKind::NotFound)?;
        let mut at = root.to_owned();
        let mut held = vec![hold(&at)?];
        for name in below {
            at.push(name);
            held.push(hold(&at)?);
        }
        fs::read_dir(&at)?;
        Ok(Self { _held: held, path: at })
    }

    /// Whether an error means that there is a link in place of a folder or a file.
    pub(in crate::workflow) fn met_link(error: &Error) -> bool {
        is(error, ERROR_STOPPED_ON_SYMLINK)
    }

    /// Whether this is a file, and not a folder. A link is an error, as when it is opened.
    pub(in crate::workflow) fn is_file(&self, name: &OsStr) -> Result<bool> {
        let found = fs::symlink_metadata(self.at(name)?)?;
        if found.is_symlink() { Err(link()) } else { Ok(found.is_file()) }
    }

    /// Opens a file for reading.
    pub(in crate::workflow) fn open_file(&self, name: &OsStr) -> Result<File> {
        let path = self.at(name)?;
        // Opened once more while it is held: a file in the cloud cannot be read through a handle of the link itself.
        let _held = hold(&path)?;
        File::open(&path)
    }

    /// Opens a file for locking; creates it if necessary.
    pub(in crate::workflow) fn open_lock(&self, name: &str) -> Result<File> {
        let mut options = File::options();
        options.create(true).truncate(false).read(true).write(true).custom_flags(FILE_FLAG_OPEN_REPARSE_POINT.0);
        options.open(self.at(name.as_ref())?)
    }

    /// Creates a file, which must not exist.
    pub(in crate::workflow) fn create(&self, name: &str) -> Result<File> {
        File::options().create_new(true).write(true).open(self.at(name.as_ref())?)
    }

    /// Creates a file, which must not exist. Its folder determines who can read it.
    pub(in crate::workflow) fn create_private(&self, name: &str) -> Result<File> {
        self.create(name)
    }

    /// Opens a folder in this one; creates it if necessary.
    pub(in crate::workflow) fn open_or_create_folder(&self, name: &str) -> Result<Self> {
        let path = self.at(name.as_ref())?;
        match fs::create_dir(&path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        Self::open(&self.path, &path)
    }

    /// Removes a file.
    pub(in crate::workflow) fn remove(&self, name: &str) -> Result<()> {
        fs::remove_file(self.at(name.as_ref())?)
    }

    /// Renames a file, replacing any other.
    pub(in crate::workflow) fn rename(&self, from: &str, to: &OsStr) -> Result<()> {
        let (from, to) = (self.at(from.as_ref())?, self.at(to)?);
        let start = Instant::now();
        loop {
            match fs::rename(&from, &to) {
                Err(error) if is_in_use(&error) && start.elapsed() < RENAME_TIMEOUT => {
                    std::thread::sleep(RETRY_INTERVAL);
                }
                done => return done,
            }
        }
    }

    /// The permissions of the entry with this name, if it exists.
    pub(in crate::workflow) fn permissions(&self, name: &OsStr) -> Result<Option<Permissions>> {
        match fs::symlink_metadata(self.at(name)?) {
            Ok(found) => Ok(Some(found.permissions())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The names of the files in the folder, without links and folders.
    pub(in crate::workflow) fn names(&self) -> Result<Vec<OsString>> {
        let entries = fs::read_dir(&self.path)?.filter_map(Result::ok);
        let entries = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
        Ok(entries.map(|entry| entry.file_name()).collect())
    }

    /// The path of a file in the folder.
    fn at(&self, name: &OsStr) -> Result<PathBuf> {
        // Text after a colon names another stream of the same file, which programs do not show.
        if name.as_encoded_bytes().contains(&b':') {
            return Err(Error::new(ErrorKind::InvalidInput, "the name of a file must not contain a colon"));
        }
        Ok(self.path.join(name))
    }
}

/// Opens the target of a path, which must not be a link, so that it cannot be replaced.
fn hold(path: &Path) -> Result<File> {
    let mut options = File::options();
    options.read(true).share_mode(FILE_SHARE_READ.0 | FILE_SHARE_WRITE.0);
    options.custom_flags(FILE_FLAG_BACKUP_SEMANTICS.0 | FILE_FLAG_OPEN_REPARSE_POINT.0);
    let held = options.open(path)?;
    if held.metadata()?.is_symlink() { Err(link()) } else { Ok(held) }
}

/// The error for a link in place of a folder or a file.
fn link() -> Error {
    Error::from_raw_os_error(ERROR_STOPPED_ON_SYMLINK.0.cast_signed())
}

fn is(error: &Error, code: WIN32_ERROR) -> bool {
    error.raw_os_error() == Some(code.0.cast_signed())
}

/// Whether another program has the file open. The system also denies access to a file that is about to be deleted.
fn is_in_use(error: &Error) -> bool {
    is(error, ERROR_SHARING_VIOLATION) || is(error, ERROR_ACCESS_DENIED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_folder_cannot_be_exchanged() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path().canonicalize().unwrap();
        let (folder, moved) = (root.join("a").join("b"), root.join("moved"));
        fs::create_dir_all(&folder).unwrap();
        let open = Directory::open(&root, &folder).unwrap();
        fs::rename(&folder, &moved).unwrap_err();
        fs::rename(root.join("a"), &moved).unwrap_err();
        drop(open);
        fs::rename(&folder, &moved).unwrap();
    }

    #[test]
    fn a_file_that_is_open_is_replaced_once_it_is_closed() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path().canonicalize().unwrap();
        fs::write(root.join("file.json"), "old").unwrap();
        let folder = Directory::open(&root, &root).unwrap();
        let reader = folder.open_file("file.json".as_ref()).unwrap();
        let closing = std::thread::spawn(move || {
            std::thread::sleep(RETRY_INTERVAL * 5);
            drop(reader);
        });
        let mut new = folder.create("new").unwrap();
        std::io::Write::write_all(&mut new, b"new").unwrap();
        folder.rename("new", "file.json".as_ref()).unwrap();
        assert_eq!(fs::read_to_string(root.join("file.json")).unwrap(), "new");
        assert_eq!(folder.names().unwrap(), ["file.json"]);
        closing.join().unwrap();
    }

    #[test]
    fn streams_of_files_are_refused() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path().canonicalize().unwrap();
        let folder = Directory::open(&root, &root).unwrap();
        assert_eq!(folder.create("file.txt:hidden.json").unwrap_err().kind(), ErrorKind::InvalidInput);
        assert!(folder.names().unwrap().is_empty());
    }
}
