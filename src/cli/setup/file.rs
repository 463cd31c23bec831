//! A client's file: read as a whole, and atomically replaced by a file with the same owner and permissions.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use super::fault::Fault;
use crate::platform;
use crate::units::megabytes;

/// The largest file that is changed: the parser that keeps comments needs a hundred times as much memory.
const MAX_BYTES: u64 = 4_000_000;

/// A file that may not exist yet.
pub(super) struct ClientFile {
    /// Where it is, with links resolved.
    path: PathBuf,
    /// Its content, if it exists.
    content: Option<String>,
}

impl ClientFile {
    /// Reads a file, following links; within a `project`, if there is one, they must not lead out of it, since its
    /// authors chose where its links lead.
    ///
    /// # Errors
    /// A sentence, if it is not a file, is too large, cannot be read, is not text, or is outside the project.
    pub(super) fn read(path: &Path, project: Option<&Path>) -> Result<Self, String> {
        let (named, path) = (path, resolved(path)?);
        let is_inside = project.map(resolved).transpose()?.is_none_or(|project| path.starts_with(project));
        if !is_inside {
            return Err(format!(
                "{} leads out of the project, to {}, and is not changed. Replace the link, or edit that file by hand.",
                named.display(),
                path.display()
            ));
        }
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_file() => {}
            Ok(_) => {
                let path = path.display();
                return Err(format!("{path} is not a file. Move it away, or edit the client's settings by hand."));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self { path, content: None }),
            Err(error) => return Err(unreadable(&path, &error)),
        }
        let bytes = content(&path)?;
        let content = String::from_utf8(bytes).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(&error.as_bytes()[..valid]);
            unusable(&path, &Fault::at(&text, valid, "a byte that is not UTF-8"))
        })?;
        Ok(Self { path, content: Some(content) })
    }

    /// Where it is, with links resolved.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Its content; `None` if it does not exist.
    pub(super) fn content(&self) -> Option<&str> {
        self.content.as_deref()
    }

    /// Whether other users of this machine can read it.
    pub(super) fn others_can_read(&self) -> bool {
        fs::metadata(&self.path).is_ok_and(|metadata| platform::is_open_to_others(&metadata))
    }

    /// A sentence about the problem with the content.
    pub(super) fn unusable(&self, fault: &Fault) -> String {
        unusable(&self.path, fault)
    }

    /// Replaces the content, and returns the path of a copy of the old one. A new file of the user is readable by the user
    /// alone; one of a project is shared.
    ///
    /// # Errors
    /// A sentence, if the file is read-only or has changed since it was read, or the system refuses to write it. The file is
    /// then unchanged.
    pub(super) fn replace(&self, content: &str, is_shared: bool) -> Result<Option<PathBuf>, String> {
        let unwritable = |error| format!("{} cannot be written: {error}. It is unchanged.", self.path.display());
        let folder = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(unwritable)?;
        let metadata = match &self.content {
            Some(_) => Some(fs::metadata(&self.path).map_err(unwritable)?),
            None => None,
        };
        if metadata.as_ref().is_some_and(|metadata| metadata.permissions().readonly()) {
            let path = self.path.display();
            return Err(format!("{path} is read-only. Make it writable, or change it where it is generated."));
        }
        let mut new = new_file(folder, is_shared).map_err(unwritable)?;
        new.write_all(content.as_bytes()).map_err(unwritable)?;
        if let Some(metadata) = &metadata {
            platform::keep_owner(new.as_file(), metadata).map_err(unwritable)?;
            new.as_file().set_permissions(metadata.permissions()).map_err(unwritable)?;
        }
        new.as_file().sync_all().map_err(unwritable)?;
        if Self::read(&self.path, None)?.content != self.content {
            return Err(format!("{} has just been changed by another program. Run this again.", self.path.display()));
        }
        let copy = self.copy().map_err(unwritable)?;
        new.persist(&self.path).map_err(|error| unwritable(error.error))?;
        Ok(copy)
    }

    /// Deletes the file, and its folder if that is then empty. Returns the path of a copy, if one is to be kept.
    ///
    /// # Errors
    /// A sentence, if it cannot be deleted.
    pub(super) fn delete(&self, keeps_copy: bool) -> Result<Option<PathBuf>, String> {
        let undeletable = |error: std::io::Error| {
            format!("{} cannot be deleted: {error}. Check its permissions.", self.path.display())
        };
        let copy = if keeps_copy { self.copy().map_err(undeletable)? } else { None };
        fs::remove_file(&self.path).map_err(undeletable)?;
        // A folder that is not empty remains.
        let _ = self.path.parent().map(fs::remove_dir);
        Ok(copy)
    }

    /// Copies the file to a new one next to it.
    fn copy(&self) -> std::io::Result<Option<PathBuf>> {
        let Some(content) = &self.content else { return Ok(None) };
        let metadata = fs::metadata(&self.path)?;
        for number in 1.. {
            let mut name = self.path.clone().into_os_string();
            name.push(if number == 1 { ".bak".to_owned() } else { format!(".bak{number}") });
            match platform::private_options().write(true).create_new(true).open(&name) {
                Ok(mut copy) => {
                    copy.write_all(content.as_bytes())?;
                    platform::keep_owner(&copy, &metadata)?;
                    copy.set_permissions(metadata.permissions())?;
                    return Ok(Some(name.into()));
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }
}

/// A new file in a folder; if it is shared, others can read it as far as the user's umask allows.
fn new_file(folder: &Path, is_shared: bool) -> std::io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    builder.prefix(".n8n-lens-setup-");
    if let Some(permissions) = platform::shared_permissions().filter(|_| is_shared) {
        builder.permissions(permissions);
    }
    builder.tempfile_in(folder)
}

/// A path with its links resolved; a part that does not exist yet is left unchanged.
fn resolved(path: &Path) -> Result<PathBuf, String> {
    match path.canonicalize() {
        Ok(resolved) => Ok(platform::simplified(resolved)),
        Err(error) if error.kind() != ErrorKind::NotFound => Err(unreadable(path, &error)),
        Err(_) if path.is_symlink() => {
            Err(format!("{} is a link to a file that does not exist. Create that file.", path.display()))
        }
        Err(_) => match (path.parent(), path.file_name()) {
            (Some(folder), Some(name)) => Ok(resolved(folder)?.join(name)),
            _ => Ok(path.to_owned()),
        },
    }
}

/// The content of a file, unless it is larger than any that a person maintains.
fn content(path: &Path) -> Result<Vec<u8>, String> {
    let mut content = Vec::new();
    let file = fs::File::open(path).map_err(|error| unreadable(path, &error))?;
    // Not judged by the file size, which files such as those in /proc do not report.
    file.take(MAX_BYTES + 1).read_to_end(&mut content).map_err(|error| unreadable(path, &error))?;
    if content.len() as u64 > MAX_BYTES {
        return Err(format!(
            "{} is larger than {}, and is not changed. Edit it by hand, as docs/clients.md shows.",
            path.display(),
            megabytes(MAX_BYTES)
        ));
    }
    Ok(content)
}

fn unreadable(path: &Path, error: &std::io::Error) -> String {
    format!("{} cannot be read: {error}. Check its permissions.", path.display())
}

fn unusable(path: &Path, fault: &Fault) -> String {
    let path = path.display();
    match fault {
        Fault::Syntax { .. } => {
            format!("{path} is broken at {fault}. It is unchanged; correct it, then run this again.")
        }
        Fault::Unfit(_) => format!("{path} is unchanged, because {fault}. Correct it, or edit it by hand."),
    }
}
