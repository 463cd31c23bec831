//! The streamed body of an execution: through the filter as it comes, and on to a projection that
//! reads on a thread where it may wait.

use std::io;
use std::time::Duration;

use reqwest::Response;
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE};
use std::ops::Range;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::client::{Client, Failing, Get, Miss, Tries, cause};
use super::error::Error;
use super::gzip::Gunzip;
use super::progress::{Progress, Stage};
use crate::json::{Batch, Cursor, Fault, Keep, Pruner, Text};

/// Pruned batches on their way: little, since each is a trickle.
const PIPE_BATCHES: usize = 4;

/// Above this stored size a 500 is taken as n8n's limit: every further try would make it build the
/// body again.
const NO_RETRY_BYTES: u64 = 50_000_000;

/// An execution's metadata is below 1 KB; more is not asked for.
const METADATA_BYTES: usize = 64 * 1024;

/// How long the metadata is waited for.
const METADATA_TIMEOUT: Duration = Duration::from_secs(4);

/// Compressed bytes that are expanded at once: at most a thousand times as many come out.
const GZIP_SLICE: usize = 1024;

/// What is shown of an answer that is not JSON.
const BEGINNING_BYTES: usize = 80;

/// Which execution is read, and what of it.
#[derive(Clone, Debug)]
pub struct ExecutionRequest {
    /// Digits.
    pub id: String,
    /// Whether n8n should send it even above its display limit.
    pub ignore_size_limit: bool,
    /// What is kept.
    pub keep: Keep,
    /// The elements that are captured.
    pub window: Range<u64>,
}

/// The pruned text of a body that is coming.
pub type BodyText = Text<Incoming>;

/// Batches from the download.
pub struct Incoming(mpsc::Receiver<Batch>);

impl Iterator for Incoming {
    type Item = io::Result<Batch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.blocking_recv().map(Ok)
    }
}

