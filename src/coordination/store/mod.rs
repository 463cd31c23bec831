//! The database: SQLite in a file, or PostgreSQL. The only module with SQL.
//!
//! # Units of work
//!
//! A unit of work is a synchronous function over [`Work`], which is one transaction. It is passed to a thread of
//! the store and answered once its outcome is known:
//!
//! - It is stored completely or not at all. If it returns an error or panics, none of it is stored.
//! - An answer means that it has been committed durably.
//! - It can run more than once, because a transaction that conflicts with another one is retried. It must have no
//!   effect other than through its [`Work`].
//! - Once begun it runs to its end, even if the caller has been cancelled, so that no transaction stays open.
//!   A unit whose caller is gone before it begins is skipped.
//! - All queries of a read-only unit on SQLite see the same snapshot. Units that change the same project run one
//!   after another, on both databases.
//!
//! # The two databases
//!
//! - **SQLite**: one writer thread per process and up to one reader per core. A lock on a file next to the
//!   database decides which process writes, and is released by the system when a process dies. Up to 64 waiting
//!   units share one commit; each has its own savepoint.
//! - **PostgreSQL**: a pool of connections, each with its own thread. A unit locks the row of its project.
//!   Statements are limited to 10 s, waiting for a lock to 5 s, and an idle connection is closed after 30 s.

mod access_tokens;
mod agents;
mod collection;
mod contexts;
mod credentials;
mod error;
mod events;
mod executions;
mod handoffs;
mod health;
mod migrations;
mod open_files;
mod overview;
#[cfg(feature = "postgres")]
mod postgres;
mod projects;
mod queue;
mod row;
mod sessions;
mod sql;
mod sqlite;
mod tasks;
mod time;

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub use access_tokens::{AccessToken, Scope};
pub use agents::{Agent, AgentStatus, AgentType};
pub use collection::Collection;
pub(crate) use contexts::NoteOrigin;
pub use contexts::{Context, LatestContext};
pub use credentials::Credential;
pub use error::StoreError;
pub use events::{Entity, Event};
pub use executions::{Execution, ExecutionStatus};
pub use handoffs::Handoff;
pub use overview::AssignedAgent;
pub use projects::{Project, ProjectStatus};
use queue::{ANSWER_TIMEOUT, JobQueue, JobReceiver, job_queue};
pub use sessions::{EndReason, Session};
use sql::Sql;
pub use tasks::{Priority, Task, TaskFilter, TaskStatus};
pub use time::Time;

/// How long an administrator's slow unit of work may take: an import or an integrity check.
const ADMIN_TIMEOUT: Duration = Duration::from_secs(600);

/// Where the database is.
#[derive(Clone, Debug)]
pub enum DatabaseLocation {
    /// An SQLite file.
    Sqlite(PathBuf),
    /// A PostgreSQL server: `postgres://…`, which can contain a password.
    Postgres(PostgresUrl),
}

/// The URL of a PostgreSQL server. `Debug` leaves out everything after the scheme.
#[derive(Clone)]
pub struct PostgresUrl(String);

impl std::fmt::Debug for PostgresUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("postgres://…")
    }
}

impl DatabaseLocation {
    /// Parses a path or a `postgres://` URL. No shell expands the arguments in an MCP client's configuration, so
    /// a leading `~`, `$HOME` or `${HOME}` is replaced by the user's home folder here.
    ///
    /// # Errors
    /// A sentence for the user, if the text is empty, is a URL of another scheme or another form of PostgreSQL
    /// address, or refers to a home folder that is unknown. It quotes nothing that could be a password.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Some((scheme, rest)) = text.split_once("://") {
            return match scheme.to_ascii_lowercase().as_str() {
                "postgres" | "postgresql" => Ok(Self::Postgres(PostgresUrl(format!("postgres://{rest}")))),
                // The rest can contain a password.
                scheme => Err(format!("--db has the scheme {scheme:?}; it must be a file or postgres://….")),
            };
        }
        // Other forms of PostgreSQL addresses contain a password, too.
        let written = text.to_ascii_lowercase();
        if ["postgres:", "postgresql:"].iter().any(|scheme| written.starts_with(scheme))
            || written.contains("password=")
        {
            return Err(
                "--db is not a file path; write a PostgreSQL address as postgres://user:password@host/name.".to_owned()
            );
        }
        let Some(rest) = ["~", "$HOME", "${HOME}"].iter().find_map(|home| text.strip_prefix(home)) else {
            return match text {
                "" => Err("--db is empty; it must be a file or postgres://….".to_owned()),
                text => Ok(Self::Sqlite(text.into())),
            };
        };
        let home = dirs::home_dir().ok_or("The home folder of this user is unknown; give --db an absolute path.")?;
        match rest.strip_prefix(std::path::is_separator) {
            Some(rest) => Ok(Self::Sqlite(home.join(rest))),
            None => Err(format!("--db {text:?}: put a / after the home folder.")),
        }
    }
}

