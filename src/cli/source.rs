//! Where the command line reads an execution from: n8n, a file, or standard input.

use std::cell::Cell;
use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use super::terminal::{Styled, for_people, print_json, print_styled};
use super::{Error, as_arguments, progress, render};
use crate::config::Options;
use crate::execution::{self, StoredProjection};
use crate::n8n::{Client, ExecutionRequest, Settings};
use crate::toolkit::Arguments;
use crate::tools::executions::saved::{decompress, open};
use crate::tools::executions::{Origin, Read, SavedExecution, Source as Executions};
use crate::tools::{self, Tool};

/// Which execution a command reads, and how it prints.
#[derive(Args)]
pub(super) struct ExecutionArguments {
    /// An execution's id, a file with its body (may be gzip-compressed), or - for standard input
    execution: String,
    /// Request data above n8n's display limit
    #[arg(long)]
    ignore_data_size_limit: bool,
    /// Print the tool's JSON on a terminal, too
    #[arg(long)]
    pub(super) json: bool,
}

/// Where the body of an execution is.
pub(super) enum Source {
    /// In n8n: its API or its store.
    N8n { executions: Executions, request: ExecutionRequest },
    /// In a file.
    File(PathBuf),
    /// On standard input, which can be read only once.
    StandardInput { is_read: Cell<bool> },
}

impl ExecutionArguments {
    /// The checked arguments of the tool that this command runs: the execution, and `more`.
    ///
    /// # Errors
    /// An argument is out of range.
    pub(super) fn check(&self, tool: &Tool, more: Value) -> Result<Arguments, Error> {
        let mut arguments = as_arguments(more);
        // A file has no id to check.
        let is_named = is_id(&self.execution) || is_uuid(&self.execution);
        let id = if is_named { &self.execution } else { "0" };
        arguments.insert("id".to_owned(), json!(id));
        arguments.insert("ignoreDataSizeLimit".to_owned(), json!(self.ignore_data_size_limit));
        Ok(Arguments::check(tool.parameters, &[], arguments).map_err(tools::Error::from)?)
    }

    /// Prints the answer of a tool: for people as `render` shows it, otherwise as it is.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub(super) fn print(&self, answer: &str, origin: Origin, render: fn(&str) -> Styled) -> Result<(), Error> {
        match for_people(self.json) {
            true => print_styled(&render::sourced(render(answer), origin)),
            false => print_json(answer),
        }
        .map(drop)
    }

    /// Where the body is. Digits are an id; a file with such a name is `./1234`.
    ///
    /// # Errors
    /// It is in n8n, and the address or the key is missing or malformed.
    pub(super) fn source(&self, options: &Options) -> Result<Source, Error> {
        self.source_of(&self.execution, options)
    }

    /// Where the body of another execution is.
    ///
    /// # Errors
    /// As [`source`](Self::source).
    pub(super) fn source_of(&self, execution: &str, options: &Options) -> Result<Source, Error> {
        Ok(match execution {
            "-" => Source::StandardInput { is_read: Cell::new(false) },
            id if is_id(id) || (options.has_store() && is_uuid(id)) => Source::N8n {
                executions: of(options)?,
                request: ExecutionRequest { id: id.to_owned(), ignore_size_limit: self.ignore_data_size_limit },
            },
            file => Source::File(file.into()),
        })
    }
}

/// n8n's API, and n8n's store if there is one: then the API is used only if it has an address and a key.
///
/// # Errors
/// The address or the key is missing or malformed, or there is no store where one is expected.
pub(super) fn of(options: &Options) -> Result<Executions, Error> {
    let store = options.stored_executions()?;
    let needs_api = store.is_none() || options.has_api();
    let api = if needs_api { Some(client(options.n8n()?, options)?) } else { None };
    Ok(Executions { api, store, saved: None })
}

/// The same for a server whose requests bring their own keys.
///
/// # Errors
/// As [`of`], but the key is not required.
pub(super) fn of_requests(options: &Options) -> Result<Executions, Error> {
    let store = options.stored_executions()?;
    let needs_api = store.is_none() || options.has_address();
    let api = if needs_api { Some(client(options.n8n_without_key()?, options)?) } else { None };
    Ok(Executions { api, store, saved: None })
}

/// A saved execution alone.
///
/// # Errors
/// The file cannot be opened.
pub(super) fn of_file(path: &str) -> Result<Executions, Error> {
    Ok(Executions { api: None, store: None, saved: Some(SavedExecution::new(path.into())?) })
}

/// A client with a cache, if there is one.
fn client(settings: Settings, options: &Options) -> Result<Client, Error> {
    let client = Client::new(settings);
    Ok(match options.caching()? {
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

impl Source {
    /// The id, if the execution was named by it.
    pub(super) fn id(&self) -> Option<&str> {
        match self {
            Self::N8n { request, .. } => Some(&request.id),
            Self::File(_) | Self::StandardInput { .. } => None,
        }
    }

    /// Whether the execution can be read only once.
    pub(super) fn is_read_once(&self) -> bool {
        matches!(self, Self::StandardInput { .. })
    }

    /// Reads the execution; on a terminal, with a progress bar during the download.
    ///
    /// # Errors
    /// The body cannot be read, is incomplete, or is not an execution.
    pub(super) async fn read<V, P>(&self, projection: &P) -> Result<Read<V>, Error>
    where
        P: StoredProjection<View = Result<V, execution::Error>>,
    {
        let read = match self {
            Self::N8n { executions, request } => {
                let (progress, bar) = progress::bar();
                let read = bar.around(executions.read(request, projection, &progress)).await?;
                return Ok(Read { view: read.view.map_err(tools::Error::from)?, origin: read.origin });
            }
            Self::File(path) => projection.read_from(decompress(open(path)?)?),
            Self::StandardInput { is_read } => {
                if is_read.replace(true) {
                    return Err(Error::Input(
                        "The input of this node cannot be read in one pass. Save the body to a file and pass the file instead of -."
                            .to_owned(),
                    ));
                }
                projection.read_from(decompress(std::io::stdin())?)
            }
        };
        Ok(Read { view: read.map_err(tools::Error::from)?, origin: Origin::Only })
    }
}
