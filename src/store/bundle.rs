//! A bundle, in which n8n's storage mode `filesystem` keeps the data of one execution:
//! `{"data":"<text>","workflowData":…,"workflowVersionId":…,"version":1}`, without white space
//! (`packages/@n8n/blob-storage/src/json-store.ts`).
//!
//! The text is read where it stands in the file, with its escapes
//! ([`Flatted::escaped`](crate::json::flatted::Flatted::escaped)).

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::error::{BUNDLE, Error};
use super::session::{Contents, MAX_WORKFLOW_BYTES};
use crate::json::ReadAt;

/// Before the text.
const BEGINNING: &[u8] = br#"{"data":""#;

/// After the text. In the text, each quote has a backslash before it.
const END_OF_TEXT: &[u8] = br#"]","workflowData":"#;

/// The version of bundles that is known.
const VERSION: &str = "1";

/// How much of the end of a file is searched first for the workflow, bytes.
const TAIL: u64 = 256 * 1024;

/// Where the bundle of an execution is below a storage folder.
pub(super) fn path(storage: &Path, workflow_id: &str, id: &str) -> Option<PathBuf> {
    // An id from the database is a file name here.
    let is_name = |name: &str| !name.is_empty() && !name.contains(['/', '\\', '\0']) && name != "." && name != "..";
    let is_path = is_name(workflow_id) && is_name(id);
    let path = ["workflows", workflow_id, "executions", id, "execution_data", "bundle.json"];
    is_path.then(|| storage.join(path.iter().collect::<PathBuf>()))
}

/// The workflow's id and the execution's id in the path of a bundle, if n8n wrote it there.
pub(super) fn ids(path: &Path) -> Option<(String, String)> {
    let parts: Vec<_> = path.iter().rev().take(6).map(|part| part.to_str().unwrap_or_default()).collect();
    match parts[..] {
        ["bundle.json", "execution_data", id, "executions", workflow_id, "workflows"] => {
            Some((workflow_id.to_owned(), id.to_owned()))
        }
        _ => None,
    }
}

/// Reads the first of these files that exists.
///
/// # Errors
/// None exists, one may not be read, or it is not a bundle; `id` is for the message.
pub(super) fn open(files: &[PathBuf], id: &str) -> Result<Contents<'static>, Error> {
    contents(first(files, id)?)
}

/// Reads only the workflow, from the end of the first of these files that exists.
///
/// # Errors
/// As [`open`], except that the data is not looked at.
pub(super) fn workflow(files: &[PathBuf], id: &str) -> Result<Vec<u8>, Error> {
    let (_, tail) = ends(&mut first(files, id)?)?;
    Ok(tail.workflow_data.get().as_bytes().to_vec())
}

fn first(files: &[PathBuf], id: &str) -> Result<File, Error> {
    for file in files {
        match File::open(file) {
            Ok(file) => return Ok(file),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(Error::reading(BUNDLE)(error)),
        }
    }
    Err(Error::NoBundle(id.to_owned()))
}

/// What follows the text, as an object of its own.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tail {
    workflow_data: Box<RawValue>,
    version: Box<RawValue>,
}

fn contents(mut file: File) -> Result<Contents<'static>, Error> {
    let (end, tail) = ends(&mut file)?;
    let text = BundleText { file, begin: BEGINNING.len() as u64, end };
    let workflow = tail.workflow_data.get().as_bytes().to_vec();
    Ok(Contents { workflow, data: Box::new(text), is_escaped: true })
}

/// Checks what comes before the text; returns where the text ends, and what comes after it.
fn ends(file: &mut File) -> Result<(u64, Tail), Error> {
    let broken = |what: &str| Error::BrokenBundle(what.to_owned());
    let mut beginning = [0; BEGINNING.len()];
    match file.read_at(0, &mut beginning) {
        Ok(()) if beginning == BEGINNING => {}
        Ok(()) => return Err(broken("it does not begin with the data")),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Err(broken("it is too short")),
        Err(error) => return Err(error.into()),
    }
    let (end, tail) = tail(file)?.ok_or_else(|| broken("its end is missing"))?;
    match tail.version.get() {
        VERSION => Ok((end, tail)),
        version => Err(Error::BundleVersion(version.chars().take(20).collect())),
    }
}

/// Where the text ends, and what comes after it.
fn tail(file: &mut File) -> Result<Option<(u64, Tail)>, Error> {
    let length = ReadAt::len(file);
    let mut bytes = TAIL;
    loop {
        let from = length.saturating_sub(bytes);
        let mut text = vec![0; (length - from) as usize];
        file.read_at(from, &mut text)?;
        // A workflow can contain what looks like the end of the text, but what follows it is not one object then.
        for at in memchr::memmem::find_iter(&text, END_OF_TEXT) {
            // After the bracket, the quote and the comma.
            let object = [b"{", &text[at + 3..]].concat();
            if let Ok(tail) = serde_json::from_slice(&object) {
                return Ok(Some((from + at as u64 + 1, tail)));
            }
        }
        if from == 0 || bytes > MAX_WORKFLOW_BYTES {
            return Ok(None);
        }
        bytes *= 4;
    }
}

/// The text of a bundle, with its escapes: a part of the file.
struct BundleText {
    file: File,
    begin: u64,
    end: u64,
}

impl ReadAt for BundleText {
    fn len(&self) -> u64 {
        self.end - self.begin
    }

    fn read_at(&mut self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        if position.saturating_add(buffer.len() as u64) > ReadAt::len(self) {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        self.file.read_at(self.begin + position, buffer)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn the_text_is_read_where_it_stands() {
        let text = serde_json::to_string(r#"[{"name":"1"},"a \"b\" \\"]"#).unwrap();
        let mut file = tempfile::tempfile().unwrap();
        let workflow = r#"{"name":"]\",\"workflowData\":","a":["[x]"],"b":"]","workflowData":{}}"#;
        write!(file, r#"{{"data":{text},"workflowData":{workflow},"workflowVersionId":null,"version":1}}"#).unwrap();
        let mut contents = contents(file).unwrap();
        assert_eq!((contents.workflow, contents.is_escaped), (workflow.as_bytes().to_vec(), true));
        let mut read = vec![0; contents.data.len() as usize];
        contents.data.read_at(0, &mut read).unwrap();
        assert_eq!(read, text.as_bytes()[1..text.len() - 1]);
        assert!(contents.data.read_at(1, &mut read).is_err(), "nothing after the text is read");
    }
}
