//! A bundle, in which n8n's storage mode `filesystem` keeps the data of one execution:
//! `{"data":"<text>","workflowData":…,"workflowVersionId":…,"version":1}`, without white space
//! (`packages/@n8n/blob-storage/src/json-store.ts`).
//!
//! The text is read in place in the file, with its escapes
//! ([`Flatted::escaped`](crate::json::flatted::Flatted::escaped)).

use std::fs::File;
use std::io::{self, BufRead, ErrorKind};
use std::ops::Range;
use std::path::{Path, PathBuf};

use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use super::error::{BUNDLE, Error};
use super::session::{Contents, MAX_WORKFLOW_BYTES};
use super::{Cancellable, Limit};
use crate::json::{InOrder, ReadAt, ReadError, check};

/// Before the text.
const BEGINNING: &[u8] = br#"{"data":""#;

/// After the text. In the text, each quote has a backslash before it.
const END_OF_TEXT: &[u8] = br#"]","workflowData":"#;

/// The version of bundles that is known.
const VERSION: &str = "1";

/// What may come first after the workflow.
const AFTER_WORKFLOW: [&[u8]; 2] = [br#","workflowVersionId":"#, br#","version":"#];

/// How much of the end of a file is searched for what comes after the workflow, bytes.
const END: u64 = 4 * 1024;

/// How much of the end of a file is searched first for the beginning of the workflow, and at once, bytes.
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
pub(super) fn open(files: &[PathBuf], id: &str, cancel: &CancellationToken) -> Result<Contents<'static>, Error> {
    contents(first(files, id)?, cancel)
}

/// Reads only the workflow, from the end of the first of these files that exists.
///
/// # Errors
/// As [`open`], except that the data is not read.
pub(super) fn workflow(files: &[PathBuf], id: &str, cancel: &CancellationToken) -> Result<impl BufRead + use<>, Error> {
    let mut file = first(files, id)?;
    let Extents { workflow, .. } =
        Extents::find(&mut Cancellable { text: &mut file, limit: Limit { cancel, end: None } })?;
    Ok(InOrder::new(Part { file, extent: workflow }))
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

fn contents(mut file: File, cancel: &CancellationToken) -> Result<Contents<'static>, Error> {
    let Extents { text, workflow } =
        Extents::find(&mut Cancellable { text: &mut file, limit: Limit { cancel, end: None } })?;
    let workflow = Part { file: file.try_clone()?, extent: workflow };
    Ok(Contents { workflow: Box::new(workflow), data: Box::new(Part { file, extent: text }), is_escaped: true })
}

/// Where the parts of a bundle are in its file.
struct Extents {
    /// The text, with its escapes.
    text: Range<u64>,
    workflow: Range<u64>,
}

/// What follows the workflow, as an object of its own.
#[derive(Deserialize)]
struct End {
    version: Box<RawValue>,
}

impl Extents {
    fn find(file: &mut dyn ReadAt) -> Result<Self, Error> {
        let broken = |what: &str| Error::BrokenBundle(what.to_owned());
        let mut beginning = [0; BEGINNING.len()];
        match file.read_at(0, &mut beginning) {
            Ok(()) if beginning == BEGINNING => {}
            Ok(()) => return Err(broken("it does not begin with the data")),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Err(broken("it is too short")),
            Err(error) => return Err(error.into()),
        }
        let (end, version) = end_of_workflow(file)?.ok_or_else(|| broken("its end is missing"))?;
        if version != VERSION {
            return Err(Error::BundleVersion(version.chars().take(20).collect()));
        }
        let after_text = end_of_text(file, end)?.ok_or_else(|| {
            Error::BrokenBundle(format!(
                "its workflow is missing, or takes more than {}",
                crate::units::megabytes(MAX_WORKFLOW_BYTES)
            ))
        })?;
        let workflow = after_text + END_OF_TEXT.len() as u64..end;
        // The bracket is the last byte of the text.
        Ok(Self { text: BEGINNING.len() as u64..after_text + 1, workflow })
    }
}

