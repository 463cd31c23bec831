//! MCP over the pipes of a child: one JSON-RPC message a line.
//!
//! rmcp's own transport drops a line that is too long, or that it cannot read, and the call hangs. This one
//! answers such a call with an error, passes over what is no message at all, and leaves results unread:
//! they go to the caller as the text that came, lone surrogates and large numbers included.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, CustomResult, ErrorCode, ErrorData, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage, ServerResult,
};
use rmcp::transport::Transport;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::io::AsyncWriteExt;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{Mutex, Semaphore};
use tokio_util::sync::CancellationToken;

use super::lines::{Line, Lines};
use crate::json::{Cursor, Keep, Pruner};

/// The code of errors that this transport makes for the child: one that nobody uses.
pub(super) const UNREADABLE: ErrorCode = ErrorCode(i32::MIN);
/// The same, for an answer that is too large.
pub(super) const TOO_LARGE: ErrorCode = ErrorCode(i32::MIN + 1);

/// A child that leaves so many messages unread has hung.
const UNREAD: usize = 256;

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
    ended: CancellationToken,
}

struct Input {
    pipe: Mutex<ChildStdin>,
    waiting: Semaphore,
    ended: CancellationToken,
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
    /// `ended` is cancelled when nothing comes or goes any more.
    pub(super) fn new(stdin: ChildStdin, stdout: ChildStdout, ended: CancellationToken) -> Self {
        let input = Input { pipe: Mutex::new(stdin), waiting: Semaphore::new(UNREAD), ended: ended.clone() };
        Self { lines: Lines::new(stdout), input: Arc::new(input), handshake: false, ended }
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
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            input.write(&line).await
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            let message = match self.lines.next().await {
                Some(Line::Whole(line)) if line.len() < LONG => read(&line, self.handshake),
                Some(Line::Whole(line)) => tokio::task::block_in_place(|| read(&line, self.handshake)),
                Some(Line::TooLong(pruned)) => refuse(id(&pruned), TOO_LARGE),
                None => {
                    self.ended.cancel();
                    return None;
                }
            };
            if message.is_some() {
                return message;
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.ended.cancel();
        Ok(())
    }
}

impl Drop for Pipes {
    fn drop(&mut self) {
        self.ended.cancel();
    }
}

impl Input {
    async fn write(&self, line: &[u8]) -> io::Result<()> {
        let Ok(_waiting) = self.waiting.try_acquire() else {
            self.ended.cancel();
            return Err(io::Error::other("the server does not read what it is sent"));
        };
        let mut pipe = self.pipe.lock().await;
        pipe.write_all(line).await?;
        pipe.flush().await
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
