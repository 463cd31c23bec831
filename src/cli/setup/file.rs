//! A client's file: read whole, and replaced at once by a file with the same owner and permissions.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use super::document::Fault;

/// A file that may not be there yet.
pub(super) struct ClientFile {
    /// Where it is, with links resolved.
    path: PathBuf,
    /// Its content, if it is there.
    content: Option<String>,
}

impl ClientFile {
    /// Reads a file. Through a link, it is the file that the link leads to.
    ///
    /// # Errors
    /// A sentence, if it is not a file, cannot be read, or is not text.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let path = if path.is_symlink() { target_of(path)? } else { path.to_owned() };
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_file() => {}
            Ok(_) => {
                let path = path.display();
                return Err(format!("{path} is not a file. Move it away, or edit the client's settings by hand."));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self { path, content: None }),
            Err(error) => return Err(unreadable(&path, &error)),
        }
        let bytes = fs::read(&path).map_err(|error| unreadable(&path, &error))?;
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
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::metadata(&self.path).is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
        }
        #[cfg(not(unix))]
        false
    }

    /// A sentence about what is wrong with the content.
    pub(super) fn unusable(&self, fault: &Fault) -> String {
        unusable(&self.path, fault)
    }

    /// Replaces the content, and returns the path of a copy of the old one. A new file of the user can be read by the user
    /// alone; one of a project is shared.
    ///
    /// # Errors
    /// A sentence, if the file is read-only or has changed since it was read, or the system refuses to write it. The file is
    /// then as it was.
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
            keep_owner(new.as_file(), metadata).map_err(unwritable)?;
            new.as_file().set_permissions(metadata.permissions()).map_err(unwritable)?;
        }
        new.as_file().sync_all().map_err(unwritable)?;
        if Self::read(&self.path)?.content != self.content {
            return Err(format!("{} has just been changed by another program. Run this again.", self.path.display()));
        }
        let copy = self.copy().map_err(unwritable)?;
        new.persist(&self.path).map_err(|error| unwritable(error.error))?;
        Ok(copy)
    }

    /// Copies the file to a new one beside it.
    fn copy(&self) -> std::io::Result<Option<PathBuf>> {
        let Some(content) = &self.content else { return Ok(None) };
        let metadata = fs::metadata(&self.path)?;
        for number in 1.. {
            let mut name = self.path.clone().into_os_string();
            name.push(if number == 1 { ".bak".to_owned() } else { format!(".bak{number}") });
            let mut options = OpenOptions::new();
            options.write(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            match options.open(&name) {
                Ok(mut copy) => {
                    copy.write_all(content.as_bytes())?;
                    keep_owner(&copy, &metadata)?;
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

/// A new file in a folder; others can read it as far as the user's umask allows, if it is shared.
fn new_file(folder: &Path, is_shared: bool) -> std::io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    builder.prefix(".n8n-lens-setup-");
    #[cfg(unix)]
    if is_shared {
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    }
    // Elsewhere, files have the permissions of their folder.
    #[cfg(not(unix))]
    let _ = is_shared;
    builder.tempfile_in(folder)
}

/// The file that a link leads to.
fn target_of(link: &Path) -> Result<PathBuf, String> {
    link.canonicalize().map_err(|error| match error.kind() {
        ErrorKind::NotFound => format!("{} is a link to a file that does not exist. Create that file.", link.display()),
        _ => unreadable(link, &error),
    })
}

/// Gives a new file the owner of the one that it replaces: root can run this for another user.
#[cfg(unix)]
fn keep_owner(file: &File, metadata: &fs::Metadata) -> std::io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let own = file.metadata()?;
    match (own.uid(), own.gid()) == (metadata.uid(), metadata.gid()) {
        true => Ok(()),
        false => fchown(file, Some(metadata.uid()), Some(metadata.gid())),
    }
}

#[cfg(not(unix))]
fn keep_owner(_file: &File, _metadata: &fs::Metadata) -> std::io::Result<()> {
    Ok(())
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