/// Where the workflow ends, and the version of the bundle, which comes after it.
fn end_of_workflow(file: &mut dyn ReadAt) -> Result<Option<(u64, String)>, Error> {
    let from = file.len().saturating_sub(END);
    let mut text = vec![0; (file.len() - from) as usize];
    file.read_at(from, &mut text)?;
    let ends = AFTER_WORKFLOW.iter().filter_map(|member| {
        let at = memmem::rfind(&text, member)?;
        // What follows a member of the workflow is not one object.
        let end: End = serde_json::from_slice(&[b"{", &text[at + 1..]].concat()).ok()?;
        Some((from + at as u64, end.version.get().to_owned()))
    });
    Ok({ ends }.next())
}

/// The end of the text, which comes before the workflow, whose end is known.
fn end_of_text(file: &mut dyn ReadAt, end: u64) -> Result<Option<u64>, Error> {
    let most = MAX_WORKFLOW_BYTES + END_OF_TEXT.len() as u64;
    let mut window = TAIL;
    loop {
        let from = end.saturating_sub(window);
        // A workflow can contain what looks like the end of the text, but what follows it is not one value then.
        // Nothing in the text looks like it: the first place is the right one, or the window lies inside the workflow.
        if let Some(at) = find_end_of_text(file, from..end)?
            && is_json(file, at + END_OF_TEXT.len() as u64..end)?
        {
            return Ok(Some(at));
        }
        if from == 0 || window == most {
            return Ok(None);
        }
        window = (window * 4).min(most);
    }
}

/// The first place in a part of the file that looks like the end of the text.
fn find_end_of_text(file: &mut dyn ReadAt, part: Range<u64>) -> Result<Option<u64>, Error> {
    let mut piece = vec![0; TAIL as usize];
    let mut from = part.start;
    while from + (END_OF_TEXT.len() as u64) <= part.end {
        piece.truncate((part.end - from) as usize);
        file.read_at(from, &mut piece)?;
        if let Some(at) = memmem::find(&piece, END_OF_TEXT) {
            return Ok(Some(from + at as u64));
        }
        // It may lie in two pieces.
        from += (piece.len() - END_OF_TEXT.len() + 1) as u64;
    }
    Ok(None)
}

/// Whether a part of the file is one JSON value.
fn is_json(file: &mut dyn ReadAt, part: Range<u64>) -> Result<bool, Error> {
    match check(InOrder::new(Part { file, extent: part })) {
        Ok(()) => Ok(true),
        Err(ReadError::Io(error)) => Err(error.into()),
        Err(_) => Ok(false),
    }
}

/// A part of a file.
struct Part<T> {
    file: T,
    extent: Range<u64>,
}

impl<T: ReadAt> ReadAt for Part<T> {
    fn len(&self) -> u64 {
        self.extent.end - self.extent.start
    }

