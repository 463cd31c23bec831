//! n8n's own store: the database and the files in which n8n keeps executions, read without n8n. It does not know what an
//! execution looks like: it returns the row, the workflow, and the bytes of the run data at any position.
//!
//! | file | knows |
//! |---|---|
//! | [`locate`](self), `variables` | what `--store` names: n8n's own variables, a folder, a file, a URL |
//! | `sql`, `row` | the tables of executions, in both dialects, whatever the version of n8n; rows as members of the API's body |
//! | `sqlite` | journal modes, and how to leave no trace |
//! | `postgres` | prefixes and streams of one field, TLS, passwords |
//! | `bundle` | the files of the storage mode `filesystem` |
//! | `spool` | a text that is fetched only as far as it is read |
//! | `walk` | visits many executions, newest first, with a clock |
//! | `report` | what `n8n-lens check` says |
//!
//! # Invariants
//!
//! - Nothing is written, created or locked for longer than a moment, and no handle outlives a question.
//! - No table is opened except `execution_entity`, `execution_data` and `migrations`; never credentials or users.
//! - No text is ever whole in memory. A spool has no name and is readable by this user only.
//! - The store has no users and no scopes: every caller can read the executions of all workflows.
//!
//! Facts about n8n are from its source (`packages/@n8n/db`, `packages/@n8n/config`, `packages/cli/src/executions`) and were
//! verified on n8n 1.123 and 2.41.

mod bundle;
mod error;
mod locate;
#[cfg(feature = "postgres")]
mod postgres;
mod report;
mod row;
mod session;
mod spool;
mod sql;
mod sqlite;
mod variables;
mod walk;

use std::cell::RefCell;
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

pub use error::Error;
pub use report::{Finding, Report};
pub use row::Row;
pub use sql::Query;
pub use variables::Variables;
pub use walk::{Unread, Visit, Visitor, Walk};

use self::session::{Contents, Session};
use crate::json::flatted::Flatted;
use crate::json::{Cursor, Keep, PrunedReader, Pruner, ReadAt, first_member};

/// n8n's own store. Cheap to clone; nothing is open between two questions. A question whose token is cancelled fails
/// while it waits, and at its next read.
#[derive(Clone)]
pub struct Store(Arc<Shared>);

struct Shared {
    backend: Backend,
    storage: Vec<PathBuf>,
    with_deleted: bool,
}

/// The kinds of stores.
enum Backend {
    Sqlite(sqlite::Database),
    #[cfg(feature = "postgres")]
    Postgres(Box<postgres::Database>),
    /// One bundle, and the ids of the workflow and the execution, if they are in its path.
    Bundle {
        file: PathBuf,
        ids: Option<(String, String)>,
    },
}

/// How to open a store. It has no `Debug`: the location can contain a password.
#[derive(Clone, Default)]
pub struct Settings {
    /// `auto`, a folder, a file, or a `postgres://` URL.
    pub location: String,
    /// n8n's own variables.
    pub variables: Variables,
    /// Whether executions are shown that n8n has soft-deleted.
    pub with_deleted: bool,
    /// Where the spool may be; the system's folder for temporary files by default.
    pub spool: Option<PathBuf>,
    /// How long the database may take to answer, 60 s by default; also how long to wait for its lock, but 5 s at most.
    pub idle_timeout: Option<Duration>,
    /// How long a reader may hold up n8n's commits to a rollback journal, if that is to be less than 200 ms.
    pub slice: Option<Duration>,
}

/// How a database is read, whichever it is.
#[derive(Clone, Debug)]
struct ReadSettings {
    /// The prefix of n8n's tables.
    prefix: String,
    spool: Option<PathBuf>,
    /// How long a statement, or the next row of it, may take.
    reply_timeout: Duration,
    lock_timeout: Duration,
    slice: Duration,
}

/// How long a reader may hold up n8n's commits.
const SLICE: Duration = Duration::from_millis(200);

/// How long a database may take to answer. A text of 500 MB takes PostgreSQL two seconds.
const REPLY_TIMEOUT: Duration = Duration::from_secs(60);

/// How long another process may lock a database.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// One execution in the store, while it is read.
pub struct Execution<'a> {
    /// Its row.
    pub row: &'a Row,
    /// The members of the public API's body, as one JSON object, without `data` and `workflowData`.
    pub header: &'a [u8],
    /// The workflow that was executed, as JSON.
    pub workflow: Box<dyn ReadAt + 'a>,
    /// The run data. n8n's commits may wait until it is dropped.
    pub data: Flatted<'a>,
}

/// A row of a list.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The row.
    pub row: Row,
    /// The name of the workflow when it was executed.
    pub workflow_name: Option<String>,
}

