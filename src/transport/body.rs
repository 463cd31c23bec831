//! Requests: bodies are read only after their head was accepted, in bounded time and memory, and parsed where that disturbs
//! no other request. The same limits apply to a body and to a message on standard input.
//!
//! A small body costs nothing to read. A large one (above 256 KiB) waits for one of two permits before more of it is
//! read, is refused if parsing it would allocate too much, and is parsed on a thread that other requests do not need.
//! tower-http's body limit and timeouts support neither the permits nor our refusal messages.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{CONNECTION, CONTENT_LENGTH, RETRY_AFTER};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use rmcp::model::ServerJsonRpcMessage;
use serde_json::json;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout, timeout_at};

use super::{error_body, guard};
use crate::json::Extent;
use crate::json_rpc::not_a_message;

/// A larger request is parsed on a thread of its own; a larger body needs a permit.
pub(super) const LARGE_BYTES: usize = 256 * 1024;

/// How many large bodies are read and parsed at once.
const LARGE_BODIES: usize = 2;

/// How long a large body waits for a permit.
const PERMIT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a body may take to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// How long the next bytes of a body may take.
const CHUNK_TIMEOUT: Duration = Duration::from_secs(10);

/// The most containers, elements and members of a request: the parsers of the protocol use up to 400 bytes for each.
const MAX_PARTS: usize = 300_000;

/// The deepest nesting of a request.
const MAX_DEPTH: usize = 128;

/// The limits of the request bodies of a server; clones share the permits.
#[derive(Clone)]
pub(super) struct BodyLimits {
    max_bytes: usize,
    /// How long the next bytes may take.
    chunk_timeout: Duration,
    /// The permits of large bodies; `None` if the complexity of bodies is not limited here.
    large: Option<Arc<Semaphore>>,
}

/// A body that was read; a large one holds its permit until it is dropped.
pub(super) struct ReadBody {
    pub bytes: Bytes,
    permit: Option<OwnedSemaphorePermit>,
}

/// Why a request was refused before it was parsed.
#[derive(Clone, Copy)]
pub(super) enum Error {
    TooLarge { max_bytes: usize },
    TooManyParts,
    TooDeep,
    Busy,
    Slow,
    Incomplete,
    NotJson,
}

impl BodyLimits {
    /// Limits for bodies of up to `max_bytes`.
    pub(super) fn new(max_bytes: usize) -> Self {
        let large = Some(Arc::new(Semaphore::new(LARGE_BODIES)));
        Self { max_bytes, chunk_timeout: CHUNK_TIMEOUT, large }
    }

    /// Limits for bodies of up to `max_bytes` whose handler checks the text before it builds any value, however complex they are.
    #[cfg(feature = "gateway")]
    pub(super) fn unparsed(max_bytes: usize) -> Self {
        Self { max_bytes, chunk_timeout: BODY_TIMEOUT, large: None }
    }

    /// Reads a body; one that announces too many bytes is refused before it is sent.
    ///
    /// # Errors
    /// When it is too large or too complex, arrives too slowly or incompletely, or other large bodies take too long.
    pub(super) async fn read(&self, headers: &HeaderMap, body: Body) -> Result<ReadBody, Error> {
        let announced = announced(headers);
        let too_large = Error::TooLarge { max_bytes: self.max_bytes };
        if announced.is_some_and(|bytes| bytes > self.max_bytes) {
            return Err(too_large);
        }
        let mut chunks = body.into_data_stream();
        let mut permit = None;
        let mut bytes = Vec::with_capacity(announced.unwrap_or(0).min(LARGE_BYTES));
        let mut deadline = Instant::now() + BODY_TIMEOUT;
        loop {
            if let (Some(large), None) = (&self.large, &permit)
                && bytes.len().max(announced.unwrap_or(0)) > LARGE_BYTES
            {
                let waiting = timeout(PERMIT_TIMEOUT, large.clone().acquire_owned()).await;
                permit = Some(waiting.ok().and_then(Result::ok).ok_or(Error::Busy)?);
                deadline = Instant::now() + BODY_TIMEOUT;
            }
            let next = timeout_at(deadline, timeout(self.chunk_timeout, chunks.next())).await;
            let Some(chunk) = next.ok().and_then(Result::ok).ok_or(Error::Slow)? else { break };
            let chunk = chunk.map_err(|_| Error::Incomplete)?;
            if bytes.len() + chunk.len() > self.max_bytes {
                return Err(too_large);
            }
            bytes.extend_from_slice(&chunk);
        }
        let bytes = Bytes::from(bytes);
        if permit.is_some() {
            let bytes = bytes.clone();
            check_extent(crate::blocking::blocking(move || Extent::of(&bytes)).await)?;
        } else if self.large.is_some() {
            check_extent(Extent::of(&bytes))?;
        }
        Ok(ReadBody { bytes, permit })
    }
}

