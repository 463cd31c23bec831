//! Requests to n8n, and why one attempt can fail.

use std::time::Instant;

use backon::ExponentialBackoff;
use bytes::Bytes;
use reqwest::Method;

use super::error::Error;
use super::retry::{RetryDelay, backoff};

/// A request to n8n's public API.
pub(super) struct Request<'a> {
    pub method: Method,
    pub segments: &'a [&'a str],
    pub query: &'a [(&'a str, &'a str)],
    /// The JSON body.
    pub body: Option<Bytes>,
    /// The scope that the key needs.
    pub scope: &'static str,
    /// The id that the response must have, if it is about one thing.
    pub id: Option<&'a str>,
    /// What was not found if n8n returns 404.
    pub subject: String,
    /// Whether the response may be compressed: its reader decompresses it.
    pub accepts_gzip: bool,
}

impl<'a> Request<'a> {
    /// A GET request with an uncompressed response.
    pub(super) fn get(
        segments: &'a [&'a str],
        query: &'a [(&'a str, &'a str)],
        scope: &'static str,
        subject: String,
    ) -> Self {
        Self { method: Method::GET, segments, query, body: None, scope, id: None, subject, accepts_gzip: false }
    }

    /// A request that changes something. It is retried only if no connection was made, or n8n rejected it for its rate
    /// limit: any other request that may have reached n8n may have taken effect.
    pub(super) fn write(
        method: Method,
        segments: &'a [&'a str],
        body: Option<Bytes>,
        scope: &'static str,
        subject: String,
    ) -> Self {
        Self { method, segments, query: &[], body, scope, id: None, subject, accepts_gzip: false }
    }

    /// The same request about the resource with this id, which the response must have.
    pub(super) fn about(self, id: &'a str) -> Self {
        Self { id: Some(id), ..self }
    }

    /// Whether the request changes something.
    pub(super) fn writes(&self) -> bool {
        self.method != Method::GET
    }
}

/// Why one attempt failed.
pub(super) enum AttemptError {
    /// A retry does not help.
    Final(Error),
    /// A retry after a delay may help.
    Transient { error: TransientError, delay: RetryDelay },
}

/// An error that a retry may resolve.
pub(super) enum TransientError {
    Status { status: u16, message: String },
    Network(String),
}

/// The attempts at one request.
pub(super) struct Attempts {
    pub started: Instant,
    pub made: u32,
    pub backoff: ExponentialBackoff,
}

impl Attempts {
    pub(super) fn new() -> Self {
        Self { started: Instant::now(), made: 0, backoff: backoff() }
    }
}