impl Store {
    /// Finds the store; connects to nothing yet.
    ///
    /// # Errors
    /// A sentence for the person who starts n8n-lens, if there is nothing at this place.
    pub fn find(settings: &Settings) -> Result<Self, String> {
        if let Some(folder) = settings.spool.as_deref()
            && !folder.is_dir()
        {
            return Err(format!("{} is not a folder. Check --spool-dir.", folder.display()));
        }
        let reply_timeout = settings.idle_timeout.unwrap_or(REPLY_TIMEOUT);
        let reading = ReadSettings {
            prefix: settings.variables.table_prefix()?,
            spool: settings.spool.clone(),
            reply_timeout,
            lock_timeout: reply_timeout.min(LOCK_TIMEOUT),
            slice: settings.slice.map_or(SLICE, |slice| slice.min(SLICE)),
        };
        let locate::Found { backend, storage } = locate::find(&settings.location, &settings.variables, reading)?;
        Ok(Self(Arc::new(Shared { backend, storage, with_deleted: settings.with_deleted })))
    }

    /// Reads an execution. `read` may run twice, if n8n starts or a connection breaks in the middle; what it returns
    /// counts only if everything that it read was complete.
    ///
    /// # Errors
    /// There is no such execution, or the store cannot return it.
    pub fn read<T>(
        &self,
        id: &str,
        cancel: &CancellationToken,
        mut read: impl FnMut(Execution<'_>) -> T,
    ) -> Result<T, Error> {
        if let Backend::Bundle { file, ids } = &self.0.backend {
            let row = row_of_bundle(id, ids.as_ref())?;
            let contents = bundle::open(std::slice::from_ref(file), id, cancel)?;
            return finish(&row, contents, Limit { cancel, end: None }, &mut read);
        }
        let number = number(id)?;
        self.ask(cancel, &mut |session| {
            let row = session::execution(session, number)?.ok_or_else(|| Error::NotFound(id.to_owned()))?;
            if row.is_deleted() && !self.0.with_deleted {
                return Err(Error::Deleted(id.to_owned()));
            }
            self.read_row(session, &row, Limit { cancel, end: None }, &mut read)
        })
    }

    /// A page of executions, newest first unless asked otherwise. Names of workflows are those of their last execution in the page's rows.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn list(&self, query: &Query, cancel: &CancellationToken) -> Result<Vec<Listed>, Error> {
        if let Backend::Bundle { file, ids } = &self.0.backend {
            return self.list_bundle(file, ids.as_ref(), query, cancel);
        }
        self.ask(cancel, &mut |session| {
            let rows = session::list(session, query, self.0.with_deleted)?;
            let listed = rows.into_iter().map(|(row, name)| {
                let workflow_name = name.or_else(|| self.name_in_bundle(&row, cancel));
                Listed { row, workflow_name }
            });
            Ok(listed.collect())
        })
    }

    /// How many executions there are, whatever the limit of the query.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn count(&self, query: &Query, cancel: &CancellationToken) -> Result<u64, Error> {
        if let Backend::Bundle { file, ids } = &self.0.backend {
            return Ok(self.list_bundle(file, ids.as_ref(), query, cancel)?.len() as u64);
        }
        self.ask(cancel, &mut |session| session::count(session, query, self.0.with_deleted))
    }

    /// When the last of the executions started, whatever the limit of the query; `None` if there are none.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn latest_start(&self, query: &Query, cancel: &CancellationToken) -> Result<Option<String>, Error> {
        if let Backend::Bundle { .. } = &self.0.backend {
            return Ok(None);
        }
        self.ask(cancel, &mut |session| session::latest_start(session, query, self.0.with_deleted))
    }

    /// Whether executions are shown that n8n has soft-deleted.
    pub fn shows_deleted(&self) -> bool {
        self.0.with_deleted
    }

    /// What kind of store it is, and what is in it.
    ///
    /// # Errors
    /// It cannot be read at all.
    pub fn report(&self) -> Result<Report, Error> {
        report::of(self)
    }

    fn ask<T>(
        &self,
        cancel: &CancellationToken,
        work: &mut dyn FnMut(&mut dyn Session) -> Result<T, Error>,
    ) -> Result<T, Error> {
        match &self.0.backend {
            Backend::Sqlite(database) => database.ask(cancel, work),
            #[cfg(feature = "postgres")]
            Backend::Postgres(database) => database.ask(cancel, work),
            Backend::Bundle { .. } => Err(Error::NotSqlite),
        }
    }

    fn read_row<T>(
        &self,
        session: &mut dyn Session,
        row: &Row,
        limit: Limit<'_>,
        read: &mut dyn FnMut(Execution<'_>) -> T,
    ) -> Result<T, Error> {
        let id = row.id();
        let is_abandoned = row.is_running() && session.is_n8n_running() == Some(false);
        let contents = match row.location() {
            row::DataLocation::Database => session.contents(row)?.ok_or_else(|| Error::NoData(id.to_owned()))?,
            row::DataLocation::Disk => bundle::open(&self.bundles(row), id, limit.cancel)?,
            row::DataLocation::Elsewhere(place) => return Err(Error::Elsewhere { id: id.to_owned(), place }),
        };
        match is_abandoned {
            true => finish(&row.abandoned(), contents, limit, read),
            false => finish(row, contents, limit, read),
        }
    }

    /// Where the bundle of an execution may be.
    fn bundles(&self, row: &Row) -> Vec<PathBuf> {
        let path = |storage: &PathBuf| bundle::path(storage, row.workflow_id(), row.id());
        self.0.storage.iter().filter_map(path).collect()
    }

    fn name_in_bundle(&self, row: &Row, cancel: &CancellationToken) -> Option<String> {
        let is_on_disk = row.location() == row::DataLocation::Disk;
        let workflow = is_on_disk.then(|| bundle::workflow(&self.bundles(row), row.id(), cancel).ok())??;
        name_of(workflow)
    }

    /// A list of the one execution; empty if a filter excludes it, or asks for what a bundle does not show.
    fn list_bundle(
        &self,
        file: &Path,
        ids: Option<&(String, String)>,
        query: &Query,
        cancel: &CancellationToken,
    ) -> Result<Vec<Listed>, Error> {
        let workflow_id = ids.map(|(workflow_id, _)| workflow_id.as_str());
        let id = ids.map_or(UNKNOWN_ID, |(_, id)| id);
        let is_other = query.workflow_id.is_some() && query.workflow_id.as_deref() != workflow_id;
        let is_outside =
            |id: i64| query.below.is_some_and(|below| id >= below) || query.above.is_some_and(|above| id <= above);
        let is_after = id.parse().is_ok_and(is_outside);
        let is_filtered = query.status.is_some() || query.started_after.is_some() || query.started_before.is_some();
        if is_other || is_after || is_filtered || query.deleted {
            return Ok(Vec::new());
        }
        let workflow = bundle::workflow(&[file.to_owned()], id, cancel)?;
        Ok(vec![Listed { row: Row::of_bundle(id, workflow_id), workflow_name: name_of(workflow) }])
    }
}

