//! One configured server: its current state, and calls to it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use serde_json::{Map, Value, json};
use tokio::sync::{Notify, Semaphore, watch};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use super::answer::{self, Answer};
use super::config::Source;
use super::configured_secrets;
use super::connection::{CallError, Connection};
use super::error::{Error, StopReason};
use super::exit::Exit;
use super::limits::{ANSWER_BYTES, BLOCKING_PARSE_BYTES, CALLS_IN_FLIGHT};
use super::tool::Tools;
use crate::secrets::Redactor;

/// When a connection breaks off, how long a call waits to learn whether the server has exited.
const EXIT_DETECTION_TIMEOUT: Duration = Duration::from_secs(2);

/// The state of a server, which decides what happens to a call.
#[derive(Clone)]
pub(super) enum State {
    /// It is starting, or restarts at `retry_at`.
    Unavailable { retry_at: Instant },
    /// It answers calls.
    Available(Arc<Running>),
    /// It fails to start, or has exited too often. If restarts are paused, the first call after `retry_at` starts it.
    Crashed { exit: Exit, retry_at: Instant },
}

/// A server that answers calls.
pub(super) struct Running {
    pub(super) connection: Arc<Connection>,
    pub(super) tools: watch::Receiver<ToolList>,
    /// How it exited, once it has.
    pub(super) exit: watch::Receiver<Option<Exit>>,
}

/// The tools of a running server.
#[derive(Clone, Default)]
pub(super) struct ToolList {
    pub(super) tools: Arc<Tools>,
    /// Whether the server has reported a change that is not listed yet.
    pub(super) outdated: bool,
}

/// A configured server.
pub(super) struct Server {
    pub(super) name: String,
    pub(super) source: Source,
    /// Hides values that are sent only to a remote server, which may quote them in an error.
    redactor: Redactor,
    /// The timeout of a call, in milliseconds. A reload may change it.
    timeout_ms: AtomicU64,
    pub(super) state: watch::Sender<State>,
    since: Mutex<SystemTime>,
    permits: Semaphore,
    pub(super) history: History,
    /// Notified when a call requests the start of a crashed server.
    pub(super) start_requested: Notify,
    /// Cancelled when the server is removed from the configuration.
    pub(super) stopping: CancellationToken,
    /// Cancels calls in flight; also cancelled by `shutdown`.
    pub(super) cancelled: CancellationToken,
    /// Cancelled when the whole gateway cancels its calls in order to shut down.
    shutdown: CancellationToken,
}

/// Figures of a server since the gateway started.
#[derive(Default)]
pub(super) struct History {
    pub(super) restarts: AtomicU64,
    pub(super) last_exit: Mutex<Option<Exit>>,
    pending: AtomicU64,
    served: AtomicU64,
}

impl Server {
    /// A server that its supervisor has not started yet.
    pub(super) fn new(name: String, source: Source, timeout: Duration, shutdown: &CancellationToken) -> Self {
        let redactor = match &source {
            Source::Remote { url, headers } => configured_secrets::of_remote(url, headers),
            Source::Child(_) => Redactor::new(None),
        };
        let server = Self {
            name,
            source,
            redactor,
            timeout_ms: AtomicU64::new(0),
            state: watch::Sender::new(State::Unavailable { retry_at: Instant::now() }),
            since: Mutex::new(SystemTime::now()),
            permits: Semaphore::new(CALLS_IN_FLIGHT),
            history: History::default(),
            start_requested: Notify::new(),
            stopping: CancellationToken::new(),
            cancelled: shutdown.child_token(),
            shutdown: shutdown.clone(),
        };
        server.set_timeout(timeout);
        server
    }

    /// Sets the timeout of calls that begin from now on.
    pub(super) fn set_timeout(&self, timeout: Duration) {
        self.timeout_ms.store(timeout.as_millis() as u64, Relaxed);
    }

    /// Publishes a new state.
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

    /// The tools that it has now; none unless it is available.
    pub(super) fn tools(&self) -> Arc<Tools> {
        match &*self.state.borrow() {
            State::Available(running) => running.tools.borrow().tools.clone(),
            _ => Arc::default(),
        }
    }

    /// Calls in progress, including calls that wait for a permit.
    pub(super) fn pending(&self) -> u64 {
        self.history.pending.load(Relaxed)
    }

    /// `status`, `restarts`, `lastExit`, `since` (when the status began, RFC 3339), `pending` and `served` (calls).
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

    /// Calls a tool; returns its result as JSON.
    ///
    /// # Errors
    /// [`Error`] if the server is not available or exits, the tool does not exist, its input is invalid, it fails or
    /// times out, or the server is stopped during the call.
    pub(super) async fn call(&self, tool: &str, input: Map<String, Value>, checks: bool) -> Result<String, Error> {
        let _pending = Pending::new(&self.history.pending);
        tokio::select! {
            // A server that is being stopped may fail the call in some other way at the same time.
            biased;
            () = self.cancelled.cancelled() => Err(self.stopped()),
            called = self.call_until_timeout(tool, input, checks) => called,
        }
    }

