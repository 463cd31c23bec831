//! One configured server: what is known of it now, and calls to it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use serde_json::{Map, Value, json};
use tokio::sync::{Notify, Semaphore, watch};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use super::answer::{self, Answer};
use super::config::Source;
use super::connection::{CallError, Connection};
use super::error::Error;
use super::exit::Exit;
use super::limits::{ANSWER_BYTES, CALLS};
use super::tool::Tools;

/// How long it may take until the end of a server is known, when a call could not be sent.
const KNOWN: Duration = Duration::from_secs(2);

/// An answer from here on is read while other tasks move on.
const LARGE: usize = 256 * 1024;

/// What a server can do for a caller now.
#[derive(Clone)]
pub(super) enum State {
    /// It starts, or waits until it may start again.
    Unavailable { again: Instant },
    /// It answers.
    Available(Arc<Running>),
    /// It fails whenever it starts. From `again` on, a call has it started once more.
    Crashed { exit: Exit, again: Instant },
}

/// A server that answers.
pub(super) struct Running {
    pub(super) connection: Arc<Connection>,
    pub(super) tools: watch::Receiver<Listed>,
    /// How it ended, once it has.
    pub(super) lost: watch::Receiver<Option<Exit>>,
}

/// The tools of a running server.
#[derive(Clone, Default)]
pub(super) struct Listed {
    pub(super) tools: Arc<Tools>,
    /// It has said that they are others now.
    pub(super) outdated: bool,
}

/// A configured server.
pub(super) struct Server {
    pub(super) name: String,
    pub(super) source: Source,
    /// ms; a reload may change it.
    timeout: AtomicU64,
    pub(super) state: watch::Sender<State>,
    since: Mutex<SystemTime>,
    calls: Semaphore,
    pub(super) history: History,
    /// Told when a call comes while the server has crashed.
    pub(super) wanted: Notify,
    /// Cancelled when the server is no longer configured.
    pub(super) stopping: CancellationToken,
    /// Cancelled when even calls under way have had their time.
    pub(super) hurried: CancellationToken,
}

/// What has happened to a server.
#[derive(Default)]
pub(super) struct History {
    pub(super) restarts: AtomicU64,
    pub(super) last_exit: Mutex<Option<Exit>>,
    pending: AtomicU64,
    served: AtomicU64,
}

impl Server {
    /// A server that its owner is about to start.
    pub(super) fn new(name: String, source: Source, timeout: Duration) -> Self {
        let server = Self {
            name,
            source,
            timeout: AtomicU64::new(0),
            state: watch::Sender::new(State::Unavailable { again: Instant::now() }),
            since: Mutex::new(SystemTime::now()),
            calls: Semaphore::new(CALLS),
            history: History::default(),
            wanted: Notify::new(),
            stopping: CancellationToken::new(),
            hurried: CancellationToken::new(),
        };
        server.set_timeout(timeout);
        server
    }

    /// How long a call may take from now on.
    pub(super) fn set_timeout(&self, timeout: Duration) {
        self.timeout.store(timeout.as_millis() as u64, Relaxed);
    }

    /// Takes what is known now.
    pub(super) fn publish(&self, state: State) {
        let status = state.status();
        if self.state.send_replace(state).status() != status {
            *self.since.lock().unwrap_or_else(PoisonError::into_inner) = SystemTime::now();
            tracing::info!(server = self.name, "{status}");
        }
    }

