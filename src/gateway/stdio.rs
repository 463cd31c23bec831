//! The stdio transport: MCP over the pipes of a child, one JSON-RPC message per line.
//!
//! rmcp's own transport drops a line that is too long or cannot be parsed, and the call hangs. This one answers such
//! a call with an error, skips lines that are not messages, and does not parse results: they reach the caller as the
//! text that the server sent, lone surrogates and large numbers included.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, PoisonError};

use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, CustomResult, JsonRpcMessage, JsonRpcNotification,
    RequestId, ServerJsonRpcMessage, ServerNotification, ServerResult,
};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::answer_fault::AnswerFault;
use super::limits::{ANSWER_BYTES, BLOCKING_PARSE_BYTES, LINE_BYTES, SERVER_REQUESTS};
use crate::json_rpc::{Envelope, Line, LineReader, PendingRequests, UnreadableMessage};

/// The transport over both pipes of a child.
pub(super) struct StdioTransport {
    lines: LineReader<ChildStdout>,
    input: Arc<ChildInput>,
    /// The last request sent belongs to the handshake, whose answer rmcp has to parse itself.
    in_handshake: bool,
    pipes: Arc<PipeState>,
    requests: PendingRequests,
}

/// The state of the pipes that the transport and the session share.
#[derive(Default)]
pub(super) struct PipeState {
    /// Cancelled when nothing is sent or received any more.
    pub(super) closed: CancellationToken,
    /// Bytes read from standard output.
    pub(super) bytes_read: AtomicU64,
    /// Whether a message is being parsed now.
    pub(super) parsing: AtomicBool,
}

struct ChildInput {
    pipe: Mutex<ChildStdin>,
    /// Requests that have not been written yet. Cancelling one withdraws it, and the child never sees it.
    unsent: std::sync::Mutex<HashMap<RequestId, CancellationToken>>,
    pipes: Arc<PipeState>,
}

impl StdioTransport {
    /// A transport that reports to `pipes`.
    pub(super) fn new(stdin: ChildStdin, stdout: ChildStdout, pipes: Arc<PipeState>) -> Self {
        let input = ChildInput { pipe: Mutex::new(stdin), unsent: Default::default(), pipes: pipes.clone() };
        Self {
            lines: LineReader::new(stdout, LINE_BYTES),
            input: Arc::new(input),
            in_handshake: false,
            pipes,
            requests: PendingRequests::new(SERVER_REQUESTS),
        }
    }
}

impl Transport<RoleClient> for StdioTransport {
    type Error = io::Error;

    fn name() -> Cow<'static, str> {
        "stdio of a child".into()
    }

    fn send(&mut self, message: ClientJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        if let JsonRpcMessage::Request(request) = &message {
            let request = &request.request;
            self.in_handshake =
                matches!(request, ClientRequest::InitializeRequest(_) | ClientRequest::DiscoverRequest(_));
        }
        let input = self.input.clone();
        let admitted = input.admit(&message);
        let answering = self.requests.sending(&message);
        async move {
            let Some((id, withdrawn)) = admitted else { return Ok(()) };
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let sent = tokio::select! {
                () = withdrawn.cancelled() => Ok(()),
                mut pipe = input.pipe.lock() => {
                    input.mark_sent(id.as_ref());
                    input.write(&mut pipe, &line).await
                }
            };
            drop(answering);
            sent
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            let bytes_read = &self.pipes.bytes_read;
            let line = self.lines.next(|bytes| _ = bytes_read.fetch_add(bytes as u64, Relaxed)).await;
            self.pipes.parsing.store(true, Relaxed);
            let message = match line {
                Some(Line::Complete(line)) if line.len() < BLOCKING_PARSE_BYTES => parse(&line, self.in_handshake),
                Some(Line::Complete(line)) => tokio::task::block_in_place(|| parse(&line, self.in_handshake)),
                Some(Line::TooLong(message)) => answer(message.answered(), AnswerFault::TooLarge(ANSWER_BYTES)),
                None => {
                    self.pipes.closed.cancel();
                    return None;
                }
            };
            self.pipes.parsing.store(false, Relaxed);
            match message {
                Some(JsonRpcMessage::Request(request)) if self.requests.admit(&request.id).is_err() => {}
                Some(message) => {
                    if let JsonRpcMessage::Notification(JsonRpcNotification {
                        notification: ServerNotification::CancelledNotification(cancelled),
                        ..
                    }) = &message
                    {
                        cancelled.params.request_id.iter().for_each(|id| self.requests.cancel(id));
                    }
                    return Some(message);
                }
                None => {}
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.pipes.closed.cancel();
        Ok(())
    }
}

impl Drop for StdioTransport {
    fn drop(&mut self) {
        self.pipes.closed.cancel();
    }
}

impl ChildInput {
    /// Registers a message that is about to be sent; returns the id, if it is a request, and the token that withdraws
    /// it. `None` for the cancellation of a request that is not yet sent: that request is withdrawn instead.
    fn admit(&self, message: &ClientJsonRpcMessage) -> Option<(Option<RequestId>, CancellationToken)> {
        let mut unsent = self.unsent.lock().unwrap_or_else(PoisonError::into_inner);
        let token = CancellationToken::new();
        match message {
            JsonRpcMessage::Request(request) => {
                unsent.insert(request.id.clone(), token.clone());
                Some((Some(request.id.clone()), token))
            }
            JsonRpcMessage::Notification(JsonRpcNotification {
                notification: ClientNotification::CancelledNotification(cancel),
                ..
            }) => match cancel.params.request_id.as_ref().and_then(|id| unsent.remove(id)) {
                Some(request) => {
                    request.cancel();
                    None
                }
                None => Some((None, token)),
            },
            _ => Some((None, token)),
        }
    }

    fn mark_sent(&self, id: Option<&RequestId>) {
        if let Some(id) = id {
            self.unsent.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        }
    }

    /// A child that has closed its input is unusable, so the session ends.
    async fn write(&self, pipe: &mut ChildStdin, line: &[u8]) -> io::Result<()> {
        let written = pipe.write_all(line).await;
        if written.is_err() {
            self.pipes.closed.cancel();
        }
        written
    }
}

/// The message in a line; `None` if it is not one, such as a line of a log.
fn parse(line: &[u8], in_handshake: bool) -> Option<ServerJsonRpcMessage> {
    let Ok(envelope) = serde_json::from_slice::<Envelope<'_>>(line) else {
        return answer(UnreadableMessage::of(line).answered(), unreadable());
    };
    match envelope {
        Envelope { id: Some(id), method: None, result: Some(result), error: None, .. } if !in_handshake => {
            let text = Value::String(result.get().to_owned());
            Some(ServerJsonRpcMessage::response(ServerResult::CustomResult(CustomResult(text)), id))
        }
        Envelope { id, method, .. } => match serde_json::from_slice(line) {
            Ok(message) => Some(message),
            Err(_) => answer(id.filter(|_| method.is_none()), unreadable()),
        },
    }
}

/// The fault as the answer to the request with this id; `None` if the line had no id.
fn answer(id: Option<RequestId>, fault: AnswerFault) -> Option<ServerJsonRpcMessage> {
    if id.is_none() {
        tracing::debug!("a server wrote a line that is not a message");
    }
    Some(fault.answer(id?))
}

fn unreadable() -> AnswerFault {
    AnswerFault::Unreadable("a line that is not valid JSON-RPC".to_owned())
}
