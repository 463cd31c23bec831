//! A streamed body: pruned as it arrives, then read by a projection on a blocking thread.

use std::io;

use reqwest::Response;
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderValue};
use tokio::sync::{SemaphorePermit, mpsc};
use tokio::time::timeout;

use super::client::{Client, cause};
use super::error::Error;
use super::gzip::Gunzip;
use super::progress::{Progress, Stage};
use super::request::Request;
use crate::blocking::joined;
use crate::json::{Batch, Cursor, Fault, Projection, Pruner};

/// Pruned batches in the channel. Few are enough, since each is small.
const PIPE_BATCHES: usize = 4;

/// Compressed bytes that are decompressed at once; the output is at most a thousand times as large.
const GZIP_SLICE: usize = 1024;

/// Bytes shown of a response that is not JSON.
const BEGINNING_BYTES: usize = 80;

/// The pruned batches of a download, as an iterator for the blocking thread.
struct Incoming(mpsc::Receiver<Batch>);

impl Iterator for Incoming {
    type Item = io::Result<Batch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.blocking_recv().map(Ok)
    }
}

/// The filter, preceded by a decoder if the body is compressed.
enum Filter {
    Plain(Box<Pruner>),
    Gzip(Box<Gunzip>),
}

impl Filter {
    fn feed(&mut self, chunk: &[u8]) -> io::Result<Batch> {
        match self {
            Self::Plain(pruner) => pruner.feed(chunk).map_err(io::Error::other),
            Self::Gzip(gunzip) => gunzip.feed(chunk),
        }
    }

    fn finish(self) -> io::Result<Batch> {
        match self {
            Self::Plain(pruner) => pruner.finish().map_err(io::Error::other),
            Self::Gzip(gunzip) => gunzip.finish(),
        }
    }
}

impl Client {
    /// Waits for a permit to read a body.
    pub(super) async fn download_permit(&self, progress: &Progress) -> Result<SemaphorePermit<'_>, Error> {
        if let Ok(permit) = self.downloads().try_acquire() {
            return Ok(permit);
        }
        progress.set(Stage::Queued);
        self.downloads().acquire().await.map_err(|_| Error::Stopped)
    }

    /// Reads a body; the projection's reader runs on a blocking thread while the body arrives.
    pub(super) async fn read_body<P: Projection>(
        &self,
        response: Response,
        projection: &P,
        progress: &Progress,
    ) -> Result<P::View, Error> {
        let response = self.check_type(response).await?;
        let (sender, receiver) = mpsc::channel(PIPE_BATCHES);
        let (pruner, projection) = (projection.pruner(), projection.clone());
        let reading = tokio::task::spawn_blocking(move || projection.read(Cursor::over(Incoming(receiver))));
        self.pump(response, pruner, sender, progress).await?;
        joined(reading).await.ok_or(Error::Stopped)
    }

    /// Refuses a body whose content type is not JSON.
    pub(super) async fn check_type(&self, mut response: Response) -> Result<Response, Error> {
        let Some(content_type) = response.headers().get(CONTENT_TYPE) else {
            return Ok(response);
        };
        let content_type = content_type.to_str().unwrap_or("an unknown content type");
        if content_type.contains("json") {
            return Ok(response);
        }
        let content_type = match content_type.split(';').next().unwrap_or(content_type).trim() {
            "text/html" => "HTML".to_owned(),
            other => self.clean(other),
        };
        let first = self.chunk(&mut response, 0, None).await?.unwrap_or_default();
        let first = String::from_utf8_lossy(&first[..first.len().min(BEGINNING_BYTES)]).into_owned();
        Err(Error::NotJson { content_type, beginning: self.clean(&first) })
    }

    async fn pump(
        &self,
        mut response: Response,
        pruner: Pruner,
        sender: mpsc::Sender<Batch>,
        progress: &Progress,
    ) -> Result<(), Error> {
        let total = response.content_length();
        let gzip = response.headers().get(CONTENT_ENCODING).is_some_and(is_gzip);
        let mut filter =
            if gzip { Filter::Gzip(Box::new(Gunzip::new(pruner))) } else { Filter::Plain(Box::new(pruner)) };
        let mut offset = 0;
        progress.set(Stage::Reading { bytes: 0, total });
        while let Some(chunk) = self.chunk(&mut response, offset, total).await? {
            let mut at = offset;
            for slice in chunk.chunks(if gzip { GZIP_SLICE } else { usize::MAX }) {
                let batch = filter.feed(slice).map_err(|error| filter_error(error, at))?;
                at += slice.len() as u64;
                // The projection stopped reading early; its view says why.
                if !batch.is_empty() && sender.send(batch).await.is_err() {
                    return Ok(());
                }
            }
            offset += chunk.len() as u64;
            progress.set(Stage::Reading { bytes: offset, total });
        }
        let last = filter.finish().map_err(|error| filter_error(error, offset))?;
        let _ = sender.send(last).await;
        Ok(())
    }

    /// Sends a request and collects the whole body of the response, at most `max_bytes`.
    pub(super) async fn collect(&self, request: &Request<'_>, max_bytes: usize) -> Result<Vec<u8>, Error> {
        self.gather(self.check_type(self.send(request).await?).await?, max_bytes).await
    }

    /// Collects a whole body, at most `max_bytes`.
    pub(super) async fn gather(&self, mut response: Response, max_bytes: usize) -> Result<Vec<u8>, Error> {
        let (mut body, total) = (Vec::new(), response.content_length());
        while let Some(chunk) = self.chunk(&mut response, body.len() as u64, total).await? {
            if body.len() + chunk.len() > max_bytes {
                let (offset, cause) = (body.len() as u64, format!("the response exceeds {max_bytes} bytes"));
                return Err(Error::BrokenOff { offset, total, cause });
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    /// The next chunk of a body; `None` at its end.
    pub(super) async fn chunk(
        &self,
        response: &mut Response,
        offset: u64,
        total: Option<u64>,
    ) -> Result<Option<bytes::Bytes>, Error> {
        let wait = self.settings().idle_timeout;
        match timeout(wait, response.chunk()).await {
            Ok(Ok(chunk)) => Ok(chunk),
            Ok(Err(error)) => Err(Error::BrokenOff { offset, total, cause: cause(&error) }),
            Err(_) => Err(Error::Idle { offset, after: wait }),
        }
    }
}

/// Matches both names of gzip (RFC 9110, 8.4.1.3), ignoring case.
fn is_gzip(encoding: &HeaderValue) -> bool {
    [&b"gzip"[..], b"x-gzip"].iter().any(|name| encoding.as_bytes().eq_ignore_ascii_case(name))
}

fn filter_error(error: io::Error, offset: u64) -> Error {
    match error.downcast::<Fault>() {
        Ok(fault) => Error::Fault(fault),
        Err(error) => Error::Gzip { offset, cause: error.to_string() },
    }
}