/// The filter, behind the decoder where the body is compressed.
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
    /// Reads an execution with `read`, which runs on a blocking thread while the body comes. Dropping
    /// the future ends the download.
    ///
    /// # Errors
    /// [`Error`]; what `read` answers is only used when the body was whole.
    pub async fn read_execution<T, F>(
        &self,
        request: &ExecutionRequest,
        progress: &Progress,
        read: F,
    ) -> Result<T, Error>
    where
        T: Send + 'static,
        F: Fn(Cursor<BodyText>) -> T + Clone + Send + 'static,
    {
        let _turn = self.turn(progress).await?;
        progress.set(Stage::Waiting { stored: None });
        let stored = if progress.is_watched() { self.stored_bytes(&request.id).await } else { None };
        match self.download(request, stored, progress, read.clone()).await {
            Err(error) if error.is_broken_off() => {
                tracing::warn!(%error, "asking once more");
                self.download(request, stored, progress, read).await
            }
            done => done,
        }
    }

    async fn turn(&self, progress: &Progress) -> Result<tokio::sync::SemaphorePermit<'_>, Error> {
        if let Ok(turn) = self.downloads.try_acquire() {
            return Ok(turn);
        }
        progress.set(Stage::Queued);
        self.downloads.acquire().await.map_err(|_| Error::Stopped)
    }

    async fn download<T, F>(
        &self,
        request: &ExecutionRequest,
        stored: Option<u64>,
        progress: &Progress,
        read: F,
    ) -> Result<T, Error>
    where
        T: Send + 'static,
        F: Fn(Cursor<BodyText>) -> T + Send + 'static,
    {
        progress.set(Stage::Waiting { stored });
        let response = self.check_type(self.open(request, stored).await?).await?;
        let (sender, receiver) = mpsc::channel(PIPE_BATCHES);
        let reading = tokio::task::spawn_blocking(move || read(Cursor::over(Incoming(receiver))));
        let pruner = Pruner::new(request.keep, request.window.clone());
        self.pump(response, pruner, sender, progress).await?;
        reading.await.map_err(|error| match error.try_into_panic() {
            // The door turns a panic into an answer; here it only changes threads.
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Error::Stopped,
        })
    }

    /// Asks for the body; goes without `ignoreDataSizeLimit` where n8n does not know it.
    async fn open(&self, request: &ExecutionRequest, stored: Option<u64>) -> Result<Response, Error> {
        const LIMIT: &str = "ignoreDataSizeLimit";
        let plain: &[_] = &[("includeData", "true")];
        let all: &[_] = &[("includeData", "true"), (LIMIT, "true")];
        if request.ignore_size_limit {
            match self.open_with(&request.id, all, stored).await {
                // n8n before 2.28 refuses parameters that it does not know, and has no limit.
                Err(Error::Refused { status: 400, message }) if message.contains(LIMIT) => {}
                answer => return answer,
            }
        }
        self.open_with(&request.id, plain, stored).await
    }

    async fn open_with(&self, id: &str, query: &[(&str, &str)], stored: Option<u64>) -> Result<Response, Error> {
        let segments = ["executions", id];
        let get = execution(&segments, query, id);
        let (mut tries, mut stored) = (Tries::new(), stored);
        loop {
            let (failing, pause) = match self.try_get(&get).await {
                Ok(response) => return Ok(response),
                Err(Miss::Final(error)) => return Err(error),
                Err(Miss::Again { error, pause }) => (error, pause),
            };
            if let Failing::Status { status: status @ 500, .. } = failing {
                if stored.is_none() {
                    stored = self.stored_bytes(id).await;
                }
                if stored.is_some_and(|stored| stored > NO_RETRY_BYTES) {
                    return Err(Error::TooLarge { status, stored });
                }
            }
            self.pause(&mut tries, failing, pause).await?;
        }
    }

    /// The size of an execution in n8n's database, where n8n knows it (2.27 and newer). It takes n8n
    /// about 20 ms, and is worth one try only.
    async fn stored_bytes(&self, id: &str) -> Option<u64> {
        let segments = ["executions", id];
        let get = Get { expands: false, ..execution(&segments, &[], id) };
        // A busy n8n answers nothing for a while: then its size is not worth waiting for.
        let mut response = timeout(METADATA_TIMEOUT, self.try_get(&get)).await.ok()?.ok()?;
        let mut metadata = Vec::new();
        while let Ok(Some(chunk)) = timeout(self.settings.idle_timeout, response.chunk()).await.ok()? {
            metadata.extend_from_slice(&chunk);
            if metadata.len() > METADATA_BYTES {
                return None;
            }
        }
        let metadata: serde_json::Value = serde_json::from_slice(&metadata).ok()?;
        metadata["jsonSizeBytes"].as_u64().filter(|bytes| *bytes > 0)
    }

    /// A body that says it is not JSON is not read as if it were.
    pub(super) async fn check_type(&self, mut response: Response) -> Result<Response, Error> {
        let Some(content_type) = response.headers().get(CONTENT_TYPE) else {
            return Ok(response);
        };
        let content_type = content_type.to_str().unwrap_or("something unknown");
        if content_type.contains("json") {
            return Ok(response);
        }
        let content_type = self.clean(content_type.split(';').next().unwrap_or(content_type));
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
        let gzip = response.headers().get(CONTENT_ENCODING).is_some_and(|encoding| encoding == "gzip");
        let mut filter =
            if gzip { Filter::Gzip(Box::new(Gunzip::new(pruner))) } else { Filter::Plain(Box::new(pruner)) };
        let mut offset = 0;
        progress.set(Stage::Reading { bytes: 0, total });
        while let Some(chunk) = self.chunk(&mut response, offset, total).await? {
            for slice in chunk.chunks(if gzip { GZIP_SLICE } else { usize::MAX }) {
                let batch = filter.feed(slice).map_err(|error| filter_error(error, offset))?;
                // A projection that stopped reading has its own reason, which is its answer.
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

    async fn chunk(
        &self,
        response: &mut Response,
        offset: u64,
        total: Option<u64>,
    ) -> Result<Option<bytes::Bytes>, Error> {
        let wait = self.settings.idle_timeout;
        match timeout(wait, response.chunk()).await {
            Ok(Ok(chunk)) => Ok(chunk),
            Ok(Err(error)) => Err(Error::BrokenOff { offset, total, cause: cause(&error) }),
            Err(_) => Err(Error::Idle { offset, after: wait }),
        }
    }
}

fn execution<'a>(segments: &'a [&'a str; 2], query: &'a [(&'a str, &'a str)], id: &str) -> Get<'a> {
    Get { segments, query, scope: "execution:read", subject: format!("Execution '{id}'"), expands: true }
}

fn filter_error(error: io::Error, offset: u64) -> Error {
    match error.downcast::<Fault>() {
        Ok(fault) => Error::Fault(fault),
        Err(error) => Error::Gzip { offset, cause: error.to_string() },
    }
}
