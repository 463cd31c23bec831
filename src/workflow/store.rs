//! Writing workflow files: completely or not at all, one writer after another.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs::Permissions;
use std::io::{ErrorKind, Read};
use std::path::PathBuf;
use std::sync::Arc;

use super::directory::Directory;
use super::document::Document;
use super::file::{Error, Files, read};
use super::layout::Layout;
use super::undo::{self, version_of};
use super::written::{WorkflowEdit, Written};
use crate::file_lock::FileLock;
use crate::json::shorten;

/// The lock file of a folder, on which writers of all processes wait. The system releases the lock when its
/// process ends.
const LOCK: &str = ".n8n-lens.lock";

/// The byte order mark, which is not part of the JSON.
const MARK: &str = "\u{feff}";

/// What may be written and replaced.
#[derive(Clone, Debug)]
pub enum WriteMode {
    /// A new file.
    Create,
    /// A workflow that was read somewhere; it may replace another.
    Save,
    /// A workflow that the caller wrote, which may replace another. It must not introduce members that no workflow has, since
    /// other programs may read the file, too; those of the workflow that it was derived from are kept.
    SaveGiven {
        /// The workflow that it was derived from, if there is one.
        source: Option<Document>,
    },
}

impl WriteMode {
    /// The document that replaces the existing one.
    fn written(&self, mut document: Document, existing: Option<&Document>) -> Result<Document, Error> {
        if let Self::SaveGiven { source } = self {
            if let Some(source) = source {
                document.keep_unknown_of(source);
            }
            let others: Vec<_> = source.iter().chain(existing).collect();
            document.check_members(&others).map_err(Error::Edit)?;
        }
        Ok(document)
    }
}

/// What an edit of a file may do.
#[derive(Clone, Debug, Default)]
pub struct FileEdit {
    /// The [version](super::version_of) that the file must have.
    pub expected: Option<String>,
    /// Whether the file is written; otherwise the edit is only tried.
    pub writes: bool,
}

/// A file after an edit.
#[derive(Debug)]
pub struct EditedFile<T> {
    /// What the edit returned.
    pub value: T,
    /// The workflow before.
    pub before: Arc<Document>,
    /// The workflow now.
    pub after: Arc<Document>,
    /// The [versions](super::version_of) of the file before and now.
    pub versions: [String; 2],
    /// Whether the text before is kept.
    pub is_kept: bool,
}

/// The most characters of a version in an error.
const VERSION_CHARS: usize = 100;

impl Files {
    /// Edits a file: reads it, lets `edit` derive a new one, keeps the old text, and replaces the file.
    ///
    /// # Errors
    /// [`Error`] if the file cannot be read or written, [`Error::Unusable`] if it is not a workflow, [`Error::Changed`] if it has
    /// another version than expected, and [`Error::Edit`] if `edit` fails. The file is unchanged then.
    pub fn edit<T>(&self, path: &str, request: &FileEdit, edit: impl WorkflowEdit<T>) -> Result<EditedFile<T>, Error> {
        self.rewrite(path, request, |_, _, before| edit(before).map_err(Error::Edit))
    }

    /// Returns a file to an earlier text.
    ///
    /// # Errors
    /// As [`edit`](Self::edit); [`Error::NoVersion`] if the text is not kept.
    pub fn restore(&self, path: &str, request: &FileEdit, version: &str) -> Result<EditedFile<()>, Error> {
        self.rewrite(path, request, |directory, name, _| {
            let found = undo::find(directory, name, version).map_err(|error| unwritable(path, error))?;
            let text = found.ok_or_else(|| Error::NoVersion(shorten(version, VERSION_CHARS)))?;
            Ok(((), workflow(text, path)?))
        })
    }

    /// Replaces a file with the result of `rewrite`, after keeping its text. `rewrite` also receives the folder, and its name in it.
    fn rewrite<T>(
        &self,
        path: &str,
        request: &FileEdit,
        rewrite: impl FnOnce(&Directory, &OsStr, &Written) -> Result<(T, Written), Error>,
    ) -> Result<EditedFile<T>, Error> {
        let file = self.resolve(path)?;
        let (directory, name) = self.open_parent(&file, path)?;
        let _lock = lock(&directory, path)?;
        let before = workflow(read(&directory, name, path)?, path)?;
        let version = version_of(before.text.as_bytes());
        check_version(path, &version, request.expected.as_deref())?;
        let (value, after) = rewrite(&directory, name, &before)?;
        let mut is_kept = true;
        if request.writes && before.text != after.text {
            let unwritable = |error| unwritable(path, error);
            is_kept = undo::keep(&directory, name, &version, before.text.as_bytes()).map_err(unwritable)?;
            replace(&directory, name, &after.text).map_err(unwritable)?;
        }
        let versions = [version, version_of(after.text.as_bytes())];
        Ok(EditedFile { value, before: before.document, after: after.document, versions, is_kept })
    }

