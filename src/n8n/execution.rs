//! The body of one execution.

use std::time::Duration;

use reqwest::Response;
use tokio::time::timeout;

use super::client::Client;
use super::error::Error;
use super::progress::{Progress, Stage};
use super::request::{Failing, Miss, Request, Tries};
use crate::json::Projection;

/// Above this stored size a 500 is taken as n8n's limit: every further try would make it build the
/// body again.
const NO_RETRY_BYTES: u64 = 50_000_000;

/// An execution's metadata is below 1 KB; more is not asked for.
const METADATA_BYTES: usize = 64 * 1024;

/// How long the metadata is waited for.
const METADATA_TIMEOUT: Duration = Duration::from_secs(4);

/// Which execution is read.
#[derive(Clone, Debug)]
pub struct ExecutionRequest {
    /// Digits.
    pub id: String,
    /// Whether n8n should send it even above its display limit.
    pub ignore_size_limit: bool,
}

impl Client {
    /// Reads an execution; the projection's reader runs on a blocking thread while the body arrives. Dropping the
    /// future ends the download.
    ///
    /// # Errors
    /// When n8n cannot be reached, refuses, or its body is incomplete or broken; the view is returned only if the body
    /// arrived whole.
    pub async fn read_execution<P: Projection>(
        &self,
        request: &ExecutionRequest,
        projection: &P,
        progress: &Progress,
    ) -> Result<P::View, Error> {
        let _permit = self.download_permit(progress).await?;
        progress.set(Stage::Waiting { stored: None });
        let stored = if progress.is_watched() { self.stored_bytes(&request.id).await } else { None };
        match self.download(request, stored, projection, progress).await {
            Err(error) if error.is_broken_off() => {
                tracing::warn!(%error, "requesting it once more");
                self.download(request, stored, projection, progress).await
            }
            done => done,
        }
    }

    async fn download<P: Projection>(
        &self,
        request: &ExecutionRequest,
        stored: Option<u64>,
        projection: &P,
        progress: &Progress,
    ) -> Result<P::View, Error> {
        progress.set(Stage::Waiting { stored });
        let response = self.open(request, stored).await?;
        self.read_body(response, projection, progress).await
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
        let request = execution(&segments, query, id);
        let (mut tries, mut stored) = (Tries::new(), stored);
        loop {
            let (failing, pause) = match self.ask_once(&request).await {
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
        let request = Request { expands: false, ..execution(&segments, &[], id) };
        // A busy n8n answers nothing for a while: then its size is not worth waiting for.
        let metadata = async { self.gather(self.ask_once(&request).await.ok()?, METADATA_BYTES).await.ok() };
        let metadata = timeout(METADATA_TIMEOUT, metadata).await.ok()??;
        let metadata: serde_json::Value = serde_json::from_slice(&metadata).ok()?;
        metadata["jsonSizeBytes"].as_u64().filter(|bytes| *bytes > 0)
    }
}

fn execution<'a>(segments: &'a [&'a str; 2], query: &'a [(&'a str, &'a str)], id: &str) -> Request<'a> {
    let subject = format!("Execution '{id}'");
    Request { expands: true, ..Request::get(segments, query, "execution:read", subject) }
}
