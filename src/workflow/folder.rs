//! The workflow files in a folder.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::time::SystemTime;

use super::directory::Directory;
use super::file::FILE_BYTES;
use crate::json::{Cursor, Keep, Members, PrunedReader, Pruner, ReadError, members};

/// Ids are never longer.
const WORD_CHARS: usize = 200;

/// One workflow file.
#[derive(Debug)]
pub struct WorkflowFile {
    /// n8n's id, if the file has one.
    pub id: Option<String>,
    /// The workflow's name.
    pub name: String,
    /// The file's name.
    pub file: String,
    /// When it was last written.
    pub modified: Option<SystemTime>,
}

/// The workflow files in a folder, by name, and how many other `.json` files there are.
///
/// # Errors
/// The system's error, if the folder cannot be read.
pub fn list(directory: &Directory) -> std::io::Result<(Vec<WorkflowFile>, usize)> {
    // Links are left out: one could lead out of the folder.
    let files = directory.names()?.into_iter().filter(|name| {
        let name = name.to_string_lossy();
        name.ends_with(".json") && !name.starts_with('.')
    });
    let (mut found, mut skipped) = (Vec::new(), 0);
    for name in files {
        match read(directory, &name) {
            Some(entry) => found.push(entry),
            None => skipped += 1,
        }
    }
    found.sort_by(|one: &WorkflowFile, other| one.file.cmp(&other.file));
    Ok((found, skipped))
}

/// What the list shows of a file; `None` if it is not a workflow.
fn read(directory: &Directory, name: &OsStr) -> Option<WorkflowFile> {
    let file = directory.open_file(name).ok()?;
    let metadata = file.metadata().ok().filter(|metadata| metadata.is_file() && metadata.len() <= FILE_BYTES)?;
    let body = BufReader::with_capacity(64 * 1024, file);
    let FileSummary { id, name: title, has_nodes: true, has_connections: true } = summary(body).ok()? else {
        return None;
    };
    let file = name.to_string_lossy().into_owned();
    Some(WorkflowFile { id, name: title?, file, modified: metadata.modified().ok() })
}

fn summary(body: impl BufRead) -> Result<FileSummary, ReadError> {
    let mut cursor = Cursor::over(PrunedReader::new(body, Pruner::new(FileSummary::KEEP, 0..0)));
    let summary = FileSummary::read_or_default(&mut cursor)?;
    cursor.finish()?;
    Ok(summary)
}

/// The members of a file that the list needs.
#[derive(Default)]
struct FileSummary {
    id: Option<String>,
    name: Option<String>,
    has_nodes: bool,
    has_connections: bool,
}

members!(FileSummary, |summary, cursor| match name {
    ("id", Keep::Whole) => summary.id = cursor.text(WORD_CHARS)?,
    ("name", Keep::Whole) => summary.name = cursor.name()?,
    ("nodes", Keep::EachElement(&Keep::Skip)) => summary.has_nodes = cursor.array(|cursor, _| cursor.skip())?,
    ("connections", Keep::Members(&[])) => summary.has_connections = cursor.object(|cursor, _| cursor.skip())?,
});
