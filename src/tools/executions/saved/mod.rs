//! Executions that were saved to a file, or are read from standard input, as n8n sent them, gzip-compressed or not.

mod gzip_reader;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio_util::sync::CancellationToken;

use self::gzip_reader::GzipReader;
use crate::blocking::blocking;
use crate::json::{Cursor, Projection, PruneAhead, ReadAhead, markup, shown_prefix};
use crate::n8n::{Progress, Stage};
use crate::tools::Error;
use crate::workflow::file::Files;

/// Saved executions, each under the id that calls use for it. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct SavedExecutions(Arc<[(String, SavedExecution)]>);

impl FromIterator<(String, SavedExecution)> for SavedExecutions {
    fn from_iter<I: IntoIterator<Item = (String, SavedExecution)>>(executions: I) -> Self {
        Self(executions.into_iter().collect())
    }
}

impl SavedExecutions {
    /// The execution with this id, if it was saved.
    pub(super) fn get(&self, id: &str) -> Option<&SavedExecution> {
        self.0.iter().find(|(its, _)| its == id).map(|(_, execution)| execution)
    }

    /// Whether there are no saved executions.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Where the body of a saved execution is. Cheap to clone.
#[derive(Clone, Debug)]
pub enum SavedExecution {
    /// In this file.
    File(Arc<Path>),
    /// In the file with this name, which must be below a root.
    Below(Files, Arc<str>),
    /// On standard input, which can be read only once.
    StandardInput {
        /// Whether it has been read.
        is_read: Arc<AtomicBool>,
    },
}

impl SavedExecution {
    /// The execution in this file, which is opened only when it is read.
    pub fn file(path: &str) -> Self {
        Self::File(Path::new(path).into())
    }

    /// The execution in a file named by a client, which must be below the root of these files.
    pub(in crate::tools) fn below(files: &Files, path: &str) -> Self {
        Self::Below(files.clone(), path.into())
    }

    /// The execution on standard input.
    pub fn standard_input() -> Self {
        Self::StandardInput { is_read: Arc::default() }
    }

    /// Whether the execution can be read only once.
    pub fn is_read_once(&self) -> bool {
        matches!(self, Self::StandardInput { .. })
    }

    /// Reads the execution on a blocking thread. Dropping the future ends it soon.
    pub(super) async fn read<P: Projection>(&self, projection: &P, progress: &Progress) -> Result<P::View, Error> {
        let (execution, projection, progress) = (self.clone(), projection.clone(), progress.clone());
        let cancel = CancellationToken::new();
        let _guard = cancel.clone().drop_guard();
        blocking(move || {
            let (body, total) = execution.body()?;
            let body = Watched { body, bytes: 0, total, progress, cancel };
            Ok(projection.read(Cursor::over(PruneAhead::new(decompress(body)?, projection.pruner()))))
        })
        .await
    }

    /// The body, and its bytes if they are known.
    fn body(&self) -> Result<(Box<dyn Read + Send>, Option<u64>), Error> {
        match self {
            Self::File(path) => {
                let file = open(path)?;
                let total = file.metadata().ok().map(|metadata| metadata.len());
                Ok((Box::new(file), total))
            }
            Self::Below(files, path) => {
                let file = files.open(path)?;
                let total = file.metadata().ok().map(|metadata| metadata.len());
                Ok((Box::new(file), total))
            }
            Self::StandardInput { is_read } if is_read.swap(true, Ordering::Relaxed) => Err(Error::FailedPrecondition(
                "The input of this node cannot be read in one pass. Save the body to a file and pass the file instead of -."
                    .to_owned(),
            )),
            Self::StandardInput { .. } => Ok((Box::new(io::stdin()), None)),
        }
    }
}

/// Opens the body of an execution.
///
/// # Errors
/// The file cannot be opened.
pub fn open(path: &Path) -> Result<File, Error> {
    File::open(path).map_err(|error| {
        Error::FailedPrecondition(format!(
            "{} cannot be read: {error}. Pass an execution's id (digits), or the path of a file.",
            path.display()
        ))
    })
}

/// Reads a body ahead, decompressing it if it begins with the two bytes of gzip.
///
/// # Errors
/// Its first bytes cannot be read, or show that a web page was saved instead of an execution.
fn decompress(mut body: impl Read + Send + 'static) -> Result<ReadAhead, Error> {
    const MAGIC: [u8; 2] = [0x1f, 0x8b];
    let mut first = Vec::new();
    let read = body.by_ref().take(MAGIC.len() as u64).read_to_end(&mut first);
    read.map_err(|error| {
        Error::FailedPrecondition(format!(
            "The body cannot be read: {error}. Check the file, or save the execution again."
        ))
    })?;
    let is_gzip = first == MAGIC;
    let body = io::Cursor::new(first).chain(body);
    let mut body = if is_gzip { ReadAhead::new(GzipReader::new(body)) } else { ReadAhead::new(body) };
    match markup(body.peek()) {
        Some(markup) => Err(Error::FailedPrecondition(format!(
            "The body is {markup} instead of JSON, at byte 0: {:?}. A login page, a proxy or n8n's editor responded when it was saved: check N8N_URL, and save the response of GET /api/v1/executions/{{id}}?includeData=true again.",
            shown_prefix(body.peek())
        ))),
        None => Ok(body),
    }
}

/// A body that reports how much of it was read, and stops when the call is cancelled.
struct Watched {
    body: Box<dyn Read + Send>,
    bytes: u64,
    total: Option<u64>,
    progress: Progress,
    cancel: CancellationToken,
}

impl Read for Watched {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Err(io::Error::other("the call was cancelled"));
        }
        let read = self.body.read(buffer)?;
        self.bytes += read as u64;
        self.progress.set(Stage::Reading { bytes: self.bytes, total: self.total });
        Ok(read)
    }
}
