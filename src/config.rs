//! Settings: command line over environment over defaults.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use tracing::level_filters::LevelFilter;

use crate::n8n::{Address, Secret, Settings};
use crate::tools::Locale;

/// Settings of every command.
#[derive(Args, Clone)]
pub struct Options {
    /// Address of n8n, with or without /api/v1
    #[arg(long, global = true, env = "N8N_URL", value_name = "URL", hide_env_values = true)]
    n8n_url: Option<String>,

    /// API key (n8n: Settings > n8n API)
    #[arg(long, global = true, env = "N8N_API_KEY", value_name = "KEY", hide_env_values = true)]
    api_key: Option<String>,

    /// File that holds the API key
    #[arg(long, global = true, env = "N8N_API_KEY_FILE", value_name = "FILE")]
    api_key_file: Option<PathBuf>,

    /// What is logged to standard error
    #[arg(
        long,
        global = true,
        env = "LOG_LEVEL",
        value_enum,
        default_value = "warn",
        value_name = "LEVEL",
        ignore_case = true
    )]
    log_level: LogLevel,

    /// Language of messages
    #[arg(long, global = true, env = "N8N_LENS_LOCALE", value_enum, default_value = "ja", value_name = "LOCALE")]
    pub locale: Locale,

    /// Mask known secret keys in items, too
    #[arg(long, global = true)]
    pub redact: bool,

    /// Bodies that are read at once
    #[arg(long, global = true, default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    max_downloads: u16,

    /// Seconds that n8n may build a body before its first byte
    #[arg(long, global = true, default_value_t = 300, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    first_byte_timeout: u64,

    /// Seconds that a body may pause
    #[arg(long, global = true, default_value_t = 60, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    idle_timeout: u64,
}

/// How much is logged.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum LogLevel {
    Off,
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

/// A setting that is missing or malformed: one sentence that says what to do.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Error(String);

impl Options {
    /// How to reach n8n.
    ///
    /// # Errors
    /// [`Error`].
    pub fn n8n(&self) -> Result<Settings, Error> {
        let url = self.n8n_url.as_deref().filter(|url| !url.trim().is_empty()).ok_or_else(|| {
            Error("N8N_URL is missing: set it, or --n8n-url, to the address of your n8n, such as https://n8n.example.com.".to_owned())
        })?;
        Ok(Settings {
            address: Address::parse(url).map_err(Error)?,
            api_key: self.key()?,
            first_byte_timeout: Duration::from_secs(self.first_byte_timeout),
            idle_timeout: Duration::from_secs(self.idle_timeout),
            max_downloads: usize::from(self.max_downloads),
        })
    }

    fn key(&self) -> Result<Secret, Error> {
        let key = match (&self.api_key, &self.api_key_file) {
            (Some(key), _) if !key.trim().is_empty() => key.clone(),
            (_, Some(file)) => std::fs::read_to_string(file)
                .map_err(|error| Error(format!("The API key file {} cannot be read: {error}.", file.display())))?,
            _ => String::new(),
        };
        let key = key.trim();
        if key.is_empty() {
            return Err(Error(
                "N8N_API_KEY is missing: make a key in n8n under Settings > n8n API, and set it, or --api-key-file."
                    .to_owned(),
            ));
        }
        if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Error("N8N_API_KEY holds characters that no API key has; copy it once more.".to_owned()));
        }
        Ok(Secret::new(key))
    }

    /// How much is logged.
    pub fn log_level(&self) -> LevelFilter {
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
