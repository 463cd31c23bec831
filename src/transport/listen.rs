//! A listener, until a signal stops it.

use std::io::Write;
use std::time::Duration;

use axum::Router;
use axum::serve::ListenerExt;
use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::stop;

/// An address that is taken, and the signal that gives it back.
pub struct Door {
    listener: TcpListener,
    signalled: BoxFuture<'static, ()>,
}

impl From<TcpListener> for Door {
    fn from(listener: TcpListener) -> Self {
        Self { listener, signalled: stop::signalled().boxed() }
    }
}

/// Takes the address; says on standard error which one, since port 0 is any free one.
///
/// # Errors
/// What the network refuses, as a sentence.
pub(super) async fn bind((host, port): (&str, u16), path: &str) -> Result<Door, String> {
    let listener = TcpListener::bind((host, port))
        .await
        .map_err(|error| format!("The server cannot listen on {host}, port {port}: {error}."))?;
    // Whoever reads the line may send a signal at once.
    let door = Door::from(listener);
    if let Ok(address) = door.listener.local_addr() {
        let _ = writeln!(std::io::stderr(), "n8n-lens listens on http://{address}{path}");
    }
    Ok(door)
}

/// Serves `router` until a signal comes; then calls may go on for `grace`, and `end` ends those that do.
///
/// # Errors
/// What the network refuses, as a sentence.
pub(super) async fn listen(
    door: Door,
    router: Router,
    grace: Duration,
    end: impl Future<Output = ()>,
) -> Result<(), String> {
    let closing = CancellationToken::new();
    // An answer is a small packet, which must not wait for the next one (Nagle).
    let listener = door.listener.tap_io(|connection| {
        let _ = connection.set_nodelay(true);
    });
    let serving = axum::serve(listener, router).with_graceful_shutdown(closing.clone().cancelled_owned());
    let stopping = async {
        door.signalled.await;
        closing.cancel();
        tokio::time::sleep(grace).await;
        end.await;
    };
    tokio::select! {
        done = serving => done.map_err(|error| error.to_string()),
        () = stopping => Ok(()),
    }
}
