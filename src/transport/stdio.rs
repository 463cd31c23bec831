//! Standard input and output: who is at the other end may go away at any moment.

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

use super::stop;

/// How long calls that are under way may go on when nobody asks any more: what is nearly done is still said.
const LAST_ANSWERS: Duration = Duration::from_millis(1500);

/// How often it is looked whether a message is out.
const LOOK: Duration = Duration::from_millis(20);

/// Serves a handler until the client closes its side, nobody hears us any more, or a signal comes.
///
/// # Errors
/// What the protocol or the pipes refuse, as a sentence without what was sent.
pub(super) async fn serve(server: impl ServerHandler) -> Result<(), String> {
    // Before anything is said: a signal may be the answer.
    let signalled = stop::signalled();
    let (input, output) = rmcp::transport::stdio_pipes();
    let (closed, unheard, midway) = (CancellationToken::new(), CancellationToken::new(), Arc::<AtomicBool>::default());
    let pipes = (
        Input { pipe: input, closed: closed.clone() },
        Output { pipe: output, unheard: unheard.clone(), midway: midway.clone() },
    );
    let serving = async {
        let running = match server.serve(pipes).await {
            Ok(running) => running,
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(why_not_begun(&error).to_owned()),
        };
        running.waiting().await.map(drop).map_err(|_| "The server stopped by a fault of its own.".to_owned())
    };
    let closed = async {
        closed.cancelled().await;
        tokio::time::sleep(LAST_ANSWERS).await;
        // A slow reader gets the message whole that it has begun to read; rmcp sees to an end of that.
        while midway.load(Ordering::Relaxed) {
            tokio::time::sleep(LOOK).await;
        }
    };
    tokio::select! {
        done = serving => done,
        () = closed => Ok(()),
        () = unheard.cancelled() => Ok(()),
        () = signalled => Ok(()),
    }
}

/// The error itself holds the message that came, which may hold a secret.
fn why_not_begun(error: &ServerInitializeError) -> &'static str {
    match error {
        ServerInitializeError::ExpectedInitializeRequest(_) => {
            "The first message was no initialize request. Is an MCP client at the other end?"
        }
        ServerInitializeError::InitializeFailed(_) => "The client and this server have no version of MCP in common.",
        _ => "The handshake did not come to its end.",
    }
}

/// Standard input, and whether it is closed.
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

/// Standard output, and whether nobody reads it any more.
struct Output<T> {
    pipe: T,
    unheard: CancellationToken,
    /// Whether a message has begun that has not ended.
    midway: Arc<AtomicBool>,
}

impl<T> Output<T> {
    fn look<V>(&self, written: Poll<io::Result<V>>) -> Poll<io::Result<V>> {
        if matches!(written, Poll::Ready(Err(_))) {
            self.unheard.cancel();
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
            self.midway.store(*last != b'\n', Ordering::Relaxed);
        }
        self.look(written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.pipe).poll_flush(cx);
        self.look(flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.pipe).poll_shutdown(cx)
    }
}
