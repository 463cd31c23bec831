//! MCP servers behind one REST API: which servers there are, how they are kept running, how a call reaches them.
//! [`Gateway`] is the entry point.
//!
//! # A call
//!
//! 1. [`Gateway::call`] parses the body. Names, size and nesting are checked before any value is built.
//! 2. The server must be configured and available, the tool must exist, and the input must match its `inputSchema`.
//! 3. The call waits for one of the server's 64 permits and is sent over its connection.
//! 4. It ends with the answer, or when the server exits, the timeout is reached or the server is stopped. Without an
//!    answer, it is cancelled at the server.
//! 5. The result is extracted from the answer and passed on as the text that the server sent.
//!
//! # The states of a server
//!
//! Each server has a supervisor, the one task that starts it, notices its exit, restarts it and publishes its state.
//! Calls and `GET /health` read that state and never wait for the supervisor.
//!
//! | state | the server | a call gets |
//! |---|---|---|
//! | `unavailable` | is starting, or restarts after a crash | `SERVER_NOT_RUNNING` with `Retry-After`, at once |
//! | `available` | has finished the handshake and listed its tools | its answer |
//! | `crashed` | failed to start, or exited 5 times within a minute | `SERVER_CRASHED`, at once |
//!
//! A server that crashed is restarted with exponential backoff. After 5 exits within a minute restarts pause for 30 s,
//! and then the next call starts it. No child outlives the gateway, nor does any process that it started: each child runs in
//! its own `group`, which ends as a unit, and with the gateway.
//!
//! # Limits
//!
//! | what | limit |
//! |---|---|
//! | body of a request | 1,048,576 bytes |
//! | input of a tool | 102,400 bytes, 10 levels |
//! | answer of a tool | 67,108,864 bytes |
//! | name of a server, of a tool | 50, 100 characters |
//! | calls in flight on one server | 64; further calls wait until their timeout |
//! | duration of a call | [`TIMEOUT`] by default; configurable from 1 ms to 24 h |
//! | requests of a server to the gateway, such as `ping` | 64 at a time; further ones are ignored |
//! | handshake, first list of tools | 10 s each |
//! | list of tools | 16 MiB, 1,000 pages |
//! | backoff before a restart | 0.25 s to 30 s |
//! | stopping a server | 10 s for calls in flight, 1.5 s after standard input is closed, on Unix 1.5 s after TERM, then KILL |
//! | applying a changed configuration | within 3 s |

mod answer;
mod answer_fault;
mod config;
mod configured_secrets;
mod connection;
mod error;
mod exit;
mod group;
mod limits;
mod metrics;
mod openapi;
mod process;
mod program;
mod remote;
mod remote_client;
mod request;
mod restart_policy;
mod server;
mod session;
mod standard_error;
mod stdio;
mod supervisor;
mod tool;
mod watch;
mod wrong_type;

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub use config::{Config, ConfigError, ServerConfig};
pub use error::{Error, StopReason};
pub use group::run_as_reaper;
pub use limits::BODY_BYTES;
pub use watch::watch;

use group::Groups;
use metrics::Metrics;
use request::Request;
use server::Server;

/// The default timeout of a call.
pub const TIMEOUT: Duration = Duration::from_secs(30);

/// Settings from the command line and the environment.
#[derive(Clone, Default)]
pub struct Settings {
    /// The timeout of a call, unless its server has its own. Takes precedence over [`Config::timeout`].
    pub timeout: Option<Duration>,
    /// Whether names and inputs are checked.
    pub checks: bool,
    /// Environment variables for the built-in servers, unless their configuration sets them.
    pub builtin_environment: BTreeMap<String, String>,
    /// Whether this process has no children other than the gateway's. It then becomes the parent of processes that servers leave
    /// behind, and ends all processes below it when it stops (Linux).
    pub owns_process: bool,
}

/// The configured servers, and the shared state of their calls.
pub struct Gateway {
    servers: RwLock<BTreeMap<String, SupervisedServer>>,
    settings: Settings,
    groups: Arc<Groups>,
    metrics: Metrics,
    started: Instant,
    shutdown: CancellationToken,
}

/// A server and the task that supervises it.
struct SupervisedServer {
    server: Arc<Server>,
    supervisor: JoinHandle<()>,
}

impl Gateway {
    /// Starts the servers, without waiting until they are available.
    pub fn start(config: &Config, settings: Settings) -> Arc<Self> {
        let gateway = Arc::new(Self {
            servers: RwLock::default(),
            settings,
            groups: Arc::default(),
            metrics: Metrics::default(),
            started: Instant::now(),
            shutdown: CancellationToken::new(),
        });
        if gateway.settings.owns_process {
            gateway.groups.adopt_orphans();
        }
        gateway.apply(config);
        gateway
    }