    /// `available`, `unavailable` or `crashed`.
    pub(super) fn status(&self) -> &'static str {
        self.state.borrow().status()
    }

    /// The tools that it has now; none while it is down.
    pub(super) fn tools(&self) -> Arc<Tools> {
        match &*self.state.borrow() {
            State::Available(running) => running.tools.borrow().tools.clone(),
            _ => Arc::default(),
        }
    }

    /// Calls under way, those that wait included.
    pub(super) fn pending(&self) -> u64 {
        self.history.pending.load(Relaxed)
    }

    /// `since` is when the status began, `lastExit` how it last ended.
    pub(super) fn detail(&self) -> Value {
        let history = &self.history;
        let last_exit = history.last_exit.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(Exit::details);
        let since = *self.since.lock().unwrap_or_else(PoisonError::into_inner);
        json!({
            "status": self.status(),
            "restarts": history.restarts.load(Relaxed),
            "lastExit": last_exit,
            "since": jiff::Timestamp::try_from(since).map(|since| since.to_string()).ok(),
            "pending": self.pending(),
            "served": history.served.load(Relaxed),
        })
    }

    /// Calls a tool; gives its result, JSON.
    ///
    /// # Errors
    /// [`Error`].
    pub(super) async fn call(&self, tool: &str, input: Map<String, Value>, checks: bool) -> Result<String, Error> {
        let _pending = Pending::new(&self.history.pending);
        let limit = Duration::from_millis(self.timeout.load(Relaxed));
        let end = Instant::now() + limit;
        let timed_out = || Error::Timeout { tool: tool.to_owned(), limit };
        self.check(tool, &input, checks, end).await?;
        let _turn = timeout_at(end, self.calls.acquire()).await.map_err(|_| timed_out())?;
        let running = self.running()?;
        let mut lost = running.lost.clone();
        let asked = tokio::select! {
            // An answer counts, even if it was the server's last word.
            biased;
            asked = running.connection.call(tool, input) => asked,
            exit = gone(&mut lost) => return Err(self.crashed(exit, true)),
            () = tokio::time::sleep_until(end) => return Err(timed_out()),
        };
        if let Err(CallError::Closed) = asked {
            return Err(self.broken_off(tool, &running, &mut lost, end).await);
        }
        self.history.served.fetch_add(1, Relaxed);
        self.answer(tool, asked)
    }

    /// What became of a call whose connection broke off: its server's owner knows in a moment whether that
    /// was the end of the server, or of this call alone.
    async fn broken_off(
        &self,
        tool: &str,
        running: &Running,
        lost: &mut watch::Receiver<Option<Exit>>,
        end: Instant,
    ) -> Error {
        tokio::select! {
            biased;
            exit = gone(lost) => return self.crashed(exit, true),
            () = running.connection.confirmed() => {}
            () = tokio::time::sleep_until(end.min(Instant::now() + KNOWN)) => {}
        }
        Error::internal(&format!("server {}, tool {tool}: the connection broke off", self.name))
    }

    /// Refuses a tool that there is not, and an input that it does not take.
    async fn check(&self, tool: &str, input: &Map<String, Value>, checks: bool, end: Instant) -> Result<(), Error> {
        let running = self.running()?;
        let mut listed = running.tools.clone();
        if !listed.borrow().tools.contains_key(tool) {
            // It may be one of those that the server has just told of.
            let told = timeout_at(end, listed.wait_for(|listed| !listed.outdated)).await;
            let died = told.is_ok_and(|told| told.is_err());
            if died {
                return Err(self.crashed(gone(&mut running.lost.clone()).await, true));
            }
        }
        let tools = listed.borrow().tools.clone();
        match tools.get(tool) {
            None => Err(Error::ToolNotFound { tool: tool.to_owned(), server: self.name.clone() }),
            Some(tool) if checks => tool.check(&Value::Object(input.clone())),
            Some(_) => Ok(()),
        }
    }

    fn running(&self) -> Result<Arc<Running>, Error> {
        match &*self.state.borrow() {
            State::Available(running) => Ok(running.clone()),
            State::Unavailable { again } => {
                let retry_after = again.saturating_duration_since(Instant::now());
                Err(Error::NotRunning { server: self.name.clone(), retry_after })
            }
            State::Crashed { exit, again } => {
                if Instant::now() >= *again {
                    self.wanted.notify_one();
                }
                Err(self.crashed(exit.clone(), false))
            }
        }
    }

    fn crashed(&self, exit: Exit, called: bool) -> Error {
        Error::Crashed { server: self.name.clone(), exit, called }
    }

    fn answer(&self, tool: &str, asked: Result<String, CallError>) -> Result<String, Error> {
        let failed = |message, jsonrpc_code| {
            Err(Error::Execution { tool: tool.to_owned(), server: self.name.clone(), message, jsonrpc_code })
        };
        let too_large = || failed(format!("The answer is larger than {ANSWER_BYTES} bytes."), None);
        let malformed =
            |why: &str| Err(Error::internal(&format!("server {}, tool {tool}: malformed answer: {why}", self.name)));
        let read = match asked {
            Ok(text) if text.len() < LARGE => answer::read(&text),
            Ok(text) => tokio::task::block_in_place(|| answer::read(&text)),
            Err(CallError::JsonRpc(code, message)) => return failed(message, Some(code)),
            Err(CallError::TooLarge) => return too_large(),
            Err(CallError::Malformed(why)) => return malformed(&why),
            Err(CallError::Closed) => return malformed("none"),
        };
        match read {
            Ok(Answer::Result(result)) => Ok(result),
            Ok(Answer::Failed(words)) if words.is_empty() => {
                failed("The tool failed, and did not say why.".to_owned(), None)
            }
            Ok(Answer::Failed(words)) => failed(words, None),
            Ok(Answer::TooLarge) => too_large(),
            Err(why) => malformed(&why),
        }
    }
}

impl State {
    fn status(&self) -> &'static str {
        match self {
            Self::Unavailable { .. } => "unavailable",
            Self::Available(_) => "available",
            Self::Crashed { .. } => "crashed",
        }
    }
}

/// Waits for the end of a server.
async fn gone(lost: &mut watch::Receiver<Option<Exit>>) -> Exit {
    match lost.wait_for(Option::is_some).await {
        Ok(exit) => exit.clone().unwrap_or_default(),
        // Its owner is gone, too: the gateway stops.
        Err(_) => Exit::because("it was stopped"),
    }
}

/// Counts a call for as long as it lives.
struct Pending<'a>(&'a AtomicU64);

impl<'a> Pending<'a> {
    fn new(count: &'a AtomicU64) -> Self {
        count.fetch_add(1, Relaxed);
        Self(count)
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}
