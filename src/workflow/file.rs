//! Workflow files, confined to a folder.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::directory::Directory;
use crate::json::shorten;

/// The largest file, in bytes. n8n accepts 16 MiB by default.
pub const FILE_BYTES: u64 = 64 * 1024 * 1024;

/// The most characters of a path in an error.
const PATH_CHARS: usize = 300;

/// The folder to which workflow files are confined. By default no file can be read or written.
#[derive(Clone, Debug, Default)]
pub struct Files {
    root: Option<PathBuf>,
}

/// Why a file is not read or written, in words for the agent.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// This server has no folder for workflow files.
    #[error(
        "This server has no folder for workflow files. Ask its operator to start it with --files-root or --auth-token."
    )]
    NoRoot,
    /// There is no such file.
    #[error("File '{0}' does not exist. Relative paths start at the folder for workflow files.")]
    Missing(String),
    /// The folder of a new file does not exist.
    #[error("The folder of file '{0}' does not exist. Create it first, or pass another path.")]
    NoFolder(String),
    /// A folder, a device, a pipe.
    #[error("'{0}' is not a file.")]
    NotAFile(String),
    /// Not a folder.
    #[error("'{0}' is not a folder.")]
    NotAFolder(String),
    /// It is outside the folder, itself or through a link.
    #[error("'{0}' is outside the folder for workflow files (--files-root). Give a path inside it.")]
    Outside(String),
    /// It, or a folder in its path, was replaced with a link while in use.
    #[error("'{0}' was replaced while it was used. Try again.")]
    Replaced(String),
    /// A link without a target, which cannot be written through.
    #[error("'{0}' is a link to a file that does not exist. Remove it, or pass another path.")]
    DanglingLink(String),
    /// It is too large.
    #[error("File '{0}' is larger than 64 MiB, which no workflow is.")]
    TooLarge(String),
    /// The system refuses to read it.
    #[error("File '{0}' cannot be read: {1}.")]
    Unreadable(String, std::io::Error),
    /// The system refuses to write it.
    #[error("File '{0}' cannot be written: {1}.")]
    Unwritable(String, std::io::Error),
    /// Its name is not allowed for a workflow file.
    #[error("'{0}' is not a name for a workflow file: it must end in .json and not begin with a dot.")]
    InvalidName(String),
    /// It already exists, but must not.
    #[error("File '{0}' already exists. Give another path or name.")]
    Exists(String),
    /// It is not the version that the caller knows.
    #[error(
        "File '{0}' has changed since: its version is now {1}. Nothing was changed. Read it again before you edit it."
    )]
    Changed(String, String),
    /// The text of this version is not kept.
    #[error(
        "There is no version '{0}' of this file: pass a previousVersionId of edit_workflow. The last 20 are kept in each folder."
    )]
    NoVersion(String),
    /// It exists and is not a workflow, so it is not replaced.
    #[error("File '{0}' exists and is not a workflow, so it is not replaced: {1}. Give another path.")]
    NotAWorkflow(String, super::Error),
    /// It does not hold a workflow.
    #[error("File '{0}' cannot be used: {1}.")]
    Unusable(String, super::Error),
    /// The edit is not possible.
    #[error(transparent)]
    Edit(super::Error),
}

impl Files {
    /// Files below `root`.
    ///
    /// # Errors
    /// A sentence, if the root does not exist or is not a folder.
    pub fn below(root: &Path) -> Result<Self, String> {
        let refused = |why: &str| format!("The folder for workflow files, {}, {why}.", root.display());
        let folder = root.canonicalize().map_err(|error| refused(&format!("cannot be used: {error}")))?;
        if !folder.is_dir() {
            return Err(refused("is not a folder"));
        }
        Ok(Self { root: Some(folder) })
    }

    /// Reads a file. A relative path starts at the root.
    ///
    /// # Errors
    /// [`Error::Missing`], [`Error::NotAFile`], [`Error::Outside`] or [`Error::TooLarge`], and [`Error::Unreadable`] with
    /// the system's reason.
    pub fn read(&self, path: &str) -> Result<Vec<u8>, Error> {
        let file = self.resolve(path)?;
        let (directory, name) = self.open_parent(&file, path)?;
        read(&directory, name, path)
    }

    /// Opens a file of any size for reading.
    ///
    /// # Errors
    /// As [`read`](Self::read), except that no file is too large.
    pub fn open(&self, path: &str) -> Result<File, Error> {
        let file = self.resolve(path)?;
        let (directory, name) = self.open_parent(&file, path)?;
        open(&directory, name, path)
    }