    async fn call_until_timeout(&self, tool: &str, input: Map<String, Value>, checks: bool) -> Result<String, Error> {
        let limit = Duration::from_millis(self.timeout_ms.load(Relaxed));
        let end = Instant::now() + limit;
        let timed_out = || Error::Timeout { tool: tool.to_owned(), limit };
        self.check(tool, &input, checks, end).await?;
        let _permit = timeout_at(end, self.permits.acquire()).await.map_err(|_| timed_out())?;
        let running = self.running()?;
        let mut exit = running.exit.clone();
        let called = tokio::select! {
            // An answer counts even if the server exited right after it.
            biased;
            called = running.connection.call(tool, input) => called,
            exit = wait_for_exit(&mut exit) => return Err(self.crashed(exit, true)),
            () = tokio::time::sleep_until(end) => return Err(timed_out()),
        };
        if let Err(CallError::Closed) = called {
            return Err(self.connection_lost(tool, &running, &mut exit, end).await);
        }
        self.history.served.fetch_add(1, Relaxed);
        self.answer(tool, called)
    }

    /// The error for a call whose connection broke off: the session soon finds out whether the server has exited, or
    /// only this call is lost.
    async fn connection_lost(
        &self,
        tool: &str,
        running: &Running,
        exit: &mut watch::Receiver<Option<Exit>>,
        end: Instant,
    ) -> Error {
        tokio::select! {
            biased;
            exit = wait_for_exit(exit) => return self.crashed(exit, true),
            () = running.connection.probe_succeeded() => {}
            () = tokio::time::sleep_until(end.min(Instant::now() + EXIT_DETECTION_TIMEOUT)) => {}
        }
        Error::internal(&format!("server {}, tool {tool}: the connection broke off", self.name))
    }

    /// Checks that the tool exists, and, with `checks`, that its schema accepts the input.
    async fn check(&self, tool: &str, input: &Map<String, Value>, checks: bool, end: Instant) -> Result<(), Error> {
        let running = self.running()?;
        let mut list = running.tools.clone();
        if !list.borrow().tools.contains_key(tool) {
            // The server may have reported a change that is still being listed.
            let updated = timeout_at(end, list.wait_for(|list| !list.outdated)).await;
            let exited = updated.is_ok_and(|list| list.is_err());
            if exited {
                return Err(self.crashed(wait_for_exit(&mut running.exit.clone()).await, false));
            }
        }
        let tools = list.borrow().tools.clone();
        match tools.get(tool) {
            None => Err(Error::ToolNotFound { tool: tool.to_owned(), server: self.name.clone() }),
            Some(tool) if checks => tool.check(&Value::Object(input.clone())),
            Some(_) => Ok(()),
        }
    }

    fn running(&self) -> Result<Arc<Running>, Error> {
        match &*self.state.borrow() {
            State::Available(running) => Ok(running.clone()),
            State::Unavailable { retry_at } => {
                let retry_after = retry_at.saturating_duration_since(Instant::now());
                Err(Error::NotRunning { server: self.name.clone(), retry_after })
            }
            State::Crashed { exit, retry_at } => {
                if Instant::now() >= *retry_at {
                    self.start_requested.notify_one();
                }
                Err(self.crashed(exit.clone(), false))
            }
        }
    }

    fn crashed(&self, exit: Exit, during_call: bool) -> Error {
        Error::Crashed { server: self.name.clone(), exit, during_call }
    }

    fn stopped(&self) -> Error {
        let reason = match self.shutdown.is_cancelled() {
            true => StopReason::Shutdown,
            false => StopReason::Reconfigured,
        };
        Error::Stopped { server: self.name.clone(), reason }
    }

    fn answer(&self, tool: &str, called: Result<String, CallError>) -> Result<String, Error> {
        let failed = |message: String, jsonrpc_code| {
            let message = self.redactor.redact(&message);
            Err(Error::Execution { tool: tool.to_owned(), server: self.name.clone(), message, jsonrpc_code })
        };
        let too_large = |bytes| failed(format!("The answer is larger than {bytes} bytes."), None);
        let malformed =
            |why: &str| Err(Error::internal(&format!("server {}, tool {tool}: malformed answer: {why}", self.name)));
        let answer = match called {
            Ok(text) if text.len() < BLOCKING_PARSE_BYTES => answer::parse(&text),
            Ok(text) => tokio::task::block_in_place(|| answer::parse(&text)),
            Err(CallError::JsonRpc(code, message)) => return failed(message, Some(code)),
            Err(CallError::TooLarge(bytes)) => return too_large(bytes),
            Err(CallError::Malformed(why)) => return malformed(&why),
            Err(CallError::Closed) => return malformed("none"),
        };
        match answer {
            Ok(Answer::Result(result)) => Ok(result),
            Ok(Answer::Failed(message)) if message.is_empty() => {
                failed("The tool failed without an error message.".to_owned(), None)
            }
            Ok(Answer::Failed(message)) => failed(message, None),
            Ok(Answer::TooLarge) => too_large(ANSWER_BYTES),
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

/// Waits until a server exits.
async fn wait_for_exit(exit: &mut watch::Receiver<Option<Exit>>) -> Exit {
    match exit.wait_for(Option::is_some).await {
        Ok(exit) => exit.clone().unwrap_or_default(),
        // Its supervisor stopped it.
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
