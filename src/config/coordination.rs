//! Settings of the coordination server.

use std::time::Duration;

use clap::Args;

use super::{Access, Error, Language, Transport, bare, filled};
use crate::coordination::store::{Clock, DatabaseLocation};
use crate::coordination::{Cost, SessionPolicy, Settings};

/// Settings of the coordination server.
#[derive(Args, Clone)]
pub struct CoordinationOptions {
    /// Database: path of an SQLite file, created if it does not exist, or postgres://…
    #[arg(long, global = true, env = "N8N_LENS_DB", value_name = "DB", hide_env_values = true)]
    db: Option<String>,

    /// Seconds after which an unused session expires
    #[arg(long, default_value_t = 3600, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=31_536_000))]
    session_ttl: u64,

    /// Seconds after which a session expires even if it is used
    #[arg(long, default_value_t = 86_400, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=31_536_000))]
    session_max: u64,

    #[command(flatten)]
    language: Language,

    /// How clients connect
    #[arg(long, value_enum, default_value = "stdio", value_name = "TRANSPORT")]
    pub transport: Transport,

    /// Address to listen on (http)
    #[arg(long, default_value = "127.0.0.1", value_name = "HOST")]
    host: String,

    /// Port to listen on (http); 0 picks a free one
    #[arg(long, default_value_t = 3002, value_name = "PORT")]
    pub port: u16,

    /// Additional host names under which HTTP clients can reach the server, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    allowed_hosts: Vec<String>,

    /// Hide deprecated tools from the list; they can still be called
    #[arg(long)]
    pub hide_deprecated: bool,

    /// Also offer report_process_exit to Runners, which frees an agent whose process has exited
    #[arg(long)]
    pub runner_tools: bool,

    /// Also offer the `admin` commands as tools; over HTTP only to tokens of scope admin
    #[arg(long)]
    pub admin_tools: bool,
}

/// The number of concurrent units of work for the single client of stdio.
const STDIO_CONNECTIONS: usize = 1;

/// The number of concurrent units of work for the clients over HTTP.
const HTTP_CONNECTIONS: usize = 8;

impl CoordinationOptions {
    /// How to open the database. `create` says whether to create a missing SQLite file.
    ///
    /// # Errors
    /// `--db` is missing, or is neither a path nor a PostgreSQL URL.
    pub fn settings(&self, create: bool) -> Result<Settings, Error> {
        let db = filled(self.db.as_deref())
            .ok_or_else(|| Error("--db is missing; pass the path of the database file, or postgres://….".to_owned()))?;
        Ok(Settings {
            location: DatabaseLocation::parse(db).map_err(Error)?,
            create,
            connections: if self.transport == Transport::Http { HTTP_CONNECTIONS } else { STDIO_CONNECTIONS },
            policy: SessionPolicy {
                session_ttl: Duration::from_secs(self.session_ttl),
                session_max: Duration::from_secs(self.session_max),
                locale: self.language.locale(),
            },
            cost: Cost::default(),
            clock: Clock::Database,
        })
    }

    /// The host names under which HTTP clients can reach the server. Tokens are checked against the database.
    pub fn access(&self) -> Access {
        Access::with_tokens_elsewhere(&self.host, &self.allowed_hosts)
    }

    /// The host, without the brackets that URLs put around IPv6 addresses.
    pub fn bare_host(&self) -> &str {
        bare(&self.host)
    }
}