    /// Opens the folder of a resolved path; returns it with the name of the file.
    pub(super) fn open_parent<'a>(&self, file: &'a Path, path: &str) -> Result<(Directory, &'a OsStr), Error> {
        let root = self.root()?;
        let parent = file.parent().filter(|parent| parent.starts_with(root)).zip(file.file_name());
        let (parent, name) = parent.ok_or_else(|| Error::NotAFile(path.to_owned()))?;
        Ok((Directory::open(root, parent).map_err(|error| unreadable(path, error))?, name))
    }

    /// The existing file that a path leads to, through links and `..`.
    pub(super) fn resolve(&self, path: &str) -> Result<PathBuf, Error> {
        let root = self.root()?;
        let requested = root.join(path);
        let inside = |found: &Path| found.starts_with(root);
        let path = shorten(path, PATH_CHARS);
        match requested.canonicalize() {
            Ok(found) if inside(&found) => Ok(found),
            Ok(_) => Err(Error::Outside(path)),
            // It is not revealed whether a file outside exists.
            Err(_) if !inside(&nearest_existing(&lexically(&requested))) => Err(Error::Outside(path)),
            Err(error) if error.kind() == ErrorKind::NotFound => Err(Error::Missing(path)),
            Err(error) => Err(Error::Unreadable(path, error)),
        }
    }

    /// The file that a path leads to; it may not exist, but its folder must.
    pub(super) fn resolve_new(&self, path: &str) -> Result<PathBuf, Error> {
        match self.resolve(path) {
            Err(Error::Missing(..)) => {}
            found => return found,
        }
        let root = self.root()?;
        let requested = root.join(path);
        let missing = || Error::NoFolder(shorten(path, PATH_CHARS));
        let (folder, name) = requested.parent().zip(requested.file_name()).ok_or_else(missing)?;
        let folder = folder.canonicalize().map_err(|_| missing())?;
        if !folder.starts_with(root) {
            return Err(Error::Outside(shorten(path, PATH_CHARS)));
        }
        let file = folder.join(name);
        match file.symlink_metadata() {
            Ok(found) if found.is_symlink() => Err(Error::DanglingLink(shorten(path, PATH_CHARS))),
            _ => Ok(file),
        }
    }

    /// Where relative paths start, and what no path leaves.
    fn root(&self) -> Result<&Path, Error> {
        self.root.as_deref().ok_or(Error::NoRoot)
    }

    /// Opens a folder; by default the root.
    ///
    /// # Errors
    /// [`Error::Missing`], [`Error::NotAFolder`] or [`Error::Outside`], and [`Error::Unreadable`] with the system's
    /// reason.
    pub fn open_folder(&self, path: Option<&str>) -> Result<Directory, Error> {
        let folder = match path {
            Some(path) => self.resolve(path)?,
            None => self.root()?.to_owned(),
        };
        let shown = folder.display().to_string();
        if !folder.is_dir() {
            return Err(Error::NotAFolder(shown));
        }
        Directory::open(self.root()?, &folder).map_err(|error| unreadable(&shown, error))
    }
}

/// Opens a file.
fn open(directory: &Directory, name: &OsStr, path: &str) -> Result<File, Error> {
    let unreadable = |error| unreadable(path, error);
    let not_a_file = || Error::NotAFile(path.to_owned());
    // Before opening it: opening a pipe would release a program that waits to write to it.
    if !directory.is_file(name).map_err(unreadable)? {
        return Err(not_a_file());
    }
    let file = directory.open_file(name).map_err(unreadable)?;
    // And afterwards: it may have been replaced in between.
    if !file.metadata().map_err(unreadable)?.is_file() {
        return Err(not_a_file());
    }
    Ok(file)
}

/// Reads a file.
pub(super) fn read(directory: &Directory, name: &OsStr, path: &str) -> Result<Vec<u8>, Error> {
    let mut text = Vec::new();
    let file = open(directory, name, path)?;
    file.take(FILE_BYTES + 1).read_to_end(&mut text).map_err(|error| unreadable(path, error))?;
    if text.len() as u64 > FILE_BYTES {
        return Err(Error::TooLarge(path.to_owned()));
    }
    // Editors on Windows write a byte order mark, which is not JSON.
    Ok(text.strip_prefix(b"\xef\xbb\xbf").map(<[u8]>::to_vec).unwrap_or(text))
}

fn unreadable(path: &str, error: std::io::Error) -> Error {
    let path = shorten(path, PATH_CHARS);
    match error {
        error if Directory::met_link(&error) => Error::Replaced(path),
        error if error.kind() == ErrorKind::NotFound => Error::Missing(path),
        error => Error::Unreadable(path, error),
    }
}

/// The nearest existing folder above a path, with its links resolved.
fn nearest_existing(path: &Path) -> PathBuf {
    path.ancestors().find_map(|above| above.canonicalize().ok()).unwrap_or_default()
}

/// A path without `.` and `..`, for one that does not exist and so has no links to follow.
fn lexically(path: &Path) -> PathBuf {
    use std::path::Component;
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            component => plain.push(component),
        }
    }
    plain
}
