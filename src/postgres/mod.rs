//! A client of PostgreSQL for threads: each login and each reply has a deadline and a size limit, and each wait for a
//! reply can be cancelled. A server that is silent, or announces a message of 2 GB, costs no more than these limits.
//!
//! The futures are those of tokio-postgres; a [`Waiter`] runs them, and their connection, on a runtime of its own.

mod connector;
mod guard;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustls::ClientConfig;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tokio_postgres::config::{SslMode, SslNegotiation};
use tokio_postgres::{Client, Config};
use tokio_postgres_rustls::MakeRustlsConnect;
use tokio_util::sync::CancellationToken;

use self::connector::{Encrypted, Plain};
use self::guard::TooLarge;
use crate::cause::innermost;

/// How long a login may take for each host, unless the URL says otherwise.
const LOGIN_TIMEOUT: Duration = Duration::from_secs(5);

/// How long closing the connection may take.
const FAREWELL: Duration = Duration::from_millis(100);

/// How long we wait for a server, and how much we accept from it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// How long a login to a host may take, even if the URL allows more.
    pub login: Duration,
    /// How long it may take until a reply, or the next row of it, is complete.
    pub reply: Duration,
    /// The largest message, bytes. All messages of a reply that are not rows may take as much together.
    pub message_bytes: u64,
    /// What all rows of a reply may take together, bytes.
    pub row_bytes: u64,
}

/// Why there is no reply.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The caller is gone.
    #[error("the call was cancelled")]
    Cancelled,
    /// The deadline has passed; how long we waited for the server.
    #[error("it did not answer within {} s", .0.as_secs())]
    Silent(Duration),
    /// The server sends more than the limits allow.
    #[error("it sends more than was asked for")]
    TooLarge,
    /// The socket cannot be opened.
    #[error("{0}")]
    Io(std::io::Error),
    /// The server reports an error, or the connection broke.
    #[error("{0}")]
    Server(tokio_postgres::Error),
}

/// Runs a connection while one of its replies is waited for. It must be dropped after the client.
pub(crate) struct Waiter {
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
    limits: Limits,
    cancel: CancellationToken,
    end: End,
    /// Ends after the client was dropped.
    connection: Option<JoinHandle<()>>,
}

/// Why a connection ended: its client only says that it is closed.
type End = Arc<Mutex<Option<tokio_postgres::Error>>>;

/// Logs in to the first host that answers, encrypted if `tls` is given. `cancel` ends each wait.
///
/// # Errors
/// No server answers in time, it does not encrypt as wanted, or it refuses the user.
pub(crate) fn connect(
    config: &Config,
    tls: Option<ClientConfig>,
    limits: Limits,
    cancel: CancellationToken,
) -> Result<(Client, Waiter), Error> {
    let runtime = Builder::new_current_thread().enable_all().build().map_err(Error::Io)?;
    let mut waiter = Waiter { runtime: Some(runtime), limits, cancel, end: End::default(), connection: None };
    let hosts = u32::try_from(config.get_hosts().len()).unwrap_or(u32::MAX).max(1);
    let each = config.get_connect_timeout().map_or(LOGIN_TIMEOUT, |timeout| *timeout).min(limits.login);
    let log_in = log_in(config, tls, limits, Arc::clone(&waiter.end));
    let (client, connection) = waiter.run(each.saturating_mul(hosts), log_in)?;
    waiter.connection = Some(connection);
    Ok((client, waiter))
}

/// Logs in, and leaves the connection to the runtime.
async fn log_in(
    config: &Config,
    tls: Option<ClientConfig>,
    limits: Limits,
    end: End,
) -> Result<(Client, JoinHandle<()>), Error> {
    #[cfg(unix)]
    if tls.is_none()
        && let Some(tokio_postgres::config::Host::Unix(folder)) = config.get_hosts().first()
    {
        let port = config.get_ports().first().map_or(5432, |port| *port);
        let socket = tokio::net::UnixStream::connect(folder.join(format!(".s.PGSQL.{port}"))).await;
        let socket = guard::Guarded::plain(socket.map_err(Error::Io)?, limits);
        let mut config = config.clone();
        let plain = config.ssl_mode(SslMode::Disable).connect_raw(socket, tokio_postgres::NoTls).await;
        let (client, connection) = plain?;
        return Ok((client, watch(connection, end)));
    }
    let mut config = config.clone();
    config.ssl_mode(SslMode::Require);
    match tls {
        Some(tls) => {
            let encrypted = config.connect(Encrypted { tls: MakeRustlsConnect::new(tls), limits }).await;
            let (client, connection) = encrypted?;
            Ok((client, watch(connection, end)))
        }
        None => {
            // The one place where tokio-postgres lets its stream be wrapped is the one for TLS. `Direct` goes there without
            // asking the server whether it encrypts.
            config.ssl_negotiation(SslNegotiation::Direct);
            let (client, connection) = config.connect(Plain { limits }).await?;
            Ok((client, watch(connection, end)))
        }
    }
}

/// Runs a connection until its client is dropped or it breaks.
fn watch<C>(connection: C, end: End) -> JoinHandle<()>
where
    C: Future<Output = Result<(), tokio_postgres::Error>> + Send + 'static,
{
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            *end.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        }
    })
}

impl From<tokio_postgres::Error> for Error {
    fn from(error: tokio_postgres::Error) -> Self {
        // An error of the guard is returned as itself.
        if innermost(&error).is::<TooLarge>() { Self::TooLarge } else { Self::Server(error) }
    }
}

impl Waiter {
    /// Waits for a reply.
    ///
    /// # Errors
    /// See [`Error`].
    pub(crate) fn wait<T>(&self, reply: impl Future<Output = Result<T, tokio_postgres::Error>>) -> Result<T, Error> {
        self.run(self.limits.reply, async { Ok(reply.await?) }).map_err(|error| self.with_cause(error))
    }

    /// Runs something that needs several replies, for this long.
    ///
    /// # Errors
    /// See [`Error`].
    pub(crate) fn run<T>(&self, limit: Duration, work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        let Some(runtime) = &self.runtime else { return Err(Error::Cancelled) };
        runtime.block_on(async {
            tokio::select! {
                biased;
                () = self.cancel.cancelled() => Err(Error::Cancelled),
                done = tokio::time::timeout(limit, work) => done.unwrap_or(Err(Error::Silent(limit))),
            }
        })
    }

    /// Replaces the error of a closed connection with its cause.
    fn with_cause(&self, error: Error) -> Error {
        match error {
            Error::Server(error) if error.is_closed() => {
                let end = self.end.lock().unwrap_or_else(PoisonError::into_inner).take();
                end.unwrap_or(error).into()
            }
            error => error,
        }
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        if let Some(connection) = self.connection.take() {
            // PostgreSQL logs clients that leave without closing the connection.
            let _ = runtime.block_on(async { tokio::time::timeout(FAREWELL, connection).await });
        }
        // The socket is closed now. Otherwise a pending look-up of a name would be waited for.
        runtime.shutdown_background();
    }
}
