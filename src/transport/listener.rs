//! A TCP listener that serves HTTP until a signal arrives.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, Request};
use axum::http::Method;
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;
use futures::FutureExt;
use futures::future::BoxFuture;
use http_body_util::BodyExt;
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tower_service::Service;

use super::connections::{Connection, Connections, Open};
use crate::config::Access;
use crate::platform::shutdown_signal;

/// How long to wait before accepting again when the process has no file descriptor left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How often to check whether the requests in progress are done.
const DRAIN_INTERVAL: Duration = Duration::from_millis(10);

/// How long a client may continue to send after the last response of a connection.
const LINGER_TIME: Duration = Duration::from_secs(5);

/// How much the client may send then, bytes.
const LINGER_BYTES: u64 = 64 * 1024 * 1024;

/// A bound address, and the signal that ends serving it.
pub struct Listener {
    tcp: TcpListener,
    signal: BoxFuture<'static, ()>,
}

impl From<TcpListener> for Listener {
    fn from(tcp: TcpListener) -> Self {
        Self { tcp, signal: shutdown_signal().boxed() }
    }
}

impl Listener {
    /// Binds an address: port 0 picks a free port.
    ///
    /// # Errors
    /// The address is in use or not available. The message is a sentence.
    pub(super) async fn open((host, port): (&str, u16)) -> Result<Self, String> {
        let refused = |error| format!("The server cannot listen on {host}, port {port}: {error}.");
        let tcp = TcpListener::bind((host, port)).await.map_err(refused)?;
        // From here on a signal shuts down cleanly, even before serving starts.
        Ok(Self::from(tcp))
    }

    /// Binds an address, and prints its URL with `path` to standard error.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub(super) async fn bind(address: (&str, u16), path: &str) -> Result<Self, String> {
        let listener = Self::open(address).await?;
        if let Ok(address) = listener.address() {
            let _ = writeln!(std::io::stderr(), "n8n-lens listens on http://{address}{path}");
        }
        Ok(listener)
    }

    /// The address that it is bound to.
    pub(super) fn address(&self) -> io::Result<SocketAddr> {
        self.tcp.local_addr()
    }

    /// Warns on standard error that every user of this machine can use the server, if no token is required.
    pub(super) fn warn_if_open(&self, access: &Access) {
        if access.auth_token.is_none() {
            let _ = writeln!(std::io::stderr(), "n8n-lens requires no token: every user of this machine can use it");
        }
    }

    /// Serves `router` until a signal arrives. Connections without a request are then closed; requests in progress have
    /// `grace` to finish, before `cancel` ends them.
    pub(super) async fn serve(self, router: Router, grace: Duration, cancel: impl Future<Output = ()>) {
        let connections = Connections::new();
        let accepting = accept(&self.tcp, &router, &connections);
        tokio::select! {
            () = accepting => {}
            () = connections.watch() => {}
            () = self.signal => {}
        }
        drop(self.tcp);
        connections.close_waiting();
        let drained = async {
            while !connections.is_empty() {
                tokio::time::sleep(DRAIN_INTERVAL).await;
                connections.close_waiting();
            }
        };
        if tokio::time::timeout(grace, drained).await.is_err() {
            cancel.await;
            connections.close_all();
        }
    }
}

/// Accepts connections for as long as it is polled.
async fn accept(tcp: &TcpListener, router: &Router, connections: &Connections) {
    loop {
        match tcp.accept().await {
            Ok((stream, peer)) => {
                if let Some(connection) = connections.open(peer.ip()) {
                    tokio::spawn(serve_connection(stream, router.clone(), connection));
                }
            }
            // The client is already gone, or no file descriptor is left.
            Err(error) => {
                tracing::debug!("a connection was not accepted: {error}");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

async fn serve_connection(stream: TcpStream, router: Router, connection: Open) {
    // An answer is a small packet, which must not wait for the next one (Nagle).
    let _ = stream.set_nodelay(true);
    let stream = TokioIo::new(Observed { stream, connection: connection.clone() });
    let observed = connection.clone();
    let service = service_fn(move |mut request: Request<Incoming>| {
        observed.requested();
        request.extensions_mut().insert(ConnectInfo(observed.peer));
        let (mut router, responding) = (router.clone(), Responding(observed.clone()));
        async move {
            let is_get = request.method() == Method::GET;
            let response = router.call(request.map(Body::new)).await;
            if is_get && response.as_ref().is_ok_and(is_event_stream) {
                responding.0.listens();
            }
            let queue = move |frame: &Frame<Bytes>| {
                responding.0.queued(frame.data_ref().map_or(0, Bytes::len));
            };
            response.map(|response| response.map(|body| body.inspect_frame(queue)))
        }
    });
    // The connections have their own timeouts: see `connections`.
    let serving =
        http1::Builder::new().timer(TokioTimer::new()).header_read_timeout(None).serve_connection(stream, service);
    let serving = async {
        match serving.without_shutdown().await {
            Ok(parts) => linger(parts.io.into_inner().stream).await,
            Err(error) => tracing::debug!("a connection ended: {error}"),
        }
    };
    tokio::select! {
        () = serving => {}
        () = connection.closed.cancelled() => {}
    }
}

/// Closes a connection after its last response. A request can be refused before its body is read; if the connection were
/// closed while the client is still sending, the system would reset it, and the client would not see the response.
async fn linger(mut stream: TcpStream) {
    if stream.shutdown().await.is_ok() {
        let (mut rest, mut nowhere) = (stream.take(LINGER_BYTES), tokio::io::sink());
        // Whatever else the client does, the connection ends.
        let _ = tokio::time::timeout(LINGER_TIME, tokio::io::copy(&mut rest, &mut nowhere)).await;
    }
}

fn is_event_stream(response: &Response) -> bool {
    response.headers().get(CONTENT_TYPE).is_some_and(|value| value.as_bytes().starts_with(b"text/event-stream"))
}

/// A response in progress; its end makes its connection idle.
struct Responding(Arc<Connection>);

impl Drop for Responding {
    fn drop(&mut self) {
        self.0.responded();
    }
}

/// A stream that reports what its client sends and reads.
struct Observed {
    stream: TcpStream,
    connection: Arc<Connection>,
}

impl AsyncRead for Observed {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if buffer.filled().len() > before {
            self.connection.received();
        }
        read
    }
}

impl Observed {
    fn written(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        self.connection.wrote(match &written {
            Poll::Ready(done) => Some(*done.as_ref().unwrap_or(&0)),
            Poll::Pending => None,
        });
        written
    }
}

impl AsyncWrite for Observed {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.written(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.written(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // hyper flushes the stream once its own buffer is empty.
        self.connection.flushed();
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
