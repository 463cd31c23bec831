//! `n8n-lens check`: prints what n8n's version and the API key allow, and what n8n's store contains, for people.

use clap::Args;

use super::terminal::print;
use super::{Error, cache};
use crate::blocking::blocking;
use crate::config::{CacheOptions, Sources};
use crate::n8n::{Client, SCOPES};
use crate::store::{Finding, Store};
use crate::tools;
use crate::units::counted;

#[derive(Args)]
pub(super) struct Check {
    #[command(flatten)]
    sources: Sources,

    #[command(flatten)]
    cache: CacheOptions,
}

impl Check {
    /// Checks the cache and the store, if there are any, and n8n's API unless there is only the store.
    pub(super) async fn run(self) -> Result<(), Error> {
        if let Some(cache) = self.cache.cache()? {
            print(&cache::check(&cache).await?)?;
        }
        let store = self.sources.store()?;
        let needs_api = store.is_none() || self.sources.api.is_complete();
        if let Some(store) = store {
            check_store(store).await?;
        }
        if needs_api { check_api(&self.sources).await } else { Ok(()) }
    }
}

/// Prints what the store contains; fails if something cannot be read.
async fn check_store(store: Store) -> Result<(), Error> {
    let report = blocking(move || store.report()).await.map_err(tools::Error::from)?;
    let mut problems = 0;
    for finding in report.findings {
        print(&match finding {
            Finding::Fine(text) => format!("ok: {text}"),
            Finding::Unknown(text) => format!("unknown: {text}"),
            Finding::Problem(text) => {
                problems += 1;
                format!("problem: {text}")
            }
        })?;
    }
    match problems {
        0 => Ok(()),
        1 => Err(Error::Input("One thing in the store cannot be read; the line above says what to do.".to_owned())),
        problems => Err(Error::Input(format!(
            "{} in the store cannot be read; the lines above say what to do.",
            counted(problems, "thing", "things")
        ))),
    }
}

/// Prints what works; fails if a tool would.
pub(super) async fn check_api(sources: &Sources) -> Result<(), Error> {
    let access = Client::new(sources.n8n()?).check().await.map_err(tools::Error::from)?;
    let version = access
        .version
        .map_or_else(|| "n8n (unknown version) responds".to_owned(), |version| format!("n8n {version} responds"));
    print(&format!("ok: {version} and accepts the API key."))?;
    print(match access.knows_size_limit {
        Some(true) => {
            "ok: it supports --ignore-data-size-limit, so executions above its display limit (100 MB) can be read."
        }
        Some(false) => "ok: it has no display limit (n8n before 2.28), so it sends executions of any size.",
        None => "unknown: whether it supports --ignore-data-size-limit, because the key cannot list executions.",
    })?;
    match access.missing_scopes {
        None => print("unknown: this n8n does not report the scopes of a key; a tool that lacks one names it."),
        Some(missing) if missing.is_empty() => {
            print(&format!("ok: the key has all scopes that the tools need ({}).", SCOPES.join(", ")))
        }
        Some(missing) => Err(Error::Input(format!(
            "The API key lacks {}: n8n will refuse the tools that need it. Create a key with these scopes in n8n under Settings > n8n API, or start with --read-only or --tools.",
            missing.join(", ")
        ))),
    }
}
