//! What is asked of n8n, and why one try may give nothing.

use std::time::{Duration, Instant};

use backon::ExponentialBackoff;
use bytes::Bytes;
use reqwest::Method;

use super::error::Error;
use super::retry::pauses;

/// One request.
pub(super) struct Request<'a> {
    pub method: Method,
    pub segments: &'a [&'a str],
    pub query: &'a [(&'a str, &'a str)],
    /// JSON.
    pub body: Option<Bytes>,
    /// The scope that a key needs for it.
    pub scope: &'static str,
    /// What is not there when n8n says 404.
    pub subject: String,
    /// Whether the answer is expanded as it comes.
    pub expands: bool,
}

impl<'a> Request<'a> {
    /// A GET of plain JSON.
    pub(super) fn get(
        segments: &'a [&'a str],
        query: &'a [(&'a str, &'a str)],
        scope: &'static str,
        subject: String,
    ) -> Self {
        Self { method: Method::GET, segments, query, body: None, scope, subject, expands: false }
    }

    /// A request that changes something. It is sent once more only where no connection was made: what
    /// may have reached n8n may have been done.
    pub(super) fn write(
        method: Method,
        segments: &'a [&'a str],
        body: Option<Bytes>,
        scope: &'static str,
        subject: String,
    ) -> Self {
        Self { method, segments, query: &[], body, scope, subject, expands: false }
    }

    /// Whether it changes something.
    pub(super) fn writes(&self) -> bool {
        self.method != Method::GET
    }
}

/// Why one try gave nothing.
pub(super) enum Miss {
    /// Trying again does not help.
    Final(Error),
    /// It may help, after a pause.
    Again { error: Failing, pause: Pause },
}

/// How long to wait before the next try.
#[derive(Clone, Copy)]
pub(super) enum Pause {
    /// As we do.
    Ours,
    /// As the server asked.
    Asked(Duration),
    /// Longer than anybody waits.
    TooLong,
}

impl Pause {
    /// The pause before the next try; `None` when there is none.
    pub(super) fn or(self, ours: Option<Duration>) -> Option<Duration> {
        match self {
            Self::Ours => ours,
            Self::Asked(pause) => ours.map(|_| pause),
            Self::TooLong => None,
        }
    }
}

/// What failed, until it is known for how long.
pub(super) enum Failing {
    Status { status: u16, message: String },
    Network(String),
}

/// The tries of one request.
pub(super) struct Tries {
    pub begun: Instant,
    pub made: u32,
    pub pauses: ExponentialBackoff,
}

impl Tries {
    pub(super) fn new() -> Self {
        Self { begun: Instant::now(), made: 0, pauses: pauses() }
    }
}