/// The size of a body as its head announces it, in bytes; `None` if it is sent in chunks.
pub(super) fn announced(headers: &HeaderMap) -> Option<usize> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Refuses a request that would take too much memory or stack to parse.
///
/// # Errors
/// There are too many parts, or they nest too deeply.
pub(super) fn check_extent(extent: Extent) -> Result<(), Error> {
    match extent {
        Extent { depth, .. } if depth > MAX_DEPTH => Err(Error::TooDeep),
        Extent { parts, .. } if parts > MAX_PARTS => Err(Error::TooManyParts),
        _ => Ok(()),
    }
}

impl ReadBody {
    /// Runs work that parses this body: for a large one on a separate thread, since parsing takes a while.
    pub(super) async fn parse<T>(&self, work: impl Future<Output = T>) -> T {
        if self.permit.is_none() {
            return work.await;
        }
        tokio::task::block_in_place(|| Handle::current().block_on(work))
    }
}

/// Reads the body of a request before its handler does, within the limits.
pub(super) async fn read_first(State(limits): State<BodyLimits>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    if parts.method == Method::POST && !guard::is_json(&parts.headers) {
        return Error::NotJson.into_response();
    }
    match limits.read(&parts.headers, body).await {
        Ok(read) => {
            let request = Request::from_parts(parts, Body::from(read.bytes.clone()));
            let response = read.parse(next.run(request)).await;
            // The content type has been checked: this is rmcp's response to a body that is not a message.
            if response.status() != StatusCode::UNSUPPORTED_MEDIA_TYPE {
                return response;
            }
            let error = not_a_message(&read.bytes, "body");
            (StatusCode::BAD_REQUEST, Json(ServerJsonRpcMessage::error(error, None))).into_response()
        }
        Err(error) => error.into_response(),
    }
}

impl Error {
    /// The status, a code, and what the client can do about it.
    pub(super) fn reason(self) -> (StatusCode, &'static str, String) {
        match self {
            Self::TooLarge { max_bytes } => (
                StatusCode::PAYLOAD_TOO_LARGE,
                "BODY_TOO_LARGE",
                format!("The request is larger than {max_bytes} bytes. Split it into smaller ones."),
            ),
            Self::TooManyParts => (
                StatusCode::PAYLOAD_TOO_LARGE,
                "BODY_TOO_LARGE",
                format!("The request holds more than {MAX_PARTS} JSON values and names. Split it into smaller ones."),
            ),
            Self::TooDeep => (
                StatusCode::BAD_REQUEST,
                "INVALID_REQUEST_FORMAT",
                format!("The request nests deeper than {MAX_DEPTH} levels. Flatten its arguments."),
            ),
            Self::Busy => (
                StatusCode::SERVICE_UNAVAILABLE,
                "BUSY",
                "The server is reading other large bodies. Try again in a few seconds.".to_owned(),
            ),
            Self::Slow => (
                StatusCode::REQUEST_TIMEOUT,
                "BODY_TIMEOUT",
                format!("The body did not arrive within {} s. Send it faster.", BODY_TIMEOUT.as_secs()),
            ),
            Self::NotJson => (
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "INVALID_REQUEST_FORMAT",
                "Send JSON, with content-type: application/json.".to_owned(),
            ),
            Self::Incomplete => {
                (StatusCode::BAD_REQUEST, "INVALID_REQUEST_FORMAT", "The body broke off. Send it again.".to_owned())
            }
        }
    }
}

impl IntoResponse for Error {
    /// The response, after which the connection is closed: the rest of the body may still be on its way.
    fn into_response(self) -> Response {
        let (status, code, message) = self.reason();
        let mut response = (status, [(CONNECTION, "close")], error_body(&message, code, json!({}))).into_response();
        if matches!(self, Self::Busy) {
            response.headers_mut().insert(RETRY_AFTER, axum::http::HeaderValue::from_static("5"));
        }
        response
    }
}
