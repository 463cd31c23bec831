//! The workflow files of a folder.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::time::SystemTime;

use super::file::FILE_BYTES;
use crate::json::{Cursor, Keep, PrunedReader, Pruner, ReadError};

/// What a list needs of a file.
const KEEP: Keep = Keep::Members(&[
    ("id", Keep::Whole),
    ("name", Keep::Whole),
    ("nodes", Keep::EachElement(&Keep::Skip)),
    ("connections", Keep::Members(&[])),
]);

/// An id is never longer.
const WORD_CHARS: usize = 200;

/// One workflow file.
#[derive(Debug)]
pub struct Entry {
    /// n8n's id, if the file has one.
    pub id: Option<String>,
    /// The workflow's name.
    pub name: String,
    /// The file's name.
    pub file: String,
    /// When it was written.
    pub modified: Option<SystemTime>,
}

/// The workflow files of a folder, by name, and how many `.json` files are none.
///
/// # Errors
/// What the file system says of the folder.
pub fn list(folder: &Path) -> std::io::Result<(Vec<Entry>, usize)> {
    let files = std::fs::read_dir(folder)?.filter_map(Result::ok).filter(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        // A link may lead out of the folder.
        let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
        name.ends_with(".json") && !name.starts_with('.') && !is_link
    });
    let (mut found, mut skipped) = (Vec::new(), 0);
    for file in files {
        match read(&file.path()) {
            Some(entry) => found.push(entry),
            None => skipped += 1,
        }
    }
    found.sort_by(|one: &Entry, other| one.file.cmp(&other.file));
    Ok((found, skipped))
}

/// What a list shows of a file; `None` where it is no workflow.
fn read(path: &Path) -> Option<Entry> {
    let metadata = path.metadata().ok().filter(|metadata| metadata.is_file() && metadata.len() <= FILE_BYTES)?;
    let body = BufReader::with_capacity(64 * 1024, File::open(path).ok()?);
    let (id, name) = outline(Cursor::over(PrunedReader::new(body, Pruner::new(KEEP, 0..0)))).ok().flatten()?;
    let file = path.file_name()?.to_string_lossy().into_owned();
    Some(Entry { id, name, file, modified: metadata.modified().ok() })
}

fn outline<R: std::io::Read>(mut cursor: Cursor<R>) -> Result<Option<(Option<String>, String)>, ReadError> {
    let (mut id, mut name, mut nodes, mut connections) = (None, None, false, false);
    cursor.object(|cursor, member| {
        match member {
            "id" => id = cursor.text(WORD_CHARS)?,
            "name" => name = cursor.name()?,
            "nodes" => nodes = cursor.array(|cursor, _| cursor.skip())?,
            "connections" => connections = cursor.object(|cursor, _| cursor.skip())?,
            _ => cursor.skip()?,
        }
        Ok(())
    })?;
    cursor.finish()?;
    Ok(name.filter(|_| nodes && connections).map(|name| (id, name)))
}