    /// Writes a document to a file, and returns the file's full path. A file that is not a workflow is never replaced.
    ///
    /// # Errors
    /// [`Error::Exists`] if it must be new and is not, [`Error::NotAWorkflow`] if the existing file is not one,
    /// [`Error::Edit`] if a caller's document has members that no workflow has, [`Error::InvalidName`], [`Error::Outside`] or [`Error::Missing`] if
    /// the path is not one for a workflow file, and [`Error::Unwritable`] with the system's reason.
    pub fn write(&self, path: &str, document: Document, mode: &WriteMode) -> Result<PathBuf, Error> {
        let file = self.resolve_new(path)?;
        let (directory, name) = self.open_parent(&file, path)?;
        let shown = name.to_string_lossy();
        if !shown.ends_with(".json") || shown.starts_with('.') {
            return Err(Error::InvalidName(shown.into_owned()));
        }
        let _lock = lock(&directory, path)?;
        let (document, layout) = match directory.permissions(name).map_err(|error| unwritable(path, error))? {
            Some(_) if matches!(mode, WriteMode::Create) => return Err(Error::Exists(path.to_owned())),
            Some(_) => {
                let text = read(&directory, name, path)?;
                let existing = Document::parse(&text).and_then(|existing| existing.check().map(|()| existing));
                let existing = existing.map_err(|error| Error::NotAWorkflow(path.to_owned(), error))?;
                (mode.written(document, Some(&existing))?, Layout::of(&text))
            }
            None => (mode.written(document, None)?, Layout::default()),
        };
        replace(&directory, name, &layout.apply(&document.text())).map_err(|error| unwritable(path, error))?;
        Ok(directory.path().join(name))
    }
}

/// The workflow in the text of a file.
fn workflow(text: Vec<u8>, path: &str) -> Result<Written, Error> {
    let unusable = |error| Error::Unusable(path.to_owned(), error);
    let document = Document::parse(&text).map_err(unusable)?;
    let text =
        String::from_utf8(text).map_err(|_| unusable(super::Error::NotWorkflow("it is not UTF-8".to_owned())))?;
    Ok(Written { document: Arc::new(document), text })
}

fn check_version(path: &str, version: &str, expected: Option<&str>) -> Result<(), Error> {
    match expected {
        Some(expected) if expected != version => Err(Error::Changed(path.to_owned(), version.to_owned())),
        _ => Ok(()),
    }
}

/// Locks a folder, waiting a while for other writers.
fn lock(directory: &Directory, path: &str) -> Result<FileLock, Error> {
    FileLock::lock(directory.open_lock(LOCK)).map_err(|error| Error::Unwritable(path.to_owned(), error))
}

/// Replaces a file with a text, or makes a new file of it.
fn replace(directory: &Directory, name: &OsStr, text: &str) -> std::io::Result<()> {
    let temporary = format!(".{}.n8n-lens.tmp", name.to_string_lossy());
    let text = if has_mark(directory, name) { Cow::Owned(format!("{MARK}{text}")) } else { Cow::Borrowed(text) };
    let permissions = directory.permissions(name)?;
    if permissions.as_ref().is_some_and(Permissions::readonly) {
        return Err(ErrorKind::PermissionDenied.into());
    }
    directory.replace(name, text.as_bytes(), &temporary, |temporary| {
        // Created anew, so that it cannot be a link to somewhere else.
        let out = directory.create(temporary)?;
        permissions.map_or(Ok(()), |permissions| out.set_permissions(permissions))?;
        Ok(out)
    })
}

/// Whether a file begins with a byte order mark, as some editors on Windows write it.
fn has_mark(directory: &Directory, name: &OsStr) -> bool {
    let mut start = [0; MARK.len()];
    let read = directory.open_file(name).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == MARK.as_bytes()
}

fn unwritable(path: &str, error: std::io::Error) -> Error {
    match Directory::met_link(&error) {
        true => Error::Replaced(path.to_owned()),
        false => Error::Unwritable(path.to_owned(), error),
    }
}
