//! Writing workflow files: completely or not at all, one writer after another.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::document::Document;
use super::file::{Error, Files};
use super::layout::Layout;

/// The lock file of a folder, on which writers of all processes wait. The system releases the lock when the
/// process that holds it ends.
const LOCK: &str = ".n8n-lens.lock";

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

    /// Writes a document to a file, replacing an existing one unless it must be `new`; returns the file's full path.
    ///
    /// # Errors
    /// [`Error::Exists`] if it must be new and is not, [`Error::InvalidName`], [`Error::Outside`] or [`Error::Missing`] if
    /// the path is not one for a workflow file, and [`Error::Unwritable`] with the system's reason.
    pub fn write(&self, path: &str, document: &Document, new: bool) -> Result<PathBuf, Error> {
        let file = self.resolve_new(path)?;
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        if !name.ends_with(".json") || name.starts_with('.') {
            return Err(Error::InvalidName(name.into_owned()));
        }
        let _lock = lock(&file)?;
        let layout = match fs::symlink_metadata(&file) {
            Ok(_) if new => return Err(Error::Exists(path.to_owned())),
            Ok(_) => Layout::of(&self.read(path)?),
            Err(error) if error.kind() == ErrorKind::NotFound => Layout::default(),
            Err(error) => return Err(Error::Unwritable(path.to_owned(), error)),
        };
        replace(&file, &layout.apply(&document.text()))?;
        Ok(file)
    }
}

/// Locks the folder of a file, after waiting for other writers.
fn lock(file: &Path) -> Result<File, Error> {
    let at = file.with_file_name(LOCK);
    let failed = |error| Error::Unwritable(file.display().to_string(), error);
    if at.is_symlink() {
        return Err(failed(std::io::Error::other("the lock file of its folder is a link")));
    }
    let lock = File::options().create(true).truncate(false).write(true).open(at).map_err(failed)?;
    lock.lock().map_err(failed)?;
    Ok(lock)
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
