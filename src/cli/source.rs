//! Where the command line reads executions from: n8n, a file, or standard input.

use super::Error;
use crate::config::{ReadingOptions, StoreOptions};
use crate::n8n::{Client, Settings};
use crate::tools::executions::{SavedExecution, SavedExecutions, Source, open};

/// An execution that is not in n8n, but in a file or on standard input. Digits are an id; a file with such a name is
/// `./1234`.
pub(super) fn saved(named: &str, store: &StoreOptions) -> Option<SavedExecution> {
    match named {
        "-" => Some(SavedExecution::standard_input()),
        id if is_id(id) || (store.is_named() && is_uuid(id)) => None,
        file => Some(SavedExecution::file(file)),
    }
}

/// n8n's API, and n8n's store if there is one: then the API is only used if it has an address and a key.
///
/// # Errors
/// The address or the key is missing or malformed, or there is no store where one is expected.
pub(super) fn of(reading: &ReadingOptions) -> Result<Source, Error> {
    let sources = &reading.sources;
    let store = sources.stored_executions()?;
    let needs_api = store.is_none() || sources.api.is_complete();
    let api = if needs_api { Some(client(sources.n8n()?, reading)?) } else { None };
    Ok(Source { api, store, saved: SavedExecutions::default() })
}

/// The same for a server whose requests bring their own keys.
///
/// # Errors
/// As [`of`], but the key is not required.
pub(super) fn of_requests(reading: &ReadingOptions) -> Result<Source, Error> {
    let sources = &reading.sources;
    let store = sources.stored_executions()?;
    let needs_api = store.is_none() || sources.api.has_address();
    let api = if needs_api { Some(client(sources.n8n_without_key()?, reading)?) } else { None };
    Ok(Source { api, store, saved: SavedExecutions::default() })
}

/// Only a saved execution, under this id.
///
/// # Errors
/// The file cannot be opened.
pub(super) fn of_file(path: &str, id: &str) -> Result<Source, Error> {
    open(path.as_ref())?;
    let saved = [(id.to_owned(), SavedExecution::file(path))].into_iter().collect();
    Ok(Source { api: None, store: None, saved })
}

/// A client, with a cache if one is configured.
fn client(settings: Settings, reading: &ReadingOptions) -> Result<Client, Error> {
    let client = Client::new(settings);
    Ok(match reading.caching()? {
        Some(caching) => client.with_cache(caching),
        None => client,
    })
}

pub(super) fn is_id(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether it is an id of n8n's engine v2.
fn is_uuid(text: &str) -> bool {
    uuid::Uuid::try_parse(text).is_ok()
}