/// Reads an execution whose parts are open. An error of the store takes precedence over what `read` returns.
fn finish<T>(
    row: &Row,
    contents: Contents<'_>,
    limit: Limit<'_>,
    read: &mut dyn FnMut(Execution<'_>) -> T,
) -> Result<T, Error> {
    let failure = RefCell::new(None);
    let watched = |text| Box::new(Watched { text: Cancellable { text, limit }, failure: &failure });
    let (header, workflow, text) = (row.header(), watched(contents.workflow), watched(contents.data));
    let data = if contents.is_escaped { Flatted::escaped(text) } else { Flatted::new(text) };
    let done = read(Execution { row, header: &header, workflow, data });
    failure.take().map_or(Ok(done), Err)
}

/// How long a text is read: until the question is cancelled, or until this moment.
#[derive(Clone, Copy)]
struct Limit<'a> {
    cancel: &'a CancellationToken,
    end: Option<Instant>,
}

/// A text that is read only as long as it may be.
struct Cancellable<'a, T> {
    text: T,
    limit: Limit<'a>,
}

impl<T: ReadAt> ReadAt for Cancellable<'_, T> {
    fn len(&self) -> u64 {
        self.text.len()
    }

    fn read_at(&mut self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        if self.limit.cancel.is_cancelled() {
            return Err(Error::Cancelled.into());
        }
        if self.limit.end.is_some_and(|end| Instant::now() >= end) {
            return Err(Error::OutOfTime.into());
        }
        self.text.read_at(position, buffer)
    }

    fn expect_all(&mut self) {
        self.text.expect_all();
    }
}

/// A text that remembers why it could not be read: the reader's own error has lost the type.
struct Watched<'a> {
    text: Cancellable<'a, Box<dyn ReadAt + 'a>>,
    failure: &'a RefCell<Option<Error>>,
}

impl ReadAt for Watched<'_> {
    fn len(&self) -> u64 {
        self.text.len()
    }

    fn read_at(&mut self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.text.read_at(position, buffer).map_err(|error| {
            let error = Error::from(error);
            let message = error.to_string();
            self.failure.borrow_mut().get_or_insert(error);
            io::Error::other(message)
        })
    }

    fn expect_all(&mut self) {
        self.text.expect_all();
    }
}

/// The id as the database stores it.
fn number(id: &str) -> Result<i64, Error> {
    match id.parse() {
        Ok(number) => Ok(number),
        Err(_) if uuid::Uuid::try_parse(id).is_ok() => Err(Error::EngineV2(id.to_owned())),
        Err(_) => Err(Error::NotFound(id.to_owned())),
    }
}

/// The row of a single bundle, with the id in its path; any id matches if its path has none.
fn row_of_bundle(id: &str, ids: Option<&(String, String)>) -> Result<Row, Error> {
    match ids {
        Some((_, known)) if known != id => Err(Error::NotFound(id.to_owned())),
        Some((workflow_id, _)) => Ok(Row::of_bundle(id, Some(workflow_id))),
        None => Ok(Row::of_bundle(id, None)),
    }
}

/// The id under which a bundle is listed whose path has none; it can be read under any.
const UNKNOWN_ID: &str = "0";

const NAME: Keep = Keep::Members(&[("name", Keep::Whole)]);

/// The name of a workflow, if it has one.
fn name_of(workflow: impl BufRead) -> Option<String> {
    let cursor = Cursor::over(PrunedReader::new(workflow, Pruner::new(NAME, 0..0)));
    first_member(cursor, "name", Cursor::name)
}
