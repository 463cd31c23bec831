//! Settings: the command line overrides the environment, which overrides defaults. An empty variable counts as unset:
//! clients send those for settings that the user left empty.

mod cache;
#[cfg(feature = "coordination")]
mod coordination;
#[cfg(feature = "gateway")]
mod gateway;
mod n8n;
mod store;

use std::convert::Infallible;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use clap::builder::{FalseyValueParser, PossibleValue};
use clap::{Args, ValueEnum};
use tracing::level_filters::LevelFilter;

pub use cache::{CacheFolder, CacheOptions, CachingOptions};
#[cfg(feature = "coordination")]
pub use coordination::CoordinationOptions;
#[cfg(feature = "gateway")]
pub use gateway::GatewayOptions;
pub use n8n::{Api, Downloads, Sources};
pub use store::StoreOptions;

use crate::n8n::Caching;
use crate::secrets::Secret;
use crate::toolkit::Locale;
use crate::tools::{ToolSelection, Toolbox};
use crate::workflow::file::Files;

/// How many sessions of clients of MCP 2025-11-25 are kept by default: rmcp needs 120 KB for each.
const MAX_SESSIONS: u16 = 512;

/// Above the options for n8n in help.
const N8N: &str = "Connection to n8n";

/// Settings of a command that reads executions.
#[derive(Args, Clone, Default)]
pub struct ReadingOptions {
    /// Where they are.
    #[command(flatten)]
    pub sources: Sources,

    #[command(flatten)]
    caching: CachingOptions,

    /// The language of messages.
    #[command(flatten)]
    pub language: Language,

    /// Mask the values of known secret keys in items, too
    #[arg(long)]
    pub redact: bool,
}

/// The language of messages.
#[derive(Args, Clone, Default)]
pub struct Language {
    /// Language of messages: ja (default) or en
    #[arg(long, visible_alias = "lang", env = "N8N_LENS_LOCALE", value_parser = GivenLocale::parse, default_value = "", hide_default_value = true, value_name = "LOCALE")]
    locale: GivenLocale,
}

/// A language, if one was given.
#[derive(Clone, Copy, Default)]
struct GivenLocale(Option<Locale>);

/// How much is logged.
#[derive(Args, Clone)]
pub struct LogOptions {
    /// Log level on standard error: off, error, warn, info, debug or trace
    #[arg(long, global = true, env = "LOG_LEVEL", value_parser = one_of::<LogLevel>, default_value = "warn", value_name = "LEVEL")]
    log_level: LogLevel,
}

/// The catalogue of node types.
#[derive(Args, Clone)]
pub struct CatalogueOptions {
    /// Catalogue of node types (default: in the user's data folder)
    #[arg(long, env = "N8N_LENS_CATALOGUE", value_name = "FILE", value_parser = path)]
    catalogue: Option<PathBuf>,
}

/// Settings of the MCP server.
#[derive(Args, Clone)]
pub struct ServerOptions {
    #[command(flatten)]
    reading: ReadingOptions,

    #[command(flatten)]
    downloads: Downloads,

    /// The catalogue of node types.
    #[command(flatten)]
    pub catalogue: CatalogueOptions,

    /// How clients connect
    #[arg(long, value_enum, default_value = "stdio", value_name = "TRANSPORT")]
    pub transport: Transport,

    /// Address to listen on (http)
    #[arg(long, default_value = "127.0.0.1", value_name = "HOST")]
    pub host: String,

    /// Port to listen on (http); 0 picks a free one
    #[arg(long, default_value_t = 3000, value_name = "PORT")]
    pub port: u16,

    /// Bearer token that every HTTP client must send; required off loopback
    #[arg(long, env = "N8N_LENS_AUTH_TOKEN", value_name = "TOKEN", hide_env_values = true)]
    auth_token: Option<String>,

    /// Additional host names under which HTTP clients can reach the server, separated by commas
    #[arg(long, env = "N8N_LENS_ALLOWED_HOSTS", value_delimiter = ',', value_name = "NAMES")]
    allowed_hosts: Vec<String>,

    /// Sessions of clients of MCP 2025-11-25 that are kept (http); the one idle longest makes room for a new one
    #[arg(long, default_value_t = MAX_SESSIONS, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    max_sessions: u16,

    #[command(flatten)]
    choice: ToolChoice,

    /// Folder that workflow files must be in; / allows all (default: the working directory; none over http without a token)
    #[arg(long, env = "N8N_LENS_FILES_ROOT", value_name = "DIR", value_parser = path)]
    files_root: Option<PathBuf>,
}

