//! Settings of the coordination server.

use std::time::Duration;

use clap::Args;

use super::{Access, Error, Options, Transport, bare, filled};
use crate::coordination::store::{Clock, Place};
use crate::coordination::{Cost, Settings, Terms};

/// Settings of the coordination server.
#[derive(Args, Clone)]
pub struct CoordinationOptions {
    /// The database: a file, which is made if it is not there, or postgres://…
    #[arg(long, global = true, env = "N8N_LENS_DB", value_name = "DB", hide_env_values = true)]
    db: Option<String>,

    /// Seconds that a session lives without being used
    #[arg(long, global = true, default_value_t = 3600, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=31_536_000))]
    session_ttl: u64,

    /// Seconds that a session lives at most
    #[arg(long, global = true, default_value_t = 86_400, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=31_536_000))]
    session_max: u64,

    /// How clients reach the server
    #[arg(long, value_enum, default_value = "stdio", value_name = "TRANSPORT")]
    pub transport: Transport,

    /// Address to listen on, for http
    #[arg(long, default_value = "127.0.0.1", value_name = "HOST")]
    host: String,

    /// Port to listen on, for http; 0 takes a free one
    #[arg(long, default_value_t = 3002, value_name = "PORT")]
    pub port: u16,

    /// Further host names under which HTTP clients may reach the server, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    allowed_hosts: Vec<String>,

    /// Leave deprecated tools out of the list
    #[arg(long)]
    pub hide_deprecated: bool,

    /// Offer the commands of `admin` as tools, too; over HTTP to tokens of scope admin
    #[arg(long)]
    pub admin_tools: bool,
}

/// Units of work at once for one client, and for many.
const CONNECTIONS: (usize, usize) = (1, 8);

impl CoordinationOptions {
    /// How the database is opened; `make` says whether a file that is not there is made.
    ///
    /// # Errors
    /// [`Error`].
    pub fn settings(&self, options: &Options, make: bool) -> Result<Settings, Error> {
        let db = filled(self.db.as_deref())
            .ok_or_else(|| Error("--db is missing: name the file of the database, or postgres://….".to_owned()))?;
        Ok(Settings {
            place: Place::parse(db).map_err(Error)?,
            make,
            connections: if self.transport == Transport::Http { CONNECTIONS.1 } else { CONNECTIONS.0 },
            terms: Terms {
                session_ttl: Duration::from_secs(self.session_ttl),
                session_max: Duration::from_secs(self.session_max),
                locale: options.locale,
            },
            cost: Cost::default(),
            clock: Clock::Database,
        })
    }

    /// Who may ask over HTTP: under which names; tokens are in the database.
    pub fn access(&self) -> Access {
        Access::with_tokens_elsewhere(&self.host, &self.allowed_hosts)
    }

    /// The host without the brackets that a URL needs around IPv6.
    pub fn bare_host(&self) -> &str {
        bare(&self.host)
    }
}
