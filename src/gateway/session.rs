//! The way to one server: how it is made, and how its end is noticed.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use tokio::time::timeout;

use super::config::{Program, Source};
use super::connection::{Connection, Era, NoConnection, Standing};
use super::exit::Exit;
use super::keeper::Keeper;
use super::pipes::{Flow, Pipes};
use super::process::Process;
use super::remote;

/// How long a handshake may take, and then the first list of tools.
pub(super) const HANDSHAKE: Duration = Duration::from_secs(10);

/// How long a process may take to end when its pipes have.
const APART: Duration = Duration::from_secs(1);

/// How long what a process wrote before it ended may be read, and how often it is looked whether it still is.
const LAST_WORDS: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(40);

/// How often a server elsewhere is asked whether it is there, how long it may take to say so, and how often
/// it may be too slow.
const PROBE: Duration = Duration::from_secs(5);
const SLOW: u32 = 6;

/// The end of a link that waits to be noticed.
pub(super) enum Link {
    Child { process: Box<Process>, flow: Arc<Flow> },
    Remote,
}

impl Link {
    /// Makes a link and shakes hands.
    ///
    /// # Errors
    /// How the server ended. The link is closed then.
    pub(super) async fn open(
        name: &str,
        source: &Source,
        era: &mut Era,
        keeper: &Arc<Keeper>,
    ) -> Result<(Self, Connection), Exit> {
        let shaking = async {
            match Self::shake(name, source, *era, keeper).await {
                Err(None) => {
                    *era = if *era == Era::Initialize { Era::Discover } else { Era::Initialize };
                    Self::shake(name, source, *era, keeper).await
                }
                shaken => shaken,
            }
        };
        match timeout(HANDSHAKE, shaking).await {
            Ok(Ok(opened)) => Ok(opened),
            Ok(Err(Some(exit))) => Err(exit),
            Ok(Err(None)) => Err(Exit::because("it refused the handshake")),
            Err(_) => Err(Exit::because("it did not finish the handshake within 10 s")),
        }
    }

    /// `Err(None)` is a refusal by a server of the other era.
    async fn shake(
        name: &str,
        source: &Source,
        era: Era,
        keeper: &Arc<Keeper>,
    ) -> Result<(Self, Connection), Option<Exit>> {
        match source {
            Source::Child(program) => Self::child(name, program, era, keeper).await,
            Source::Remote { url, headers } => {
                let transport = remote::transport(url, headers).map_err(Some)?;
                match Connection::open(transport, era).await {
                    Ok(connection) => Ok((Self::Remote, connection)),
                    Err(NoConnection::Refused) => Err(None),
                    // Why not would be told with the address, and with what came back.
                    Err(NoConnection::Failed) => Err(Some(Exit::because("it cannot be reached"))),
                }
            }
        }
    }

    async fn child(
        name: &str,
        program: &Program,
        era: Era,
        keeper: &Arc<Keeper>,
    ) -> Result<(Self, Connection), Option<Exit>> {
        let (mut process, stdin, stdout) = Process::spawn(name, program, keeper).map_err(Some)?;
        let flow = Arc::new(Flow::default());
        let pipes = Pipes::new(stdin, stdout, flow.clone());
        match Connection::open(pipes, era).await {
            Ok(connection) => Ok((Self::Child { process: Box::new(process), flow }, connection)),
            Err(NoConnection::Refused) => Err(None),
            Err(NoConnection::Failed) => {
                let exit = timeout(APART, process.ended()).await;
                Err(Some(exit.unwrap_or_else(|_| Exit::because("it answered the handshake with something else"))))
            }
        }
    }

    /// Waits until the server is gone; says how it ended. May be dropped and called again.
    pub(super) async fn ended(&mut self, connection: &Connection) -> Exit {
        match self {
            Self::Child { process, flow } => tokio::select! {
                exit = process.ended() => {
                    let _ = timeout(LAST_WORDS, last_words(flow)).await;
                    exit
                }
                () = flow.ended.cancelled() => {
                    let exit = timeout(APART, process.ended()).await;
                    exit.unwrap_or_else(|_| Exit::because("it closed its pipes"))
                }
            },
            Self::Remote => {
                let mut slow = 0;
                loop {
                    let _ = timeout(PROBE, connection.doubted()).await;
                    slow = match connection.probe(PROBE).await {
                        Standing::Answers => 0,
                        Standing::Slow if slow < SLOW => slow + 1,
                        Standing::Slow => return Exit::because("it does not answer"),
                        Standing::Gone => return Exit::because("it cannot be reached"),
                    };
                }
            }
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

/// What a process wrote before it ended is read to its end; should somebody else hold the pipe open, as
/// long as there is something to read.
async fn last_words(flow: &Flow) {
    loop {
        let moved = flow.moved.load(Relaxed);
        if timeout(LOOK, flow.ended.cancelled()).await.is_ok() {
            return;
        }
        if moved == flow.moved.load(Relaxed) && !flow.reading.load(Relaxed) {
            return;
        }
    }
}
