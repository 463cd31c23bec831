//! The body of one execution.

use std::sync::Arc;
use std::time::Duration;

use reqwest::Response;
use tokio::time::timeout;

use super::client::Client;
use super::error::Error;
use super::identity::Identity;
use super::progress::{Progress, Stage};
use super::request::{AttemptError, Attempts, Request, TransientError};
use super::stamp::{Stamp, StampReader};
use crate::cache::{Claim, Writer};
use crate::json::Projection;

/// Above this stored size a 500 is taken for n8n's size limit and not retried: each attempt would make
/// n8n build the body again.
const NO_RETRY_BYTES: u64 = 50_000_000;

/// An execution's metadata is below 1 KB.
const METADATA_BYTES: usize = 64 * 1024;

/// How long to wait for the metadata.
const METADATA_TIMEOUT: Duration = Duration::from_secs(4);

/// Which execution to read.
#[derive(Clone, Debug)]
pub struct ExecutionRequest {
    /// The execution's id, a number in digits.
    pub id: String,
    /// Whether n8n should send the data even above its display limit.
    pub ignore_size_limit: bool,
}

/// What was read of an execution.
#[derive(Debug)]
pub struct Reading<V> {
    /// The view of the projection.
    pub view: V,
    /// How long ago n8n sent it, if n8n was not asked whether it has changed since.
    pub age: Option<Duration>,
}

impl Client {
    /// Reads an execution, from the cache if there is one; the projection's reader runs on a blocking thread while the
    /// body arrives. Dropping the future cancels the download.
    ///
    /// # Errors
    /// When n8n cannot be reached, refuses, or its body is incomplete or broken; the view is returned only if the body
    /// arrived whole.
    pub async fn read_execution<P: Projection>(
        &self,
        request: &ExecutionRequest,
        projection: &P,
        progress: &Progress,
    ) -> Result<Reading<P::View>, Error> {
        match self.caching() {
            Some(caching) => self.read_cached(caching, request, projection, progress).await,
            None => self.fetch(request, projection, progress, None).await,
        }
    }

    /// Downloads an execution; with a claim, into the cache, too.
    pub(super) async fn fetch<P: Projection>(
        &self,
        request: &ExecutionRequest,
        projection: &P,
        progress: &Progress,
        claim: Option<&Arc<Claim>>,
    ) -> Result<Reading<P::View>, Error> {
        let view = match self.download(request, projection, progress, claim).await {
            Err(error) if error.is_broken_off() => {
                tracing::info!(%error, "requesting it once more");
                self.download(request, projection, progress, claim).await
            }
            done => done,
        };
        Ok(Reading { view: view?, age: None })
    }

    async fn download<P: Projection>(
        &self,
        request: &ExecutionRequest,
        projection: &P,
        progress: &Progress,
        claim: Option<&Arc<Claim>>,
    ) -> Result<P::View, Error> {
        if let Some(allowance) = self.allowance() {
            allowance.admit()?;
        }
        let slot = self.slots().executions.enter(progress).await?;
        progress.set(Stage::Waiting { stored: None });
        let stored = if progress.is_watched() { self.stored_bytes(&request.id).await } else { None };
        progress.set(Stage::Waiting { stored });
        let body = self.begin(self.open(request, stored).await?).await?;
        let _slot = slot.read(progress).await?;
        let copy = claim.map(|claim| Writer::start(claim, StampReader::new()));
        self.read_body(body, Some(&request.id), projection, progress, copy).await
    }

    /// Requests the body, without `ignoreDataSizeLimit` if this n8n does not accept it.
    async fn open(&self, request: &ExecutionRequest, stored: Option<u64>) -> Result<Response, Error> {
        const LIMIT: &str = "ignoreDataSizeLimit";
        let plain: &[_] = &[("includeData", "true")];
        let all: &[_] = &[("includeData", "true"), (LIMIT, "true")];
        if request.ignore_size_limit {
            match self.open_with(&request.id, all, stored).await {
                // n8n before 2.28 refuses unknown query parameters, and has no limit.
                Err(Error::Refused { status: 400, message }) if message.contains(LIMIT) => {}
                result => return result,
            }
        }
        self.open_with(&request.id, plain, stored).await
    }

    async fn open_with(&self, id: &str, query: &[(&str, &str)], stored: Option<u64>) -> Result<Response, Error> {
        let segments = ["executions", id];
        let request = execution(&segments, query, id);
        let (mut attempts, mut stored) = (Attempts::new(), stored);
        loop {
            let (error, delay) = match self.send_once(&request).await {
                Ok(response) => return Ok(response),
                Err(AttemptError::Final(error)) => return Err(error),
                Err(AttemptError::Transient { error, delay }) => (error, delay),
            };
            if let TransientError::Status { status: status @ 500, .. } = error {
                if stored.is_none() {
                    stored = self.stored_bytes(id).await;
                }
                if stored.is_some_and(|stored| stored > NO_RETRY_BYTES) {
                    return Err(Error::TooLarge { status, stored });
                }
            }
            self.wait(&mut attempts, error, delay).await?;
        }
    }

    /// Reads what n8n says about an execution without its data, which takes n8n some 20 ms.
    ///
    /// # Errors
    /// As [`read_execution`](Self::read_execution).
    pub async fn read_metadata<P: Projection>(&self, id: &str, projection: &P) -> Result<P::View, Error> {
        let segments = ["executions", id];
        let request = execution(&segments, &[], id);
        let progress = Progress::default();
        let slot = self.slots().small.enter(&progress).await?;
        let body = self.begin(self.send(&request).await?).await?;
        let _slot = slot.read(&progress).await?;
        self.read_body(body, Some(id), projection, &progress, None).await
    }

    /// What n8n says about an execution, without its data.
    pub(super) async fn stamp(&self, id: &str, progress: &Progress) -> Result<Option<Stamp>, Error> {
        let segments = ["executions", id];
        let request = Request { accepts_gzip: false, ..execution(&segments, &[], id) }.about(id);
        let metadata = self.collect(&request, METADATA_BYTES, progress).await?;
        Ok(Stamp::of(&metadata))
    }

    /// The size of an execution in n8n's database, if n8n reports it (2.27 and newer). The request takes
    /// about 20 ms and is not worth a retry.
    async fn stored_bytes(&self, id: &str) -> Option<u64> {
        let segments = ["executions", id];
        let request = Request { accepts_gzip: false, ..execution(&segments, &[], id) };
        // A busy n8n does not respond for a while; the size is not worth that wait.
        let metadata = async { self.gather(self.send_once(&request).await.ok()?.into(), METADATA_BYTES).await.ok() };
        let metadata = timeout(METADATA_TIMEOUT, metadata).await.ok()??;
        Identity::new(id).check(&metadata).ok()?;
        let metadata: serde_json::Value = serde_json::from_slice(&metadata).ok()?;
        metadata["jsonSizeBytes"].as_u64().filter(|bytes| *bytes > 0)
    }
}

fn execution<'a>(segments: &'a [&'a str; 2], query: &'a [(&'a str, &'a str)], id: &str) -> Request<'a> {
    let subject = format!("Execution '{id}'");
    Request { accepts_gzip: true, ..Request::get(segments, query, "execution:read", subject) }
}
