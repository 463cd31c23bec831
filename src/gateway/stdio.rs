//! MCP over the pipes of a child: one JSON-RPC message a line.
//!
//! rmcp's own transport drops a line that is too long, or that it cannot read, and the call hangs. This one
//! answers such a call with an error, passes over what is no message at all, and leaves results unread:
//! they go to the caller as the text that came, lone surrogates and large numbers included.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, PoisonError};

use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, CustomResult, ErrorCode, ErrorData, JsonRpcMessage,
    JsonRpcNotification, RequestId, ServerJsonRpcMessage, ServerResult,
};
use rmcp::transport::Transport;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::io::AsyncWriteExt;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::lines::{Line, Lines};
use crate::json::{Cursor, Keep, Pruner};

/// The code of errors that this transport makes for the child: one that nobody uses.
pub(super) const UNREADABLE: ErrorCode = ErrorCode(i32::MIN);
/// The same, for an answer that is too large.
pub(super) const TOO_LARGE: ErrorCode = ErrorCode(i32::MIN + 1);

/// A line from here on is read while other tasks move on.
const LONG: usize = 256 * 1024;

/// Where the id of a message stands.
const ID: Keep = Keep::Members(&[("id", Keep::Whole)]);

/// Both pipes of a child.
pub(super) struct Pipes {
    lines: Lines<ChildStdout>,
    input: Arc<Input>,
    /// The request that was sent last belongs to the handshake, whose answer rmcp reads itself.
    handshake: bool,
    flow: Arc<Flow>,
}

/// What the two ends of a connection know of each other.
#[derive(Default)]
pub(super) struct Flow {
    /// Nothing comes or goes any more.
    pub(super) ended: CancellationToken,
    /// Counts what has been read, and whether a message is being read now.
    pub(super) moved: AtomicU64,
    pub(super) reading: AtomicBool,
}

struct Input {
    pipe: Mutex<ChildStdin>,
    /// Requests that the child has not been sent yet: a cancel takes them back, and nobody hears of them.
    unsent: std::sync::Mutex<HashMap<RequestId, CancellationToken>>,
    flow: Arc<Flow>,
}

/// The members of a message that tell what it is.
#[derive(Deserialize)]
struct Envelope<'a> {
    id: Option<RequestId>,
    method: Option<IgnoredAny>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<IgnoredAny>,
}

impl Pipes {
    /// `flow` tells the owner of the child how it goes.
    pub(super) fn new(stdin: ChildStdin, stdout: ChildStdout, flow: Arc<Flow>) -> Self {
        let input = Input { pipe: Mutex::new(stdin), unsent: Default::default(), flow: flow.clone() };
        Self { lines: Lines::new(stdout), input: Arc::new(input), handshake: false, flow }
    }
}

impl Transport<RoleClient> for Pipes {
    type Error = io::Error;

    fn name() -> Cow<'static, str> {
        "pipes of a child".into()
    }

    fn send(&mut self, message: ClientJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        if let JsonRpcMessage::Request(request) = &message {
            let request = &request.request;
            self.handshake = matches!(request, ClientRequest::InitializeRequest(_) | ClientRequest::DiscoverRequest(_));
        }
        let input = self.input.clone();
        let sending = input.admit(&message);
        async move {
            let Some((id, taken_back)) = sending else { return Ok(()) };
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            tokio::select! {
                () = taken_back.cancelled() => Ok(()),
                mut pipe = input.pipe.lock() => {
                    input.forget(id.as_ref());
                    input.write(&mut pipe, &line).await
                }
            }
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            let line = self.lines.next(&self.flow.moved).await;
            self.flow.reading.store(true, Relaxed);
            let message = match line {
                Some(Line::Whole(line)) if line.len() < LONG => read(&line, self.handshake),
                Some(Line::Whole(line)) => tokio::task::block_in_place(|| read(&line, self.handshake)),
                Some(Line::TooLong(pruned)) => refuse(id(&pruned), TOO_LARGE),
                None => {
                    self.flow.ended.cancel();
                    return None;
                }
            };
            self.flow.reading.store(false, Relaxed);
            if message.is_some() {
                return message;
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.flow.ended.cancel();
        Ok(())
    }
}

impl Drop for Pipes {
    fn drop(&mut self) {
        self.flow.ended.cancel();
    }
}

impl Input {
    /// Takes note of a message that is to be sent: a request by its id, and what takes it back. `None` for
    /// a cancel of a request that is still here, which is taken back instead.
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

    fn forget(&self, id: Option<&RequestId>) {
        if let Some(id) = id {
            self.unsent.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        }
    }

    /// A child that closes its input is of no use any more.
    async fn write(&self, pipe: &mut ChildStdin, line: &[u8]) -> io::Result<()> {
        let written = pipe.write_all(line).await;
        if written.is_err() {
            self.flow.ended.cancel();
        }
        written
    }
}

/// One line: a message, or `None` for what is none, such as a log line.
fn read(line: &[u8], handshake: bool) -> Option<ServerJsonRpcMessage> {
    let Ok(envelope) = serde_json::from_slice::<Envelope<'_>>(line) else {
        let mut pruner = Pruner::new(ID, 0..0);
        return refuse(pruner.feed(line).ok().and_then(|batch| id(&batch.text)), UNREADABLE);
    };
    match envelope {
        Envelope { id: Some(id), method: None, result: Some(result), error: None } if !handshake => {
            let text = Value::String(result.get().to_owned());
            Some(ServerJsonRpcMessage::response(ServerResult::CustomResult(CustomResult(text)), id))
        }
        Envelope { id, method, .. } => match serde_json::from_slice(line) {
            Ok(message) => Some(message),
            Err(_) => refuse(id.filter(|_| method.is_none()), UNREADABLE),
        },
    }
}

/// What the caller with this id gets for an answer that cannot be had.
fn refuse(id: Option<RequestId>, code: ErrorCode) -> Option<ServerJsonRpcMessage> {
    if id.is_none() {
        tracing::debug!("a server wrote a line that is no message");
    }
    Some(ServerJsonRpcMessage::error(ErrorData::new(code, "", None), Some(id?)))
}

/// The id of a message of which the rest may be pruned, or missing.
fn id(text: &[u8]) -> Option<RequestId> {
    let mut id = None;
    // What comes after the id may be anything.
    let _ = Cursor::unpruned(text).object(|json, name| match name {
        "id" => {
            let excerpt = json.excerpt(1000)?;
            let mut text = String::new();
            excerpt.write(crate::json::Detail::WHOLE, &mut text, &mut 0);
            id = serde_json::from_str(&text).ok();
            Ok(())
        }
        _ => json.skip(),
    });
    id
}
