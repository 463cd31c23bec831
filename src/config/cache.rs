//! Settings of the cache of executions.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use clap::builder::FalseyValueParser;

use super::{Error, N8N, path};
use crate::cache::{Cache, Settings};
use crate::n8n::Caching;

/// The folder that `auto` names, below the user's folder for caches.
const FOLDER: &str = "n8n-lens";

/// The folder of the cache of executions.
#[derive(Args, Clone, Default)]
pub struct CacheFolder {
    /// Keep the bodies of finished executions in this folder, so that n8n sends each once: a folder, or auto (the user's cache folder)
    #[arg(long, help_heading = N8N, env = "N8N_LENS_CACHE", value_name = "DIR", value_parser = path)]
    cache: Option<PathBuf>,
}

/// Settings of the cache of executions.
#[derive(Args, Clone, Default)]
pub struct CacheOptions {
    #[command(flatten)]
    folder: CacheFolder,

    /// With --cache: its largest size, such as 500MB or 2GB
    #[arg(long, help_heading = N8N, env = "N8N_LENS_CACHE_MAX", value_name = "SIZE", default_value = "2GB", value_parser = Size::parse)]
    cache_max: Size,

    /// With --cache: how long a body is used, such as 90m, 24h or 7d
    #[arg(long, help_heading = N8N, env = "N8N_LENS_CACHE_TTL", value_name = "TIME", default_value = "24h", value_parser = Period::parse)]
    cache_ttl: Period,
}

/// Settings of a command that reads executions by way of the cache.
#[derive(Args, Clone, Default)]
pub struct CachingOptions {
    #[command(flatten)]
    cache: CacheOptions,

    /// With --cache: show executions from there without asking n8n whether they have changed
    #[arg(long, help_heading = N8N, env = "N8N_LENS_OFFLINE", value_parser = FalseyValueParser::new())]
    offline: bool,
}

/// Bytes, such as `500MB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Size(u64);

impl Default for Size {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl Size {
    const DEFAULT: Self = Self(2_000_000_000);

    fn parse(text: &str) -> Result<Self, String> {
        const UNITS: [(&str, u64); 4] =
            [("kb", 1000), ("mb", 1_000_000), ("gb", 1_000_000_000), ("tb", 1_000_000_000_000)];
        match text.trim() {
            "" => Ok(Self::DEFAULT),
            text => measured(text, &UNITS).map(Self).ok_or_else(|| "must be a size, such as 500MB or 2GB".to_owned()),
        }
    }
}

/// Seconds, such as `24h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Period(u64);

impl Default for Period {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl Period {
    const DEFAULT: Self = Self(24 * 3600);

    fn parse(text: &str) -> Result<Self, String> {
        const UNITS: [(&str, u64); 4] = [("s", 1), ("m", 60), ("h", 3600), ("d", 24 * 3600)];
        match text.trim() {
            "" => Ok(Self::DEFAULT),
            text => measured(text, &UNITS).map(Self).ok_or_else(|| "must be a time, such as 90m, 24h or 7d".to_owned()),
        }
    }
}

/// A whole number with one of these units, in any case, as the smallest unit.
fn measured(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let (number, unit) = text.split_at(text.find(|char: char| !char.is_ascii_digit())?);
    let (_, factor) = units.iter().find(|(name, _)| unit.trim().eq_ignore_ascii_case(name))?;
    number.parse::<u64>().ok()?.checked_mul(*factor).filter(|product| *product > 0)
}

impl CacheFolder {
    fn named(&self) -> Option<&Path> {
        self.cache.as_deref().filter(|folder| !folder.as_os_str().is_empty())
    }

    /// The cache in it, with the default settings, if there is one.
    ///
    /// # Errors
    /// This system has no folder for caches.
    pub fn cache(&self) -> Result<Option<Cache>, Error> {
        CacheOptions { folder: self.clone(), ..CacheOptions::default() }.cache()
    }
}

impl CacheOptions {
    /// The cache, if there is one.
    ///
    /// # Errors
    /// This system has no folder for caches.
    pub fn cache(&self) -> Result<Option<Cache>, Error> {
        let Some(folder) = self.folder.named() else { return Ok(None) };
        let folder = match folder.to_str() {
            Some("auto") => dirs::cache_dir().map(|caches| caches.join(FOLDER)).ok_or_else(|| {
                Error("This system has no folder for caches: name one with --cache instead of auto.".to_owned())
            })?,
            _ => folder.to_owned(),
        };
        let (max_bytes, ttl) = (self.cache_max.0, Duration::from_secs(self.cache_ttl.0));
        Ok(Some(Cache::new(Settings { folder, max_bytes, ttl })))
    }

    /// The settings as environment variables, for another process of n8n-lens.
    #[cfg(feature = "gateway")]
    fn environment(&self) -> [(&'static str, Option<String>); 3] {
        let folder = self.folder.named();
        let if_used = |value: String| folder.map(|_| value);
        [
            ("N8N_LENS_CACHE", folder.and_then(Path::to_str).map(str::to_owned)),
            ("N8N_LENS_CACHE_MAX", if_used(format!("{}kb", self.cache_max.0 / 1000))),
            ("N8N_LENS_CACHE_TTL", if_used(format!("{}s", self.cache_ttl.0))),
        ]
    }
}

impl CachingOptions {
    /// How executions are cached, if they are.
    ///
    /// # Errors
    /// This system has no folder for caches, or there is no cache to be used offline.
    pub(super) fn caching(&self) -> Result<Option<Caching>, Error> {
        match self.cache.cache()? {
            None if self.offline => {
                Err(Error("--offline works only with --cache: name the folder, or leave --offline out.".to_owned()))
            }
            cache => Ok(cache.map(|cache| Caching { cache, offline: self.offline })),
        }
    }

    /// The settings as environment variables, for another process of n8n-lens.
    #[cfg(feature = "gateway")]
    pub(super) fn environment(&self) -> impl Iterator<Item = (&'static str, Option<String>)> {
        let offline = ("N8N_LENS_OFFLINE", self.offline.then(|| "true".to_owned()));
        self.cache.environment().into_iter().chain([offline])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_have_units() {
        assert_eq!(Size::parse("500MB"), Ok(Size(500_000_000)));
        assert_eq!(Size::parse("2 gb"), Ok(Size::DEFAULT));
        assert_eq!(Size::parse(""), Ok(Size::DEFAULT));
        assert_eq!(Period::parse("90m"), Ok(Period(5400)));
        assert_eq!(Period::parse("7d"), Ok(Period(604_800)));
        assert_eq!(Period::parse(""), Ok(Period::DEFAULT));
        for wrong in ["2", "GB", "0GB", "-1GB", "2XB", "99999999999TB", "1.5GB"] {
            assert!(Size::parse(wrong).is_err(), "{wrong}");
        }
        for wrong in ["24", "h", "0h", "1y"] {
            assert!(Period::parse(wrong).is_err(), "{wrong}");
        }
    }
}