/// Which tools are offered.
#[derive(Args, Clone)]
pub struct ToolChoice {
    /// Toolsets to offer, separated by commas
    #[arg(
        long,
        env = "N8N_LENS_TOOLSETS",
        value_delimiter = ',',
        default_value = "executions,workflows",
        value_name = "NAMES"
    )]
    toolsets: Vec<String>,

    /// Offer only these tools of the toolsets, separated by commas
    #[arg(long, env = "N8N_LENS_TOOLS", value_delimiter = ',', value_name = "NAMES")]
    tools: Vec<String>,

    /// Leave out every tool that writes
    #[arg(long, env = "N8N_LENS_READ_ONLY", value_parser = FalseyValueParser::new())]
    read_only: bool,
}

/// How clients connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Transport {
    /// Standard input and output.
    Stdio,
    /// Streamable HTTP.
    Http,
}

/// Who can use the HTTP server, and how many at once.
#[derive(Clone, Debug)]
pub struct Access {
    /// Whether the server listens on loopback only.
    pub loopback: bool,
    /// The bearer token that every request must carry, if one is required.
    pub auth_token: Option<Secret>,
    /// Host names, in addition to those of loopback, under which clients can reach the server.
    pub hosts: Vec<String>,
    /// The maximum number of sessions of clients of MCP 2025-11-25.
    pub max_sessions: usize,
}

/// How much is logged.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum LogLevel {
    Off,
    Error,
    #[default]
    Warn,
    Info,
    Debug,
    Trace,
}

/// A setting that is missing or malformed. The message is a sentence that says what to do.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Error(String);

/// Parses a variant's name; an empty text is the default.
fn one_of<T: ValueEnum + Default>(name: &str) -> Result<T, String> {
    if name.is_empty() {
        return Ok(T::default());
    }
    T::from_str(name, true).map_err(|_| {
        let names = T::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        format!("must be one of {}", names.map(|value| value.get_name().to_owned()).collect::<Vec<_>>().join(", "))
    })
}

impl ValueEnum for Locale {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Ja, Self::En]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.choose("ja", "en")))
    }
}

/// Parses a path. It may be empty, which counts as unset.
fn path(text: &str) -> Result<PathBuf, Infallible> {
    Ok(text.into())
}

fn filled(text: Option<&str>) -> Option<&str> {
    text.map(str::trim).filter(|text| !text.is_empty())
}

fn filled_names(names: &[String]) -> Vec<String> {
    names.iter().filter_map(|name| filled(Some(name))).map(str::to_owned).collect()
}

impl GivenLocale {
    fn parse(name: &str) -> Result<Self, String> {
        let given = filled(Some(name)).map(one_of::<Locale>).transpose()?;
        Ok(Self(given))
    }
}

impl Language {
    /// The language.
    pub fn locale(&self) -> Locale {
        self.given().unwrap_or_default()
    }

    /// The language, unless it is the default.
    pub fn given(&self) -> Option<Locale> {
        self.locale.0
    }
}

impl ReadingOptions {
    /// Settings of a command that shows no items, so there is nothing to mask; without a cache.
    pub fn without_items(sources: Sources, language: Language) -> Self {
        Self { sources, language, ..Self::default() }
    }

    /// The same with a cache.
    #[must_use]
    pub fn cached(self, caching: CachingOptions) -> Self {
        Self { caching, ..self }
    }

    /// The same, reading this many executions at once.
    #[must_use]
    pub fn with(mut self, downloads: Downloads) -> Self {
        self.sources.limit(downloads);
        self
    }

    /// How executions are cached, if they are.
    ///
    /// # Errors
    /// This system has no folder for caches, or there is no cache to be used offline.
    pub fn caching(&self) -> Result<Option<Caching>, Error> {
        self.caching.caching()
    }
}

impl CatalogueOptions {
    /// The path of the catalogue of node types; `None` on a system without a data folder.
    pub fn path(&self) -> Option<PathBuf> {
        let named = self.catalogue.clone().filter(|file| !file.as_os_str().is_empty());
        named.or_else(|| Some(dirs::data_local_dir()?.join("n8n-lens").join("catalogue.json")))
    }
}

impl LogOptions {
    /// How much is logged.
    pub fn level(&self) -> LevelFilter {
        match self.log_level {
            LogLevel::Off => LevelFilter::OFF,
            LogLevel::Error => LevelFilter::ERROR,
            LogLevel::Warn => LevelFilter::WARN,
            LogLevel::Info => LevelFilter::INFO,
            LogLevel::Debug => LevelFilter::DEBUG,
            LogLevel::Trace => LevelFilter::TRACE,
        }
    }
}

