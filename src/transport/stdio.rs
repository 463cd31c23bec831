//! MCP over standard input and output, whose other end can close at any moment.
//!
//! rmcp's own transport drops a line that is too long or is not JSON, and the caller waits forever. This one answers it,
//! and refuses messages that would take too much memory to parse.

use std::borrow::Cow;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ErrorCode, ErrorData, JsonRpcMessage, JsonRpcNotification, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::service::ServerInitializeError;
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{RoleServer, ServiceExt};
use tokio::io::{AsyncRead, AsyncWrite, Empty};
use tokio_util::sync::CancellationToken;

use super::body::{self, LARGE_BYTES};
use super::mcp::Handler;
use crate::blocking::blocking;
use crate::json::Extent;
use crate::json_rpc::{Envelope, Line, LineReader, NotAdmitted, PendingRequests, UnreadableMessage, not_a_message};
use crate::platform::shutdown_signal;

/// How long calls in progress have to finish after the client has closed standard input.
const CALL_GRACE: Duration = Duration::from_millis(1500);

/// The code of the answer to a request when too many are pending, from the range that JSON-RPC leaves to servers.
const BUSY: ErrorCode = ErrorCode(-32000);

/// The most requests whose answers the client has not read: the answers wait in memory.
const MAX_PENDING: usize = 256;

/// How long a client has to read the answer to a message that was not accepted.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(60);

/// How often to check whether a message is complete.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Serves a handler that accepts messages of up to `max_bytes`, until the client closes standard input or output, or a signal arrives.
///
/// # Errors
/// The handshake fails, or the handler does. The message is a sentence, without anything that the client sent.
pub(super) async fn serve(server: Handler, max_bytes: usize) -> Result<(), String> {
    // Before anything is sent, since the client may respond with a signal.
    let signal = shutdown_signal();
    let (input, output) = rmcp::transport::stdio_pipes();
    let (input_closed, output_closed, mid_message) =
        (CancellationToken::new(), CancellationToken::new(), Arc::<AtomicBool>::default());
    let output = Output { pipe: output, closed: output_closed.clone(), mid_message: mid_message.clone() };
    let transport = StdioTransport::new(input, output, max_bytes, input_closed.clone());
    let serving = async {
        let running = match server.serve(transport).await {
            Ok(running) => running,
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(handshake_error(&error).to_owned()),
        };
        running.waiting().await.map(drop).map_err(|_| "The server stopped because of a bug in n8n-lens.".to_owned())
    };
    let drained = async {
        input_closed.cancelled().await;
        tokio::time::sleep(CALL_GRACE).await;
        // A slow reader still gets the rest of a message that it began to read; rmcp limits how long that takes.
        while mid_message.load(Ordering::Relaxed) {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    };
    tokio::select! {
        served = serving => served,
        () = drained => Ok(()),
        () = output_closed.cancelled() => Ok(()),
        () = signal => Ok(()),
    }
}

/// The error itself quotes the received message, which may contain a secret.
fn handshake_error(error: &ServerInitializeError) -> &'static str {
    match error {
        ServerInitializeError::ExpectedInitializeRequest(_) => {
            "The first message was not an initialize request. Connect an MCP client."
        }
        ServerInitializeError::InitializeFailed(_) => "The client and this server support no common version of MCP.",
        _ => "The handshake was not completed.",
    }
}

/// Why a message is not accepted, and the id of its request, if it is known.
struct Refusal {
    id: Option<RequestId>,
    error: ErrorData,
}

impl Refusal {
    fn new(id: Option<RequestId>, error: ErrorData) -> Box<Self> {
        Box::new(Self { id, error })
    }
}

/// The message in a line, if it is one for this server.
type Parsed = Result<Option<ClientJsonRpcMessage>, Box<Refusal>>;

/// Messages from standard input, to standard output.
struct StdioTransport<R, W: AsyncWrite> {
    lines: LineReader<R>,
    max_bytes: usize,
    output: AsyncRwTransport<RoleServer, Empty, W>,
    /// A large message that is being parsed on another thread. Like `refusal`, it outlives a cancelled `receive`.
    parsing: Option<BoxFuture<'static, Parsed>>,
    /// The answer to a message that could not be read, while it is being sent.
    refusal: Option<BoxFuture<'static, io::Result<()>>>,
    requests: PendingRequests,
    input_closed: CancellationToken,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin + Send + 'static> StdioTransport<R, W> {
    fn new(input: R, output: W, max_bytes: usize, input_closed: CancellationToken) -> Self {
        let output = AsyncRwTransport::new(tokio::io::empty(), output);
        let lines = LineReader::new(input, max_bytes);
        Self {
            lines,
            max_bytes,
            output,
            parsing: None,
            refusal: None,
            requests: PendingRequests::new(MAX_PENDING),
            input_closed,
        }
    }

