//! A TCP listener that serves HTTP until a signal arrives.

use std::io::Write;
use std::time::Duration;

use axum::Router;
use axum::serve::ListenerExt;
use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::shutdown;

/// A bound address, and the signal that ends serving it.
pub struct Listener {
    tcp: TcpListener,
    signal: BoxFuture<'static, ()>,
}

impl From<TcpListener> for Listener {
    fn from(tcp: TcpListener) -> Self {
        Self { tcp, signal: shutdown::signal().boxed() }
    }
}

impl Listener {
    /// Binds an address, and prints its URL with `path` to standard error: port 0 picks a free port.
    ///
    /// # Errors
    /// The address is in use or not available. The message is a sentence.
    pub(super) async fn bind((host, port): (&str, u16), path: &str) -> Result<Self, String> {
        let tcp = TcpListener::bind((host, port))
            .await
            .map_err(|error| format!("The server cannot listen on {host}, port {port}: {error}."))?;
        // Before the line is printed: its reader may send a signal at once.
        let listener = Self::from(tcp);
        if let Ok(address) = listener.tcp.local_addr() {
            let _ = writeln!(std::io::stderr(), "n8n-lens listens on http://{address}{path}");
        }
        Ok(listener)
    }

    /// Serves `router` until a signal arrives. Requests in progress then have `grace` to finish, before `cancel`
    /// ends them.
    ///
    /// # Errors
    /// Accepting connections fails. The message is a sentence.
    pub(super) async fn serve(
        self,
        router: Router,
        grace: Duration,
        cancel: impl Future<Output = ()>,
    ) -> Result<(), String> {
        let closing = CancellationToken::new();
        // An answer is a small packet, which must not wait for the next one (Nagle).
        let tcp = self.tcp.tap_io(|connection| {
            let _ = connection.set_nodelay(true);
        });
        let serving = axum::serve(tcp, router).with_graceful_shutdown(closing.clone().cancelled_owned());
        let stopping = async {
            self.signal.await;
            closing.cancel();
            tokio::time::sleep(grace).await;
            cancel.await;
        };
        tokio::select! {
            served = serving => served.map_err(|error| error.to_string()),
            () = stopping => Ok(()),
        }
    }
}
