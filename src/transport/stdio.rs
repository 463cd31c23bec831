//! MCP over standard input and output, whose other end can close at any moment.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use rmcp::service::ServerInitializeError;
use rmcp::{ServerHandler, ServiceExt};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_util::sync::CancellationToken;

use super::shutdown;

/// How long calls in progress have to finish after the client has closed standard input.
const CALL_GRACE: Duration = Duration::from_millis(1500);

/// How often to check whether a message is complete.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Serves a handler until the client closes standard input or output, or a signal arrives.
///
/// # Errors
/// The handshake fails, or the handler does. The message is a sentence, without anything that the client sent.
pub(super) async fn serve(server: impl ServerHandler) -> Result<(), String> {
    // Before anything is sent: the client may respond with a signal.
    let signal = shutdown::signal();
    let (input, output) = rmcp::transport::stdio_pipes();
    let (input_closed, output_closed, mid_message) =
        (CancellationToken::new(), CancellationToken::new(), Arc::<AtomicBool>::default());
    let pipes = (
        Input { pipe: input, closed: input_closed.clone() },
        Output { pipe: output, closed: output_closed.clone(), mid_message: mid_message.clone() },
    );
    let serving = async {
        let running = match server.serve(pipes).await {
            Ok(running) => running,
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(handshake_error(&error).to_owned()),
        };
        running.waiting().await.map(drop).map_err(|_| "The server stopped because of a bug in n8n-lens.".to_owned())
    };
    let drained = async {
        input_closed.cancelled().await;
        tokio::time::sleep(CALL_GRACE).await;
        // A slow reader still gets the rest of a message that it has begun to read; rmcp limits how long that takes.
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

/// The error itself quotes the message that arrived, which may hold a secret.
fn handshake_error(error: &ServerInitializeError) -> &'static str {
    match error {
        ServerInitializeError::ExpectedInitializeRequest(_) => {
            "The first message was not an initialize request. Connect an MCP client."
        }
        ServerInitializeError::InitializeFailed(_) => "The client and this server support no common version of MCP.",
        _ => "The handshake was not completed.",
    }
}

/// Standard input, which reports when it is closed.
struct Input<T> {
    pipe: T,
    closed: CancellationToken,
}

impl<T: AsyncRead + Unpin> AsyncRead for Input<T> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.pipe).poll_read(cx, buffer);
        if matches!(&read, Poll::Ready(done) if done.is_err() || buffer.filled().len() == before) {
            self.closed.cancel();
        }
        read
    }
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
