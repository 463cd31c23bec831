//! An execution that was saved to a file, as n8n sent it, gzip-compressed or not.

mod gzip_reader;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use self::gzip_reader::GzipReader;
use crate::blocking::blocking;
use crate::json::{Projection, ReadAhead, beginning, markup};
use crate::n8n::{Progress, Stage};
use crate::tools::Error;

/// The saved execution that a server shows, whatever id it is asked for. Cheap to clone.
#[derive(Clone, Debug)]
pub struct SavedExecution(Arc<PathBuf>);

impl SavedExecution {
    /// The execution in this file.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn new(path: PathBuf) -> Result<Self, Error> {
        open(&path)?;
        Ok(Self(Arc::new(path)))
    }

    /// Reads the execution on a blocking thread. Dropping the future ends it soon.
    pub(super) async fn read<P: Projection>(&self, projection: &P, progress: &Progress) -> Result<P::View, Error> {
        let (path, projection, progress) = (self.0.clone(), projection.clone(), progress.clone());
        let cancel = CancellationToken::new();
        let _guard = cancel.clone().drop_guard();
        blocking(move || {
            let file = open(&path)?;
            let total = file.metadata().ok().map(|metadata| metadata.len());
            let body = Watched { file, bytes: 0, total, progress, cancel };
            Ok(projection.read_from(decompress(body)?))
        })
        .await
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
/// Its first bytes cannot be read, or are those of a page that was saved in the place of an execution.
pub fn decompress(mut body: impl Read + Send + 'static) -> Result<ReadAhead, Error> {
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
            beginning(body.peek())
        ))),
        None => Ok(body),
    }
}

/// A file that reports how much of it was read, and ends when nobody waits for it.
struct Watched {
    file: File,
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
        let read = self.file.read(buffer)?;
        self.bytes += read as u64;
        self.progress.set(Stage::Reading { bytes: self.bytes, total: self.total });
        Ok(read)
    }
}