    fn read_at(&mut self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        if position.saturating_add(buffer.len() as u64) > self.len() {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        self.file.read_at(self.extent.start + position, buffer)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use std::io::{Read, Write};

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_text_is_read_where_it_stands() {
        let text = serde_json::to_string(r#"[{"name":"1"},"a \"b\" \\"]"#).unwrap();
        let mut file = tempfile::tempfile().unwrap();
        let workflow = r#"{"name":"]\",\"workflowData\":","a":["[x]"],"b":"]","workflowData":{}}"#;
        write!(file, r#"{{"data":{text},"workflowData":{workflow},"workflowVersionId":null,"version":1}}"#).unwrap();
        let mut contents = contents(file, &CancellationToken::new()).unwrap();
        let mut read_workflow = String::new();
        InOrder::new(contents.workflow).read_to_string(&mut read_workflow).unwrap();
        assert_eq!((read_workflow.as_str(), contents.is_escaped), (workflow, true));
        let mut read = vec![0; contents.data.len() as usize];
        contents.data.read_at(0, &mut read).unwrap();
        assert_eq!(read, text.as_bytes()[1..text.len() - 1]);
        assert!(contents.data.read_at(1, &mut read).is_err(), "nothing after the text is read");
    }

    /// A bundle in memory that counts the bytes that are read of it.
    struct Counting {
        bytes: Vec<u8>,
        read: u64,
    }

    impl Counting {
        fn with_workflow(text: &str, workflow: &str) -> Self {
            let text = serde_json::to_string(text).unwrap();
            let end = r#","workflowVersionId":null,"version":1}"#;
            let bundle = format!(r#"{{"data":{text},"workflowData":{workflow}{end}"#);
            Self { bytes: bundle.into_bytes(), read: 0 }
        }

        fn part(&self, extent: &Range<u64>) -> &str {
            std::str::from_utf8(&self.bytes[extent.start as usize..extent.end as usize]).unwrap()
        }
    }

    impl ReadAt for Counting {
        fn len(&self) -> u64 {
            self.bytes.len() as u64
        }

        fn read_at(&mut self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
            self.read += buffer.len() as u64;
            (&self.bytes[..]).read_at(position, buffer)
        }
    }

    /// A workflow of this many members that look like the end of the text.
    fn deceptive(members: usize) -> String {
        format!(r#"{{"nodes":[{}]}}"#, vec![r#"{"a":"]","workflowData":1}"#; members].join(","))
    }

    #[test]
    fn a_workflow_full_of_what_looks_like_the_end_of_the_text_is_read_a_few_times() {
        for members in [1, 9_000, 200_000] {
            let workflow = deceptive(members);
            let mut file = Counting::with_workflow("[]", &workflow);
            let found = Extents::find(&mut file).unwrap();
            assert_eq!((file.part(&found.text), file.part(&found.workflow)), ("[]", workflow.as_str()));
            assert!(file.read < 4 * ReadAt::len(&file) + 2 * TAIL, "{} bytes of {}", file.read, ReadAt::len(&file));
        }
    }

    #[test]
    fn the_search_for_the_workflow_is_cancelled() {
        let (mut file, cancel) = (Counting::with_workflow("[]", &deceptive(9_000)), CancellationToken::new());
        cancel.cancel();
        let found = Extents::find(&mut Cancellable { text: &mut file, limit: Limit { cancel: &cancel, end: None } });
        assert!(matches!(found, Err(Error::Cancelled)));
    }

    /// Parts of workflows, with what is searched for in the file at all depths, and as text.
    fn workflow() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just(r#""]""#.to_owned()),
            Just(r#""]\",\"workflowData\":""#.to_owned()),
            Just(r#""x]","workflowData":{}"#.to_owned()).prop_map(|marked| format!(r#"{{"a":{marked}}}"#)),
            Just(r#"{"b":1,"workflowVersionId":null,"version":1}"#.to_owned()),
            Just(r#"{"b":1,"version":1}"#.to_owned()),
            (0..100_000_usize).prop_map(|bytes| format!("\"{}\"", "y".repeat(bytes))),
        ];
        leaf.prop_recursive(4, 24, 6, |inner| {
            prop::collection::vec(inner, 0..6).prop_map(|parts| {
                let members = parts.iter().enumerate().map(|(at, part)| match at % 3 {
                    0 => format!(r#""n{at}":"]","workflowData":{part}"#),
                    1 => format!(r#""workflowVersionId":{part}"#),
                    _ => format!(r#""version":{part}"#),
                });
                format!("{{{}}}", members.collect::<Vec<_>>().join(","))
            })
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn the_workflow_is_found_whatever_is_in_it(workflow in workflow(), text in r#"[a\]",:"]{0,40}"#, padding in 0..300_000_usize) {
            let text = format!("[{}{text}]", " ".repeat(padding));
            let mut file = Counting::with_workflow(&text, &workflow);
            let found = Extents::find(&mut file).unwrap();
            prop_assert_eq!(file.part(&found.workflow), workflow.as_str());
            let written = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(file.part(&found.text), &written[1..written.len() - 1]);
        }
    }
}
