//! MCP servers of others behind one face: configured, supervised, called.
//!
//! [`Gateway`] is the table of servers. Each has one owner task, which alone starts its process, sees its end and
//! starts it again, and publishes what is known; calls read that and never wait for it. A result goes through as
//! the text that came.

mod answer;
mod config;
mod connection;
mod crashes;
mod error;
mod exit;
pub mod keeper;
mod limits;
mod lines;
mod link;
mod metrics;
mod openapi;
mod owner;
mod pipes;
mod process;
mod remote;
mod request;
mod server;
mod tool;
mod watch;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::task::JoinHandle;
use tokio::time::Instant;

pub use config::{Config, ConfigError, ServerConfig};
pub use error::Error;
pub use limits::BODY_BYTES;
pub use watch::watch;

use keeper::Keeper;
use metrics::Metrics;
use request::Request;
use server::Server;

/// How long a call may take where nothing else is said.
pub const TIMEOUT: Duration = Duration::from_secs(30);

/// How a gateway behaves, beside its configuration.
#[derive(Clone, Default)]
pub struct Settings {
    /// How long a call may take where the server says nothing.
    pub timeout: Option<Duration>,
    /// Whether names and inputs are checked.
    pub checks: bool,
    /// Variables for the built-in servers, where their configuration says nothing.
    pub builtin_environment: BTreeMap<String, String>,
}

/// The servers, and what all calls share.
pub struct Gateway {
    servers: RwLock<BTreeMap<String, Owned>>,
    settings: Settings,
    keeper: Arc<Keeper>,
    metrics: Metrics,
    begun: Instant,
}

/// A server, and the task that owns it.
struct Owned {
    server: Arc<Server>,
    task: JoinHandle<()>,
}

impl Gateway {
    /// Starts the servers; does not wait for them.
    pub fn start(config: &Config, settings: Settings) -> Arc<Self> {
        let gateway = Arc::new(Self {
            servers: RwLock::default(),
            settings,
            keeper: Arc::default(),
            metrics: Metrics::default(),
            begun: Instant::now(),
        });
        gateway.apply(config);
        gateway
    }

    /// Takes another configuration: only what changed is started or stopped. Calls under way on a server that
    /// goes may end.
    pub fn apply(&self, config: &Config) {
        let mut servers = self.servers.write().unwrap_or_else(PoisonError::into_inner);
        let source = |config: &ServerConfig| config.source.clone().with_builtin(&self.settings.builtin_environment);
        servers.retain(|name, owned| {
            let stays = config.servers.get(name).is_some_and(|config| source(config) == owned.server.source);
            if !stays {
                owned.server.stopping.cancel();
            }
            stays
        });
        let default = self.settings.timeout.or(config.timeout).unwrap_or(TIMEOUT);
        for (name, server_config) in &config.servers {
            let timeout = server_config.timeout.unwrap_or(default);
            if let Some(owned) = servers.get_mut(name) {
                owned.server.set_timeout(timeout);
                continue;
            }
            let server = Arc::new(Server::new(name.clone(), source(server_config), timeout));
            let task = tokio::spawn(owner::own(server.clone(), self.keeper.clone()));
            servers.insert(name.clone(), Owned { server, task });
        }
    }

    /// Stops all servers, and waits for them. Calls that are still under way end.
    pub async fn stop(&self) {
        let servers = std::mem::take(&mut *self.servers.write().unwrap_or_else(PoisonError::into_inner));
        for owned in servers.values() {
            owned.server.stopping.cancel();
            owned.server.hurried.cancel();
        }
        for owned in servers.into_values() {
            let _ = owned.task.await;
        }
    }

    /// Whether names and inputs are checked.
    pub fn checks(&self) -> bool {
        self.settings.checks
    }

    /// Makes the call that `body` asks for: `{"server", "toolName", "input"}`. Gives its result, JSON.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn call(&self, body: &[u8]) -> Result<String, Error> {
        self.run(Request::read(body, self.settings.checks)).await
    }

    /// Calls a tool with `body` as its input. Gives its result, JSON.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn call_tool(&self, server: &str, tool: &str, body: &[u8]) -> Result<String, Error> {
        self.run(Request::of_input(server, tool, body, self.settings.checks)).await
    }

    async fn run(&self, request: Result<Request, Error>) -> Result<String, Error> {
        let begun = Instant::now();
        let Request { server, tool, input } = match request {
            Ok(request) => request,
            Err(error) => {
                self.metrics.refused(&error);
                return Err(error);
            }
        };
        let called = match self.server(&server) {
            Some(server) => server.call(&tool, input, self.settings.checks).await,
            None => Err(Error::ServerNotFound { server: server.clone() }),
        };
        self.metrics.called(&server, &tool, &called, begun.elapsed());
        called
    }

    fn server(&self, name: &str) -> Option<Arc<Server>> {
        let servers = self.servers.read().unwrap_or_else(PoisonError::into_inner);
        servers.get(name).map(|owned| owned.server.clone())
    }

    fn servers(&self) -> Vec<Arc<Server>> {
        let servers = self.servers.read().unwrap_or_else(PoisonError::into_inner);
        servers.values().map(|owned| owned.server.clone()).collect()
    }

    /// The tools of all servers that are up, by server and name: `name`, `description`, `server`, `inputSchema`.
    /// One whose name cannot be called is left out.
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

    /// How everything is, without asking anybody: `status`, `uptime` in seconds, `servers` by name. With
    /// `detail`, what is known of each.
    pub fn health(&self, detail: bool) -> Value {
        let servers = self.servers();
        let degraded = servers.iter().any(|server| server.status() != "available");
        let of = |server: &Arc<Server>| match detail {
            true => (server.name.clone(), server.detail()),
            false => (server.name.clone(), server.status().into()),
        };
        let mut health = json!({
            "status": if degraded { "degraded" } else { "ok" },
            "uptime": (self.begun.elapsed().as_secs_f64() * 1000.0).round() / 1000.0,
            "servers": servers.iter().map(of).collect::<Map<_, _>>(),
        });
        if !self.settings.checks {
            health["validation"] = "disabled".into();
        }
        health
    }

    /// All of it as an `OpenAPI` document, one operation for each tool.
    pub fn openapi(&self) -> Value {
        openapi::document(&self.tools())
    }

    /// Counters and histograms, as Prometheus reads them.
    pub fn metrics(&self) -> String {
        self.metrics.text(&self.servers())
    }
}

/// The program that runs now, also after it was replaced on the disk.
fn own_program() -> PathBuf {
    if cfg!(target_os = "linux") {
        return PathBuf::from("/proc/self/exe");
    }
    std::env::current_exe().unwrap_or_else(|_| PathBuf::from("n8n-lens"))
}
