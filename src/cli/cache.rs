//! `n8n-lens cache`: lists or clears the cache of executions.

use clap::{Args, Subcommand};
use comfy_table::Cell;

use super::Error;
use super::table::table;
use super::terminal::{Styled, plain, print, print_styled};
use crate::blocking::blocking;
use crate::cache::{Cache, Listed};
use crate::config::{CacheFolder, CacheOptions};
use crate::units::{counted, lasting, megabytes};

#[derive(Args)]
pub(super) struct Command {
    #[command(subcommand)]
    action: Option<Action>,

    #[command(flatten)]
    cache: CacheOptions,
}

#[derive(Subcommand)]
enum Action {
    /// Remove everything from it
    Clear(CacheFolder),
}

/// The characters of a name that distinguish it from the others in a table.
const NAME_CHARS: usize = 12;

impl Command {
    pub(super) async fn run(self) -> Result<(), Error> {
        let cache = match &self.action {
            Some(Action::Clear(folder)) => folder.cache()?,
            None => self.cache.cache()?,
        };
        let cache = cache.ok_or_else(|| {
            Error::Usage("Which cache? Name its folder with --cache or N8N_LENS_CACHE, or use --cache auto for the default folder.".to_owned())
        })?;
        match self.action {
            None => show(&cache, &entries(&cache, Cache::list).await?),
            Some(Action::Clear(_)) => {
                let removed = entries(&cache, Cache::clear).await?;
                print(&format!(
                    "Removed {} ({}).",
                    counted(removed.len(), "execution", "executions"),
                    megabytes(size(&removed))
                ))
            }
        }
    }
}

/// Lists or removes the entries.
async fn entries(
    cache: &Cache,
    work: impl FnOnce(&Cache) -> std::io::Result<Vec<Listed>> + Send + 'static,
) -> Result<Vec<Listed>, Error> {
    let cache = cache.clone();
    blocking(move || work(&cache)).await.map_err(|error| {
        Error::Input(format!(
            "The cache cannot be used: {error}. Check the folder that --cache names, or name another one."
        ))
    })
}

fn show(cache: &Cache, entries: &[Listed]) -> Result<(), Error> {
    let settings = cache.settings();
    print(&format!("{}: {}", plain(&settings.folder.to_string_lossy()), state(cache, entries)))?;
    if entries.is_empty() {
        return Ok(());
    }
    let row = |entry: &Listed| {
        let name =
            entry.path.file_stem().map(|name| name.to_string_lossy().chars().take(NAME_CHARS).collect::<String>());
        let unused = entry.used.elapsed().unwrap_or_default();
        let used = format!("{} ago", lasting(unused.as_secs()));
        vec![Cell::new(name.unwrap_or_default()), Cell::new(megabytes(entry.bytes)), Cell::new(used)]
    };
    print_styled(&Styled(table(["NAME", "SIZE", "LAST USED"], entries.iter().rev().map(row), &[]))).map(drop)
}

/// How full the cache is: `3 executions, 12 MB of at most 2000 MB, each used for up to 24 h`.
pub(super) fn state(cache: &Cache, entries: &[Listed]) -> String {
    let settings = cache.settings();
    format!(
        "{}, {} of at most {}, each used for up to {}",
        counted(entries.len(), "execution", "executions"),
        megabytes(size(entries)),
        megabytes(settings.max_bytes),
        lasting(settings.ttl.as_secs())
    )
}

fn size(entries: &[Listed]) -> u64 {
    entries.iter().map(|entry| entry.bytes).sum()
}

/// One line of `n8n-lens check`.
///
/// # Errors
/// The cache cannot be used; the message says what to do.
pub(super) async fn check(cache: &Cache) -> Result<String, Error> {
    Ok(format!("ok: the cache holds {}.", state(cache, &entries(cache, Cache::list).await?)))
}
