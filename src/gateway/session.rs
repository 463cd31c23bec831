//! A session with one server: how it is opened, how its end is detected, how it is closed.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use tokio::time::timeout;

use super::config::Source;
use super::connection::{ConnectError, Connection, Handshake, Liveness};
use super::exit::Exit;
use super::group::Groups;
use super::process::Process;
use super::program::Program;
use super::remote;
use super::stdio::{PipeState, StdioTransport};

/// The limit for the handshake, and again for the first list of tools.
pub(super) const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a process has to exit once its pipes are closed.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);

/// How long the last output of a process that has exited is read, and how often the pipe is checked for progress.
const LAST_OUTPUT_TIMEOUT: Duration = Duration::from_secs(10);
const PROGRESS_INTERVAL: Duration = Duration::from_millis(40);

/// How often a remote server is probed, how long it has to answer, and how many slow probes in a row it may have.
const PROBE_INTERVAL: Duration = Duration::from_secs(5);
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);
const MAX_SLOW_PROBES: u32 = 6;

/// The layer below a connection.
pub(super) enum Session {
    Child { process: Box<Process>, pipes: Arc<PipeState> },
    Remote,
}

impl Session {
    /// Starts or reaches the server and performs the handshake. If the server rejects it, tries the other kind,
    /// and remembers in `handshake` which one it accepts.
    ///
    /// # Errors
    /// The program cannot be started, the server cannot be reached or exits, or it has not finished the handshake
    /// within 10 s. In that case no part of the session remains.
    pub(super) async fn open(
        name: &str,
        source: &Source,
        handshake: &mut Handshake,
        groups: &Arc<Groups>,
    ) -> Result<(Self, Connection), Exit> {
        let opening = async {
            match Self::open_with(name, source, *handshake, groups).await {
                Err(OpenError::Rejected) => {
                    let opened = Self::open_with(name, source, handshake.other(), groups).await;
                    if opened.is_ok() {
                        *handshake = handshake.other();
                    }
                    opened
                }
                opened => opened,
            }
        };
        match timeout(HANDSHAKE_TIMEOUT, opening).await {
            Ok(Ok(opened)) => Ok(opened),
            Ok(Err(OpenError::Exited(exit))) => Err(exit),
            Ok(Err(OpenError::Rejected)) => Err(Exit::because("it rejected the handshake")),
            Err(_) => Err(Exit::because("it did not finish the handshake within 10 s")),
        }
    }

    async fn open_with(
        name: &str,
        source: &Source,
        handshake: Handshake,
        groups: &Arc<Groups>,
    ) -> Result<(Self, Connection), OpenError> {
        match source {
            Source::Child(program) => Self::open_child(name, program, handshake, groups).await,
            Source::Remote { url, headers } => {
                let transport = remote::transport(url, headers).map_err(OpenError::Exited)?;
                match Connection::open(transport, handshake).await {
                    Ok(connection) => Ok((Self::Remote, connection)),
                    Err(ConnectError::Rejected) => Err(OpenError::Rejected),
                    // The cause would quote the address, and what the server sent.
                    Err(ConnectError::Failed) => Err(OpenError::Exited(Exit::because("it cannot be reached"))),
                }
            }
        }
    }

    async fn open_child(
        name: &str,
        program: &Program,
        handshake: Handshake,
        groups: &Arc<Groups>,
    ) -> Result<(Self, Connection), OpenError> {
        let (mut process, stdin, stdout) = Process::spawn(name, program, groups).map_err(OpenError::Exited)?;
        let pipes = Arc::new(PipeState::default());
        let transport = StdioTransport::new(stdin, stdout, pipes.clone());
        match Connection::open(transport, handshake).await {
            Ok(connection) => Ok((Self::Child { process: Box::new(process), pipes }, connection)),
            Err(ConnectError::Rejected) => Err(OpenError::Rejected),
            Err(ConnectError::Failed) => {
                let exit = timeout(EXIT_TIMEOUT, process.exited()).await;
                Err(OpenError::Exited(exit.unwrap_or_else(|_| Exit::because("its answer to the handshake is invalid"))))
            }
        }
    }

    /// Waits until the server is gone; returns how it exited. Cancel-safe.
    pub(super) async fn ended(&mut self, connection: &Connection) -> Exit {
        match self {
            Self::Child { process, pipes } => tokio::select! {
                exit = process.exited() => {
                    let _ = timeout(LAST_OUTPUT_TIMEOUT, last_output(pipes)).await;
                    exit
                }
                () = pipes.closed.cancelled() => {
                    let exit = timeout(EXIT_TIMEOUT, process.exited()).await;
                    exit.unwrap_or_else(|_| Exit::because("it closed its pipes"))
                }
            },
            Self::Remote => {
                let mut slow_probes = 0;
                loop {
                    let _ = timeout(PROBE_INTERVAL, connection.request_failed()).await;
                    slow_probes = match connection.probe(PROBE_TIMEOUT).await {
                        Liveness::Alive => 0,
                        Liveness::Slow if slow_probes < MAX_SLOW_PROBES => slow_probes + 1,
                        Liveness::Slow => return Exit::because("it does not answer"),
                        Liveness::Gone => return Exit::because("it cannot be reached"),
                    };
                }
            }
        }
    }

    /// Closes the connection, then stops the process.
    pub(super) async fn close(self, connection: Arc<Connection>) {
        connection.close();
        drop(connection);
        if let Self::Child { process, .. } = self {
            process.stop().await;
        }
    }
}

/// Why no session was opened.
enum OpenError {
    /// The server rejected this kind of handshake.
    Rejected,
    Exited(Exit),
}

/// Waits until the last output of a process that has exited is read. If another process holds the pipe open, waits
/// only as long as there is something to read.
async fn last_output(pipes: &PipeState) {
    loop {
        let bytes_read = pipes.bytes_read.load(Relaxed);
        if timeout(PROGRESS_INTERVAL, pipes.closed.cancelled()).await.is_ok() {
            return;
        }
        if bytes_read == pipes.bytes_read.load(Relaxed) && !pipes.parsing.load(Relaxed) {
            return;
        }
    }
}