/// The source of the current time.
#[derive(Clone)]
pub enum Clock {
    /// The clock of the database server; for SQLite, that of this machine.
    Database,
    /// A function that returns milliseconds since 1970, for tests.
    Custom(Arc<dyn Fn() -> i64 + Send + Sync>),
}

impl Clock {
    fn now(&self) -> Time {
        match self {
            Self::Database => Time::system_now(),
            Self::Custom(now) => Time(now()),
        }
    }
}

/// An open database.
pub struct Store {
    reads: JobQueue,
    writes: JobQueue,
    location: DatabaseLocation,
}

/// One transaction, and the time at which it happens. Its methods are in the files of the tables that they use.
pub struct Work<'a> {
    sql: &'a mut dyn Sql,
    now: Time,
}

impl<'a> Work<'a> {
    fn new(sql: &'a mut dyn Sql, now: Time) -> Self {
        Self { sql, now }
    }

    /// The time of this transaction; it is the same throughout.
    pub fn now(&self) -> Time {
        self.now
    }
}

impl Store {
    /// Opens a database and brings its tables up to date. It blocks, possibly without limit while another process
    /// holds the lock of the file.
    ///
    /// `create` says whether to create a missing SQLite file. At most `connections` units of work run at once; on
    /// SQLite, writes run one at a time, and reads at most one per core.
    ///
    /// # Errors
    /// [`StoreError::Unusable`] if the database is missing, not ours, too new, on a network file system, or refuses
    /// the connection; [`StoreError::Unreachable`] if the file or the server cannot be reached.
    pub fn open(
        location: &DatabaseLocation,
        create: bool,
        connections: usize,
        clock: &Clock,
    ) -> Result<Self, StoreError> {
        let (reads, writes) = match location {
            DatabaseLocation::Sqlite(file) => open_sqlite(file, create, connections, clock)?,
            DatabaseLocation::Postgres(PostgresUrl(url)) => open_postgres(url, connections, clock)?,
        };
        Ok(Self { reads, writes, location: location.clone() })
    }

    /// Runs a unit of work that changes nothing.
    ///
    /// # Errors
    /// The unit's own error, or a [`StoreError`] if the database fails or does not answer within 15 seconds.
    pub async fn read<T, E>(&self, unit: impl FnMut(&mut Work<'_>) -> Result<T, E> + Send + 'static) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.reads.submit(ANSWER_TIMEOUT, unit).await
    }

    /// Runs a unit of work. When this returns `Ok`, its changes are stored durably.
    ///
    /// # Errors
    /// The unit's own error, or a [`StoreError`] if the database fails or does not answer within 15 seconds. Nothing
    /// is stored then, except that after [`StoreError::Timeout`] and [`StoreError::OutcomeUnknown`] it may be.
    pub async fn write<T, E>(&self, unit: impl FnMut(&mut Work<'_>) -> Result<T, E> + Send + 'static) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.writes.submit(ANSWER_TIMEOUT, unit).await
    }

    /// Like [`write`](Self::write), but waits up to 10 minutes, for an administrator.
    ///
    /// # Errors
    /// As for [`write`](Self::write).
    pub async fn write_slowly<T, E>(
        &self,
        unit: impl FnMut(&mut Work<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.writes.submit(ADMIN_TIMEOUT, unit).await
    }

    /// Where the database is.
    pub fn location(&self) -> &DatabaseLocation {
        &self.location
    }
}

fn open_sqlite(
    file: &Path,
    create: bool,
    connections: usize,
    clock: &Clock,
) -> Result<(JobQueue, JobQueue), StoreError> {
    let database = sqlite::Database::open(file, create)?;
    let (reads, readers) = job_queue();
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    for _ in 0..connections.min(processors) {
        spawn_worker(database.reader(clock.clone())?, &readers)?;
    }
    let (writes, writers) = job_queue();
    spawn_worker(database.writer(clock.clone()), &writers)?;
    Ok((reads, writes))
}

#[cfg(feature = "postgres")]
fn open_postgres(url: &str, connections: usize, clock: &Clock) -> Result<(JobQueue, JobQueue), StoreError> {
    let database = Arc::new(postgres::Database::open(url)?);
    let (queue, jobs) = job_queue();
    for _ in 0..connections {
        spawn_worker(database.clone().worker(clock.clone()), &jobs)?;
    }
    Ok((queue.clone(), queue))
}

#[cfg(not(feature = "postgres"))]
fn open_postgres(_url: &str, _connections: usize, _clock: &Clock) -> Result<(JobQueue, JobQueue), StoreError> {
    let reason =
        "This n8n-lens was built without PostgreSQL. Use an SQLite file, or build it with the feature `postgres`.";
    Err(StoreError::Unusable(reason.to_owned()))
}

fn spawn_worker(worker: impl FnOnce(JobReceiver) + Send + 'static, jobs: &JobReceiver) -> Result<(), StoreError> {
    let jobs = jobs.clone();
    let spawned = std::thread::Builder::new().name("coordination".to_owned()).spawn(move || worker(jobs));
    spawned
        .map(drop)
        .map_err(|error| StoreError::Unusable(format!("A thread for the database could not be started: {error}.")))
}
