//! Writing workflow files: completely or not at all, one writer after another.

use std::ffi::OsStr;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

use super::directory::Directory;
use super::document::Document;
use super::file::{Error, Files, read};
use super::layout::Layout;
use crate::file_lock::FileLock;

/// The lock file of a folder, on which writers of all processes wait. The system releases the lock when the
/// process that holds it ends.
const LOCK: &str = ".n8n-lens.lock";

/// What is written, and what it may replace.
#[derive(Clone, Debug)]
pub enum WriteMode {
    /// A new file.
    Create,
    /// A workflow that was read somewhere; it may replace another.
    Save,
    /// A workflow that the caller wrote, which may replace another. It must not bring members that no workflow has, since
    /// other programs may read the file, too; those of the workflow that it was made of are kept.
    SaveGiven {
        /// The workflow that it was made of, if there is one.
        source: Option<Document>,
    },
}

impl WriteMode {
    /// The document as it is written over the existing one.
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

impl Files {
    /// Edits a file: reads it, lets `edit` change the document, and replaces the file with the result.
    ///
    /// # Errors
    /// [`Error`] if the file cannot be read or written, [`Error::Unusable`] if it is not a workflow, and
    /// [`Error::Edit`] if `edit` fails. The file is unchanged then.
    pub fn edit<T>(
        &self,
        path: &str,
        edit: impl FnOnce(&mut Document) -> Result<T, super::Error>,
    ) -> Result<(T, Document), Error> {
        let file = self.resolve(path)?;
        let (directory, name) = self.open_parent(&file, path)?;
        let _lock = lock(&directory, path)?;
        let text = read(&directory, name, path)?;
        let unusable = |error| Error::Unusable(path.to_owned(), error);
        let mut document = Document::parse(&text).map_err(unusable)?;
        let before = document.text();
        let done = edit(&mut document).map_err(Error::Edit)?;
        let after = document.text();
        if after != before {
            replace(&directory, name, &Layout::of(&text).apply(&after)).map_err(|error| unwritable(path, error))?;
        }
        Ok((done, document))
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

/// Locks a folder, after waiting for other writers for a while.
fn lock(directory: &Directory, path: &str) -> Result<FileLock, Error> {
    FileLock::lock(directory.open_lock(LOCK)).map_err(|error| Error::Unwritable(path.to_owned(), error))
}

/// Replaces a file with a text. At every instant the file is either the old one or the new one.
fn replace(directory: &Directory, name: &OsStr, text: &str) -> std::io::Result<()> {
    // Always the same name, so that a leftover is reused.
    let temporary = format!(".{}.n8n-lens.tmp", name.to_string_lossy());
    match directory.remove(&temporary) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    // Created anew, so that it cannot be a link to elsewhere.
    let mut out = directory.create(&temporary)?;
    if let Some(permissions) = directory.permissions(name)? {
        if permissions.readonly() {
            return Err(ErrorKind::PermissionDenied.into());
        }
        out.set_permissions(permissions)?;
    }
    out.write_all(text.as_bytes())?;
    out.sync_all()?;
    directory.rename(&temporary, name)
}

fn unwritable(path: &str, error: std::io::Error) -> Error {
    match Directory::met_link(&error) {
        true => Error::Replaced(path.to_owned()),
        false => Error::Unwritable(path.to_owned(), error),
    }
}