    /// Applies another configuration: starts and stops only the servers that changed. Calls in progress on a server that is
    /// stopped have 10 s to finish.
    pub fn apply(&self, config: &Config) {
        let mut servers = self.servers.write().unwrap_or_else(PoisonError::into_inner);
        let source = |config: &ServerConfig| config.source.clone().with_builtin(&self.settings.builtin_environment);
        servers.retain(|name, supervised| {
            let unchanged = config.servers.get(name).is_some_and(|config| source(config) == supervised.server.source);
            if !unchanged {
                supervised.server.stopping.cancel();
            }
            unchanged
        });
        let default = self.settings.timeout.or(config.timeout).unwrap_or(TIMEOUT);
        for (name, server_config) in &config.servers {
            let timeout = server_config.timeout.unwrap_or(default);
            if let Some(supervised) = servers.get_mut(name) {
                supervised.server.set_timeout(timeout);
                continue;
            }
            let server = Arc::new(Server::new(name.clone(), source(server_config), timeout, &self.shutdown));
            let supervisor = tokio::spawn(supervisor::supervise(server.clone(), self.groups.clone()));
            servers.insert(name.clone(), SupervisedServer { server, supervisor });
        }
    }

    /// Cancels all calls, in progress or new: they fail with [`Error::Stopped`]. The servers keep running until
    /// [`Gateway::stop`].
    pub fn cancel_calls(&self) {
        self.shutdown.cancel();
    }

    /// Cancels all calls, stops all servers, and waits until they have exited.
    pub async fn stop(&self) {
        self.cancel_calls();
        let servers = std::mem::take(&mut *self.servers.write().unwrap_or_else(PoisonError::into_inner));
        for supervised in servers.values() {
            supervised.server.stopping.cancel();
        }
        for supervised in servers.into_values() {
            let _ = supervised.supervisor.await;
        }
        if self.settings.owns_process {
            tokio::task::block_in_place(|| self.groups.end_all());
        }
    }

    /// Whether names and inputs are checked.
    pub fn checks(&self) -> bool {
        self.settings.checks
    }

    /// Makes the call that `body` requests, `{"server", "toolName", "input"}`. Returns the tool's result as JSON text.
    ///
    /// # Errors
    /// [`Error`] if the request is invalid, the server or the tool does not exist, the server is not available, exits or
    /// is stopped, or the tool fails or reaches its timeout.
    pub async fn call(&self, body: &[u8]) -> Result<String, Error> {
        self.run(Request::parse(body, self.settings.checks)).await
    }

    /// Calls a tool with `body` as its input. Returns the tool's result as JSON text.
    ///
    /// # Errors
    /// As for [`Gateway::call`].
    pub async fn call_tool(&self, server: &str, tool: &str, body: &[u8]) -> Result<String, Error> {
        self.run(Request::with_input(server, tool, body, self.settings.checks)).await
    }

    async fn run(&self, request: Result<Request, Error>) -> Result<String, Error> {
        let started = Instant::now();
        let Request { server, tool, input } = match request {
            Ok(request) => request,
            Err(error) => {
                self.metrics.refused(&error);
                return Err(error);
            }
        };
        let outcome = match self.server(&server) {
            Some(server) => server.call(&tool, input, self.settings.checks).await,
            None if self.shutdown.is_cancelled() => {
                Err(Error::Stopped { server: server.clone(), reason: StopReason::Shutdown })
            }
            None => Err(Error::ServerNotFound { server: server.clone() }),
        };
        self.metrics.called(&server, &tool, &outcome, started.elapsed());
        outcome
    }

    fn server(&self, name: &str) -> Option<Arc<Server>> {
        let servers = self.servers.read().unwrap_or_else(PoisonError::into_inner);
        servers.get(name).map(|supervised| supervised.server.clone())
    }

    fn servers(&self) -> Vec<Arc<Server>> {
        let servers = self.servers.read().unwrap_or_else(PoisonError::into_inner);
        servers.values().map(|supervised| supervised.server.clone()).collect()
    }

    /// The tools of all available servers, sorted by server and name: `name`, `description`, `server`, `inputSchema`.
    /// Tools whose names break the limits cannot be called and are left out.
    pub fn tools(&self) -> Vec<Value> {
        let callable = |name: &str| !self.settings.checks || limits::is_name(name, limits::TOOL_CHARS);
        let of_server = |server: Arc<Server>| {
            let tools = server.tools();
            let described = tools.values().filter(|tool| callable(&tool.name)).map(|tool| {
                json!({
                    "name": tool.name,
                    "description": tool.description,
                    "server": server.name,
                    "inputSchema": tool.input_schema,
                })
            });
            described.collect::<Vec<_>>()
        };
        self.servers().into_iter().flat_map(of_server).collect()
    }

    /// `status`, `uptime` in seconds, and `servers` by name: the status of each or, with `detail`, its figures. Never
    /// waits for a server.
    pub fn health(&self, detail: bool) -> Value {
        let servers = self.servers();
        let degraded = servers.iter().any(|server| server.status() != "available");
        let entry = |server: &Arc<Server>| match detail {
            true => (server.name.clone(), server.detail()),
            false => (server.name.clone(), server.status().into()),
        };
        let mut health = json!({
            "status": if degraded { "degraded" } else { "ok" },
            "uptime": (self.started.elapsed().as_secs_f64() * 1000.0).round() / 1000.0,
            "servers": servers.iter().map(entry).collect::<Map<_, _>>(),
        });
        if !self.settings.checks {
            health["validation"] = "disabled".into();
        }
        health
    }

    /// The `OpenAPI` document, with one operation per tool.
    pub fn openapi(&self) -> Value {
        openapi::document(&self.tools())
    }

    /// Counters and histograms, in the text format of Prometheus.
    pub fn metrics(&self) -> String {
        self.metrics.text(&self.servers())
    }
}