/// A secret that is sent in a header.
fn secret(variable: &str, value: &str) -> Result<Secret, Error> {
    if value.starts_with("${") {
        return Err(Error(format!(
            "{variable} is an unexpanded ${{…}} placeholder: the client passed it on unchanged. Set the variable that it names."
        )));
    }
    let unfit = || Error(format!("{variable} contains characters that no API key or token has. Copy it again."));
    Secret::key(value).ok_or_else(unfit)
}

impl ToolChoice {
    /// The tools to offer, all of which need n8n's API.
    ///
    /// # Errors
    /// A toolset or a tool is unknown, or no tool is left. The message lists the available names.
    pub fn toolbox(&self) -> Result<Toolbox, Error> {
        self.toolbox_for(false, false)
    }

    /// The tools to offer for these sources.
    fn toolbox_for(&self, with_store: bool, without_api: bool) -> Result<Toolbox, Error> {
        let selection = ToolSelection {
            toolsets: filled_names(&self.toolsets),
            tools: filled_names(&self.tools),
            read_only: self.read_only,
            with_store,
            without_api,
        };
        Toolbox::new(&selection).map_err(Error)
    }
}

impl ServerOptions {
    /// The tools to offer. Tools that need n8n's API are left out if it cannot be used: over HTTP each request can bring a
    /// key, but not an address.
    ///
    /// # Errors
    /// A toolset or a tool is unknown, or no tool is left.
    pub fn toolbox(&self) -> Result<Toolbox, Error> {
        let Sources { api, store, .. } = &self.reading.sources;
        let has_api = if self.transport == Transport::Http { api.has_address() } else { api.is_complete() };
        self.choice.toolbox_for(store.is_named(), store.is_named() && !has_api)
    }

    /// How executions are read.
    pub fn reading(&self) -> ReadingOptions {
        self.reading.clone().with(self.downloads)
    }

    /// Where workflow files can be: below the working directory by default. Over HTTP without a token every user of this
    /// machine can call the tools, so that a folder has to be named.
    ///
    /// # Errors
    /// The folder does not exist, cannot be accessed, or is not a folder.
    pub fn files(&self) -> Result<Files, Error> {
        let named = self.files_root.as_deref().filter(|root| !root.as_os_str().is_empty());
        match named {
            Some(root) => Files::below(root).map_err(Error),
            None if self.is_open() => Ok(Files::default()),
            None => Files::below(Path::new(".")).map_err(Error),
        }
    }

    /// Whether every user of this machine can use the server.
    fn is_open(&self) -> bool {
        self.transport == Transport::Http && filled(self.auth_token.as_deref()).is_none()
    }

    /// Who can use the HTTP server.
    ///
    /// # Errors
    /// The token is malformed, or the server would be open to the network without one.
    pub fn access(&self) -> Result<Access, Error> {
        let access = Access::new(&self.host, ("N8N_LENS_AUTH_TOKEN", self.auth_token.as_deref()), &self.allowed_hosts)?;
        Ok(Access { max_sessions: usize::from(self.max_sessions), ..access })
    }

    /// The host, without the brackets that URLs put around IPv6 addresses.
    pub fn bare_host(&self) -> &str {
        bare(&self.host)
    }
}

fn bare(host: &str) -> &str {
    host.trim_matches(['[', ']'])
}

fn is_loopback(host: &str) -> bool {
    let ip: Result<IpAddr, _> = bare(host).parse();
    host.eq_ignore_ascii_case("localhost") || ip.is_ok_and(|ip| ip.to_canonical().is_loopback())
}

impl Access {
    /// For a server of one person on this machine, which checks tokens itself.
    pub fn loopback() -> Self {
        Self::with_tokens_elsewhere("127.0.0.1", &[])
    }

    /// The token comes with the variable that sets it.
    fn new(host: &str, (variable, token): (&str, Option<&str>), names: &[String]) -> Result<Self, Error> {
        let auth_token = filled(token).map(|token| secret(variable, token)).transpose()?;
        if auth_token.is_none() && !is_loopback(host) {
            return Err(Error(format!(
                "{host} can be reached from other machines: set {variable}, or --auth-token, to a token that clients must send, or listen on 127.0.0.1."
            )));
        }
        Ok(Self { auth_token, ..Self::with_tokens_elsewhere(host, names) })
    }

    /// For a server that checks tokens itself.
    fn with_tokens_elsewhere(host: &str, names: &[String]) -> Self {
        let loopback = is_loopback(host);
        let mut hosts = filled_names(names);
        // The address itself is also allowed, if it is loopback or other names are configured.
        if loopback || !hosts.is_empty() {
            let host = bare(host);
            hosts.push(if host.contains(':') { format!("[{host}]") } else { host.to_owned() });
        }
        Self { loopback, auth_token: None, hosts, max_sessions: usize::from(MAX_SESSIONS) }
    }
}
