//! Settings of the connection to n8n.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{ArgMatches, Args, Command, FromArgMatches};

use super::{Error, N8N, StoreOptions, filled, path, secret};
use crate::n8n::{Address, Settings};
use crate::secrets::Secret;
use crate::store::Store;
use crate::tools::executions::StoredExecutions;

/// Where n8n's API is, and the key to it.
#[derive(Args, Clone, Default)]
pub struct Api {
    /// Address of n8n, with or without /api/v1
    #[arg(long, help_heading = N8N, env = "N8N_URL", value_name = "URL", hide_env_values = true)]
    n8n_url: Option<String>,

    /// API key, created in n8n under Settings > n8n API
    #[arg(long, help_heading = N8N, env = "N8N_API_KEY", value_name = "KEY", hide_env_values = true)]
    api_key: Option<String>,

    /// File that contains the API key
    #[arg(long, help_heading = N8N, env = "N8N_API_KEY_FILE", value_name = "FILE", value_parser = path, hide_env_values = true)]
    api_key_file: Option<PathBuf>,
}

/// How many executions are read at once.
#[derive(Args, Clone, Copy)]
pub struct Downloads {
    /// Maximum number of executions read at once, and separately of workflows and lists
    #[arg(long, help_heading = N8N, default_value_t = Self::default().max_downloads, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    max_downloads: u16,
}

impl Default for Downloads {
    fn default() -> Self {
        Self { max_downloads: 4 }
    }
}

/// How long n8n may take.
#[derive(Args, Clone)]
struct Timeouts {
    /// Seconds to wait for the first byte of a body, which n8n builds in memory first
    #[arg(long, help_heading = N8N, default_value_t = Self::default().first_byte_timeout, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    first_byte_timeout: u64,

    /// Seconds to wait for the next bytes of a body
    #[arg(long, help_heading = N8N, default_value_t = Self::default().idle_timeout, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    idle_timeout: u64,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { first_byte_timeout: 300, idle_timeout: 60 }
    }
}

/// Where executions are: n8n's API, and its store.
#[derive(Args, Clone, Default)]
pub struct Sources {
    /// The API.
    #[command(flatten)]
    pub api: Api,

    #[command(flatten)]
    timeouts: Timeouts,

    /// The store.
    #[command(flatten)]
    pub store: StoreOptions,

    /// A command that is not a server reads one at a time.
    #[arg(skip)]
    downloads: Downloads,
}

impl Sources {
    /// n8n's API alone.
    pub fn api(api: Api) -> Self {
        Self { api, ..Self::default() }
    }

    /// Adds the options of a command that only talks to n8n's API.
    pub fn augment_api_args(command: Command) -> Command {
        Timeouts::augment_args(Api::augment_args(command))
    }

    /// What such a command was passed.
    ///
    /// # Errors
    /// An option is missing from the command.
    pub fn from_api_matches(arguments: &ArgMatches) -> Result<Self, clap::Error> {
        let (api, timeouts) = (Api::from_arg_matches(arguments)?, Timeouts::from_arg_matches(arguments)?);
        Ok(Self { api, timeouts, ..Self::default() })
    }

    /// Sets how many executions are read at once.
    pub(super) fn limit(&mut self, downloads: Downloads) {
        self.downloads = downloads;
    }

    /// How to reach n8n. The key is optional: each request can carry its own.
    ///
    /// # Errors
    /// The address is missing, or the address or the key is malformed.
    pub fn n8n_without_key(&self) -> Result<Settings, Error> {
        self.settings(self.api.key()?)
    }

    /// How to reach n8n.
    ///
    /// # Errors
    /// The address or the key is missing or malformed.
    pub fn n8n(&self) -> Result<Settings, Error> {
        let key = self.api.key()?.ok_or_else(|| {
            Error(
                "N8N_API_KEY is missing: create a key in n8n under Settings > n8n API, and set it, or --api-key-file."
                    .to_owned(),
            )
        });
        // A missing address is reported before a missing key.
        self.settings(None)?;
        self.settings(Some(key?))
    }

    fn settings(&self, api_key: Option<Secret>) -> Result<Settings, Error> {
        let url = self.api.url().ok_or_else(|| {
            Error("N8N_URL is missing: set it, or --n8n-url, to the address of your n8n, such as https://n8n.example.com.".to_owned())
        })?;
        Ok(Settings {
            address: Address::parse(url).map_err(Error)?,
            api_key,
            first_byte_timeout: Duration::from_secs(self.timeouts.first_byte_timeout),
            idle_timeout: Duration::from_secs(self.timeouts.idle_timeout),
            max_downloads: usize::from(self.downloads.max_downloads),
        })
    }

    /// n8n's own store, if executions come from there.
    ///
    /// # Errors
    /// No store exists at this place, or another option needs one.
    pub fn store(&self) -> Result<Option<Store>, Error> {
        self.store.find(Some(Duration::from_secs(self.timeouts.idle_timeout)))
    }

    /// The executions of n8n's own store, if they come from there.
    ///
    /// # Errors
    /// As [`store`](Self::store).
    pub fn stored_executions(&self) -> Result<Option<StoredExecutions>, Error> {
        let (store, reveal) = (self.store()?, self.store.reveals());
        if store.is_some() && reveal {
            tracing::warn!("--reveal: what n8n's redaction policy hides is shown");
        }
        let at_once = usize::from(self.downloads.max_downloads);
        Ok(store.map(|store| StoredExecutions::new(store, reveal, at_once)))
    }
}

impl Api {
    /// The address as it was given.
    pub fn url(&self) -> Option<&str> {
        filled(self.n8n_url.as_deref())
    }

    /// Whether there is an address.
    pub fn has_address(&self) -> bool {
        self.url().is_some()
    }

    /// Whether there is an address and a key, which a store does not need.
    pub fn is_complete(&self) -> bool {
        self.has_address() && self.key().is_ok_and(|key| key.is_some())
    }

    fn key(&self) -> Result<Option<Secret>, Error> {
        let key = match (filled(self.api_key.as_deref()), self.key_file()) {
            (Some(key), _) => key.to_owned(),
            (None, Some(file)) => read_key(file)?,
            (None, None) => return Ok(None),
        };
        filled(Some(&key)).map(|key| secret("N8N_API_KEY", key)).transpose()
    }

    /// The file with the API key, if one was given.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn readable_key_file(&self) -> Result<Option<&Path>, Error> {
        let readable = |file| read_key(file).map(|_| file);
        self.key_file().map(readable).transpose()
    }

    fn key_file(&self) -> Option<&Path> {
        self.api_key_file.as_deref().filter(|file| !file.as_os_str().is_empty())
    }

    /// The settings as environment variables, for another process of n8n-lens.
    #[cfg(feature = "gateway")]
    pub(super) fn environment(&self) -> [(&'static str, Option<String>); 3] {
        let key_file = self.api_key_file.as_deref().and_then(Path::to_str).map(str::to_owned);
        [("N8N_URL", self.n8n_url.clone()), ("N8N_API_KEY", self.api_key.clone()), ("N8N_API_KEY_FILE", key_file)]
    }
}

/// The error does not name the file: some users pass the key itself.
fn read_key(file: &Path) -> Result<String, Error> {
    std::fs::read_to_string(file).map_err(|error| {
        Error(format!("The file with the API key cannot be read: {error}. Check N8N_API_KEY_FILE or --api-key-file."))
    })
}
