//! The texts of workflow files before they were edited, kept in a hidden folder next to them.

use std::ffi::{OsStr, OsString};
use std::io::{ErrorKind, Read, Result};
use std::time::SystemTime;

use super::directory::Directory;
use super::file::FILE_BYTES;

/// The folder.
const FOLDER: &str = ".n8n-lens.undo";

/// The most texts kept per folder; the oldest are removed first.
const MAX_TEXTS: usize = 20;

/// Bytes of all of them.
const MAX_BYTES: u64 = 10 * 1024 * 1024;

/// How many bytes of a hash identify a version.
const VERSION_BYTES: usize = 8;

/// The version of a file: 16 hexadecimal digits derived from its text.
pub fn version_of(text: &[u8]) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, text);
    digest.as_ref().iter().take(VERSION_BYTES).map(|byte| format!("{byte:02x}")).collect()
}

/// The name under which a version of a file is kept. Other files in its folder have versions of their own.
fn kept_name(file: &OsStr, version: &str) -> String {
    format!("{}-{version}", version_of(file.as_encoded_bytes()))
}

/// Keeps the text of a version of a file; returns whether it was small enough.
pub(super) fn keep(directory: &Directory, file: &OsStr, version: &str, text: &[u8]) -> Result<bool> {
    if text.len() as u64 > MAX_BYTES {
        return Ok(false);
    }
    let folder = directory.open_or_create_folder(FOLDER)?;
    // A text that is already kept is written again, so that it counts as the newest.
    let name = kept_name(file, version);
    folder.replace(name.as_ref(), text, &format!("{name}.tmp"), |temporary| folder.create_private(temporary))?;
    make_room(&folder)?;
    Ok(true)
}

/// The text of a version of a file, if it is still kept.
pub(super) fn find(directory: &Directory, file: &OsStr, version: &str) -> Result<Option<Vec<u8>>> {
    let is_version = version.len() == 2 * VERSION_BYTES && version.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_version {
        return Ok(None);
    }
    let folder = directory.open_or_create_folder(FOLDER)?;
    match folder.open_file(kept_name(file, version).as_ref()) {
        Ok(file) => {
            let mut text = Vec::new();
            file.take(FILE_BYTES).read_to_end(&mut text)?;
            Ok(Some(text).filter(|text| version_of(text) == version))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Removes the oldest texts until the others fit.
fn make_room(folder: &Directory) -> Result<()> {
    let mut kept: Vec<(SystemTime, u64, OsString)> = Vec::new();
    for name in folder.names()? {
        let found = folder.open_file(&name)?.metadata()?;
        kept.push((found.modified()?, found.len(), name));
    }
    kept.sort();
    let mut bytes: u64 = kept.iter().map(|(_, bytes, _)| bytes).sum();
    let mut texts = kept.len();
    for (_, length, name) in kept {
        if texts <= MAX_TEXTS && bytes <= MAX_BYTES {
            return Ok(());
        }
        folder.remove(&name.to_string_lossy())?;
        bytes -= length;
        texts -= 1;
    }
    Ok(())
}
