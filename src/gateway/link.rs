//! The way to one server: how it is made, and how its end is noticed.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::config::{Program, Source};
use super::connection::{Connection, Era, NoConnection};
use super::exit::Exit;
use super::keeper::Keeper;
use super::pipes::Pipes;
use super::process::Process;

/// How long a handshake may take, and then the first list of tools.
pub(super) const HANDSHAKE: Duration = Duration::from_secs(10);

/// How long a process may take to end after its pipes have, and its pipes after the process.
const APART: Duration = Duration::from_millis(50);

/// How often a server elsewhere is asked whether it is there, and how long it may take to say so.
const PROBE: Duration = Duration::from_secs(5);

/// The end of a link that waits to be noticed.
pub(super) enum Link {
    Child { process: Box<Process>, ended: CancellationToken },
    Remote,
}

impl Link {
    /// Makes a link and shakes hands.
    ///
    /// # Errors
    /// How the server ended. The link is closed then.
    pub(super) async fn open(source: &Source, era: &mut Era, keeper: &Arc<Keeper>) -> Result<(Self, Connection), Exit> {
        let opened = match timeout(HANDSHAKE, Self::shake(source, *era, keeper)).await {
            Ok(Err(None)) => {
                *era = if *era == Era::Initialize { Era::Discover } else { Era::Initialize };
                timeout(HANDSHAKE, Self::shake(source, *era, keeper)).await
            }
            opened => opened,
        };
        match opened {
            Ok(Ok(opened)) => Ok(opened),
            Ok(Err(Some(exit))) => Err(exit),
            Ok(Err(None)) => Err(Exit::because("it refused the handshake")),
            Err(_) => Err(Exit::because("it did not finish the handshake within 10 s")),
        }
    }

    /// `Err(None)` is a refusal by a server of the other era.
    async fn shake(source: &Source, era: Era, keeper: &Arc<Keeper>) -> Result<(Self, Connection), Option<Exit>> {
        match source {
            Source::Child(program) => Self::child(program, era, keeper).await,
            Source::Remote { url, headers } => {
                let transport = remote(url, headers).map_err(Some)?;
                match Connection::open(transport, era).await {
                    Ok(connection) => Ok((Self::Remote, connection)),
                    Err(NoConnection::Refused) => Err(None),
                    Err(NoConnection::Failed(why)) => {
                        tracing::debug!("a remote server cannot be reached: {why}");
                        Err(Some(Exit::because("it cannot be reached")))
                    }
                }
            }
        }
    }

    async fn child(program: &Program, era: Era, keeper: &Arc<Keeper>) -> Result<(Self, Connection), Option<Exit>> {
        let (mut process, stdin, stdout) = Process::spawn(program, keeper).map_err(Some)?;
        let ended = CancellationToken::new();
        let pipes = Pipes::new(stdin, stdout, ended.clone());
        match Connection::open(pipes, era).await {
            Ok(connection) => Ok((Self::Child { process: Box::new(process), ended }, connection)),
            Err(NoConnection::Refused) => Err(None),
            Err(NoConnection::Failed(why)) => {
                tracing::debug!("no handshake: {why}");
                let exit = match timeout(APART, process.ended()).await {
                    Ok(exit) => exit,
                    Err(_) => process.kill().await.since("it answered the handshake with something else"),
                };
                log_tail(&process);
                Err(Some(exit))
            }
        }
    }

    /// Waits until the server is gone; says how it ended. May be dropped and called again.
    pub(super) async fn ended(&mut self, connection: &Connection) -> Exit {
        match self {
            Self::Child { process, ended } => {
                let exit = tokio::select! {
                    exit = process.ended() => exit,
                    () = ended.cancelled() => match timeout(APART, process.ended()).await {
                        Ok(exit) => exit,
                        Err(_) => process.kill().await.since("it closed its pipes, or left its input unread"),
                    },
                };
                // What it wrote before it ended is still read.
                let _ = timeout(APART, ended.cancelled()).await;
                log_tail(process);
                exit
            }
            Self::Remote => loop {
                tokio::time::sleep(PROBE).await;
                if !connection.answers(PROBE).await {
                    return Exit::because("it does not answer");
                }
            },
        }
    }

    /// Ends the link in good order.
    pub(super) async fn stop(self, connection: Arc<Connection>) -> Exit {
        connection.close();
        drop(connection);
        match self {
            Self::Child { process, .. } => process.stop().await,
            Self::Remote => Exit::default(),
        }
    }
}

fn log_tail(process: &Process) {
    let tail = process.tail();
    if !tail.is_empty() {
        tracing::warn!("the end of its standard error:\n{tail}");
    }
}

fn remote(
    url: &str,
    headers: &std::collections::BTreeMap<String, String>,
) -> Result<StreamableHttpClientTransport<reqwest::Client>, Exit> {
    // Somebody else may have installed a provider; then that one is used.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().tcp_nodelay(true).build();
    let client = client.map_err(|_| Exit::because("no HTTP client could be made"))?;
    let mut custom = std::collections::HashMap::new();
    for (name, value) in headers {
        let name = HeaderName::from_str(name).map_err(|_| Exit::because("a header's name is not valid"))?;
        let mut value = HeaderValue::from_str(value).map_err(|_| Exit::because("a header's value is not valid"))?;
        value.set_sensitive(true);
        custom.insert(name, value);
    }
    let config = StreamableHttpClientTransportConfig::with_uri(url)
        .custom_headers(custom)
        .max_sse_event_size(super::lines::LINE_BYTES);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}
