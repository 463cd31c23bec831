//! Settings of the gateway.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use clap::builder::FalseyValueParser;

use super::{Access, Api, CachingOptions, CatalogueOptions, Error, StoreOptions, bare, filled};
use crate::gateway::{Config, Settings};

/// Settings of the gateway.
#[derive(Args, Clone)]
pub struct GatewayOptions {
    #[command(flatten)]
    api: Api,

    /// n8n's own store.
    #[command(flatten)]
    pub store: StoreOptions,

    #[command(flatten)]
    caching: CachingOptions,

    #[command(flatten)]
    catalogue: CatalogueOptions,

    /// Configuration file: YAML, or the mcpServers JSON of Claude Desktop and Cursor. Changes are applied while running
    #[arg(long, env = "GATEWAY_CONFIG", default_value = "config.yaml", value_name = "FILE")]
    pub config: PathBuf,

    /// Address to listen on (default: from the configuration, or 127.0.0.1)
    #[arg(long, env = "GATEWAY_HOST", value_name = "HOST")]
    host: Option<String>,

    /// Port to listen on; 0 picks a free one (default: from the configuration, or 3001)
    #[arg(long, env = "GATEWAY_PORT", value_name = "PORT")]
    port: Option<String>,

    /// Timeout of a call, in ms, unless its server sets one (default: from the configuration, or 30000)
    #[arg(long, env = "GATEWAY_TIMEOUT_MS", value_name = "MS")]
    timeout_ms: Option<String>,

    /// Bearer token that every client must send; required off loopback
    #[arg(long, env = "GATEWAY_TOKEN", value_name = "TOKEN", hide_env_values = true)]
    auth_token: Option<String>,

    /// Additional host names under which clients can reach the gateway, separated by commas
    #[arg(long, env = "GATEWAY_ALLOWED_HOSTS", value_delimiter = ',', value_name = "NAMES")]
    allowed_hosts: Vec<String>,

    /// Do not check the names and inputs of calls; only for testing servers
    #[arg(long, env = "DISABLE_VALIDATION", value_parser = FalseyValueParser::new())]
    disable_validation: bool,
}

impl GatewayOptions {
    /// The host and port to listen on: from the options, or else the configuration, or else 127.0.0.1 and 3001.
    ///
    /// # Errors
    /// The port is not a number from 0 to 65535.
    pub fn address(&self, config: &Config) -> Result<(String, u16), Error> {
        let host = filled(self.host.as_deref()).or(config.host.as_deref()).unwrap_or("127.0.0.1");
        let port = number("--port (GATEWAY_PORT)", "0 to 65535", self.port.as_deref())?.or(config.port).unwrap_or(3001);
        Ok((bare(host).to_owned(), port))
    }

    /// Who can use the gateway on `host`.
    ///
    /// # Errors
    /// The token is malformed, or the gateway would be open to the network without one.
    pub fn access(&self, host: &str) -> Result<Access, Error> {
        Access::new(host, ("GATEWAY_TOKEN", self.auth_token.as_deref()), &self.allowed_hosts)
    }

    /// How the gateway behaves, and what it passes on to the built-in servers.
    ///
    /// # Errors
    /// The timeout is not a positive number of milliseconds.
    pub fn settings(&self) -> Result<Settings, Error> {
        let timeout =
            number::<NonZeroU32>("--timeout-ms (GATEWAY_TIMEOUT_MS)", "1 to 4294967295", self.timeout_ms.as_deref())?;
        let timeout = timeout.map(|ms| Duration::from_millis(ms.get().into()));
        let builtin_environment = self.environment();
        Ok(Settings { timeout, checks: !self.disable_validation, builtin_environment, owns_process: true })
    }

    /// The settings of the built-in servers, as environment variables.
    fn environment(&self) -> BTreeMap<String, String> {
        let catalogue = self.catalogue.catalogue.as_deref().and_then(Path::to_str).map(str::to_owned);
        let given = self.api.environment().into_iter().chain([("N8N_LENS_CATALOGUE", catalogue)]);
        let given = given.chain(self.store.environment()).chain(self.caching.environment());
        given.filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }
}

/// Parses a number; an empty text counts as unset.
fn number<T: FromStr>(option: &str, range: &str, text: Option<&str>) -> Result<Option<T>, Error> {
    let parse =
        |text: &str| text.parse().map_err(|_| Error(format!("{option} must be a number from {range}, not {text:?}.")));
    filled(text).map(parse).transpose()
}
