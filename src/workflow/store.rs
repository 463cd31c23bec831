//! Writing workflow files: completely or not at all, one writer after another.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::document::Document;
use super::file::{Error, Files};
use super::layout::Layout;
use crate::file_lock::FileLock;

/// The lock file of a folder, on which writers of all processes wait. The system releases the lock when the
/// process that holds it ends.
const LOCK: &str = ".n8n-lens.lock";

/// What is written, and what it may replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteMode {
    /// A new file.
    Create,
    /// A workflow that was read somewhere; it may replace another.
    Save,
    /// A workflow that the caller wrote, which may replace another. It must not bring members that no workflow has, since
    /// other programs may read the file, too.
    SaveGiven,
}

impl WriteMode {
    fn check(self, document: &Document, existing: Option<&Document>) -> Result<(), Error> {
        if self == Self::SaveGiven { document.check_members(existing).map_err(Error::Edit) } else { Ok(()) }
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
        let _lock = lock(&file)?;
        let text = self.read(path)?;
        let unusable = |error| Error::Unusable(path.to_owned(), error);
        let mut document = Document::parse(&text).map_err(unusable)?;
        let before = document.text();
        let done = edit(&mut document).map_err(Error::Edit)?;
        let after = document.text();
        if after != before {
            replace(&file, &Layout::of(&text).apply(&after))?;
        }
        Ok((done, document))
    }

    /// Writes a document to a file, and returns the file's full path. A file that is not a workflow is never replaced.
    ///
    /// # Errors
    /// [`Error::Exists`] if it must be new and is not, [`Error::NotAWorkflow`] if the existing file is not one,
    /// [`Error::Edit`] if a caller's document has members that no workflow has, [`Error::InvalidName`], [`Error::Outside`] or [`Error::Missing`] if
    /// the path is not one for a workflow file, and [`Error::Unwritable`] with the system's reason.
    pub fn write(&self, path: &str, document: &Document, mode: WriteMode) -> Result<PathBuf, Error> {
        let file = self.resolve_new(path)?;
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        if !name.ends_with(".json") || name.starts_with('.') {
            return Err(Error::InvalidName(name.into_owned()));
        }
        let _lock = lock(&file)?;
        let layout = match fs::symlink_metadata(&file) {
            Ok(_) if mode == WriteMode::Create => return Err(Error::Exists(path.to_owned())),
            Ok(_) => {
                let text = self.read(path)?;
                let existing = Document::parse(&text).and_then(|existing| existing.check().map(|()| existing));
                let existing = existing.map_err(|error| Error::NotAWorkflow(path.to_owned(), error))?;
                mode.check(document, Some(&existing))?;
                Layout::of(&text)
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                mode.check(document, None)?;
                Layout::default()
            }
            Err(error) => return Err(Error::Unwritable(path.to_owned(), error)),
        };
        replace(&file, &layout.apply(&document.text()))?;
        Ok(file)
    }
}

/// Locks the folder of a file, after waiting for other writers for a while.
fn lock(file: &Path) -> Result<FileLock, Error> {
    FileLock::acquire(&file.with_file_name(LOCK)).map_err(|error| Error::Unwritable(file.display().to_string(), error))
}

/// Replaces a file with a text. At every instant the file is either the old one or the new one.
fn replace(file: &Path, text: &str) -> Result<(), Error> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    // Always the same name, so that a leftover is reused.
    let temporary = file.with_file_name(format!(".{name}.n8n-lens.tmp"));
    let write = || {
        match fs::remove_file(&temporary) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        // Created anew, so that it cannot be a link to elsewhere.
        let mut out = File::options().create_new(true).write(true).open(&temporary)?;
        if let Ok(metadata) = fs::metadata(file) {
            if metadata.permissions().readonly() {
                return Err(std::io::Error::from(ErrorKind::PermissionDenied));
            }
            out.set_permissions(metadata.permissions())?;
        }
        out.write_all(text.as_bytes())?;
        out.sync_all()?;
        fs::rename(&temporary, file)
    };
    write().map_err(|error| Error::Unwritable(file.display().to_string(), error))
}