    /// Notes a request or its cancellation.
    ///
    /// # Errors
    /// The request cannot be handled now.
    fn admit(&self, message: ClientJsonRpcMessage) -> Parsed {
        match &message {
            JsonRpcMessage::Request(request) => {
                let admitted = self.requests.admit(&request.id);
                admitted.map_err(|reason| Refusal::new(Some(request.id.clone()), not_admitted(reason)))?;
            }
            JsonRpcMessage::Notification(JsonRpcNotification {
                notification: ClientNotification::CancelledNotification(cancelled),
                ..
            }) => cancelled.params.request_id.iter().for_each(|id| self.requests.cancel(id)),
            _ => {}
        }
        Ok(Some(message))
    }
}

fn not_admitted(reason: NotAdmitted) -> ErrorData {
    match reason {
        NotAdmitted::TooMany => {
            let text = format!("{MAX_PENDING} requests are pending. Wait for their answers, or cancel some.");
            ErrorData::new(BUSY, text, None)
        }
        NotAdmitted::SameId => ErrorData::invalid_request("A request with this id is pending. Use another id.", None),
    }
}

impl<R: AsyncRead + Unpin + Send, W: AsyncWrite + Unpin + Send + 'static> Transport<RoleServer>
    for StdioTransport<R, W>
{
    type Error = io::Error;

    fn name() -> Cow<'static, str> {
        "stdio".into()
    }

    fn send(&mut self, message: ServerJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let answering = self.requests.sending(&message);
        let sending = self.output.send(message);
        async move {
            let sent = sending.await;
            drop(answering);
            sent
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if let Some(refusal) = &mut self.refusal {
                let sent = refusal.await;
                self.refusal = None;
                sent.ok()?;
            }
            let parsed = match &mut self.parsing {
                Some(parsing) => {
                    let parsed = parsing.await;
                    self.parsing = None;
                    parsed
                }
                None => match self.lines.next(|_| {}).await {
                    Some(Line::Complete(line)) if line.len() < LARGE_BYTES => parse(&line),
                    Some(Line::Complete(line)) => {
                        self.parsing = Some(blocking(move || parse(&line)).boxed());
                        continue;
                    }
                    Some(Line::TooLong(message)) => {
                        Err(refuse(&message, body::Error::TooLarge { max_bytes: self.max_bytes }))
                    }
                    None => {
                        self.input_closed.cancel();
                        return None;
                    }
                },
            };
            match parsed.and_then(|message| message.map_or(Ok(None), |message| self.admit(message))) {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(refusal) => {
                    let answer = ServerJsonRpcMessage::error(refusal.error, refusal.id);
                    let sending = tokio::time::timeout(REFUSAL_TIMEOUT, self.output.send(answer));
                    self.refusal = Some(sending.map(|sent| sent?).boxed());
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.close().await
    }
}

/// # Errors
/// The line is not a message that this server can read.
fn parse(line: &[u8]) -> Parsed {
    // A byte order mark may be ignored (RFC 8259, section 8.1).
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Ok(None);
    }
    body::check_extent(Extent::of(line)).map_err(|error| refuse(&UnreadableMessage::of(line), error))?;
    if let Ok(message) = serde_json::from_slice(line) {
        return Ok(Some(message));
    }
    let error = not_a_message(line, "line");
    // If the line is not JSON, not even its id can be trusted.
    let envelope = if error.code == ErrorCode::PARSE_ERROR { None } else { serde_json::from_slice(line).ok() };
    match envelope {
        // A notification is never answered (JSON-RPC 2.0, section 4.1).
        Some(Envelope { id: None, method: Some(_), .. }) => Ok(None),
        Some(Envelope { id, method: Some(_), .. }) => Err(Refusal::new(id, error)),
        // An answer with the id of one of the client's requests would end that request.
        _ => Err(Refusal::new(None, error)),
    }
}

/// Refuses a message before it is parsed.
fn refuse(message: &UnreadableMessage, error: body::Error) -> Box<Refusal> {
    let (_, _, text) = error.reason();
    Refusal::new(message.requested(), ErrorData::invalid_request(text, None))
}

/// Standard output, which reports when it is closed.
struct Output<T> {
    pipe: T,
    closed: CancellationToken,
    /// Whether only part of a message has been written.
    mid_message: Arc<AtomicBool>,
}

impl<T> Output<T> {
    fn check<V>(&self, written: Poll<io::Result<V>>) -> Poll<io::Result<V>> {
        if matches!(written, Poll::Ready(Err(_))) {
            self.closed.cancel();
        }
        written
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Output<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.pipe).poll_write(cx, bytes);
        if let Poll::Ready(Ok(count)) = written
            && let Some(last) = bytes[..count].last()
        {
            self.mid_message.store(*last != b'\n', Ordering::Relaxed);
        }
        self.check(written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.pipe).poll_flush(cx);
        self.check(flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.pipe).poll_shutdown(cx)
    }
}
