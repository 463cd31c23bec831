//! Where everything is kept: SQLite in a file, or PostgreSQL. The only place with SQL.
//!
//! A unit of work is a synchronous function over [`Work`], one transaction; it is stored whole or not at all,
//! and answered when it is stored. Each store has threads of its own for them.

mod access_tokens;
mod agents;
mod contexts;
mod credentials;
mod events;
mod executions;
mod fault;
mod handoffs;
mod health;
mod listing;
mod migrations;
mod overview;
mod postgres;
mod projects;
mod queue;
mod sessions;
mod sql;
mod sqlite;
mod tasks;
mod time;
mod words;

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub use access_tokens::{AccessToken, Scope};
pub use agents::{Agent, AgentStatus, AgentType};
pub use contexts::{Context, Latest};
pub use credentials::Credential;
pub use events::{Change, Entity};
pub use executions::{Execution, ExecutionStatus};
pub use fault::Fault;
pub use handoffs::Handoff;
pub use listing::Listing;
pub use overview::Pair;
pub use projects::{Project, ProjectStatus};
use queue::{PATIENCE, Queue, Takers, queue};
pub use sessions::{EndReason, Session};
use sql::Sql;
pub use tasks::{Priority, Task, TaskFilter, TaskStatus};
pub use time::Time;

/// How long an administrator waits.
const SLOW: Duration = Duration::from_secs(600);

/// Where a database is.
#[derive(Clone, Debug)]
pub enum Place {
    /// A file.
    File(PathBuf),
    /// A server: `postgres://…`, which may hold a password.
    Server(Address),
}

/// The address of a server; it does not print itself.
#[derive(Clone)]
pub struct Address(String);

impl std::fmt::Debug for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("postgres://…")
    }
}

impl Place {
    /// Takes a path or a `postgres://` address. Arguments in the configuration of a client see no shell, so
    /// `~`, `$HOME` and `${HOME}` at the beginning are this user's folder.
    ///
    /// # Errors
    /// A sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Some((scheme, rest)) = text.split_once("://") {
            return match scheme.to_ascii_lowercase().as_str() {
                "postgres" | "postgresql" => Ok(Self::Server(Address(format!("postgres://{rest}")))),
                // The rest may hold a password.
                scheme => Err(format!("--db is an address of {scheme:?}; it must be a file, or postgres://….")),
            };
        }
        // Other ways to write the address of a server hold its password, too.
        let written = text.to_ascii_lowercase();
        if ["postgres:", "postgresql:"].iter().any(|scheme| written.starts_with(scheme))
            || written.contains("password=")
        {
            return Err(
                "--db is no file; write the address of a server as postgres://user:password@host/name.".to_owned()
            );
        }
        let Some(rest) = ["~", "$HOME", "${HOME}"].iter().find_map(|home| text.strip_prefix(home)) else {
            return match text {
                "" => Err("--db is empty; it must be a file, or postgres://….".to_owned()),
                text => Ok(Self::File(text.into())),
            };
        };
        let home = dirs::home_dir().ok_or("This user has no home folder; give --db a whole path.")?;
        match rest.strip_prefix('/') {
            Some(rest) => Ok(Self::File(home.join(rest))),
            None => Err(format!("--db {text:?}: write a / behind the home folder.")),
        }
    }
}

/// What time it is.
#[derive(Clone)]
pub enum Clock {
    /// The database's own clock; that of a file is this machine's.
    Database,
    /// Somebody else's, ms since 1970: a test's.
    Given(Arc<dyn Fn() -> i64 + Send + Sync>),
}

impl Clock {
    fn now(&self) -> Time {
        match self {
            Self::Database => Time::of_this_machine(),
            Self::Given(now) => Time(now()),
        }
    }
}

/// A database, open.
pub struct Store {
    reads: Queue,
    writes: Queue,
    place: Place,
}

/// One transaction, and the time at which it happens. Its methods are in the file of the table that they
/// are about.
pub struct Work<'a> {
    sql: &'a mut dyn Sql,
    now: Time,
}

impl<'a> Work<'a> {
    fn new(sql: &'a mut dyn Sql, now: Time) -> Self {
        Self { sql, now }
    }

    /// What time it is in this transaction.
    pub fn now(&self) -> Time {
        self.now
    }
}

impl Store {
    /// Opens a database, and brings its tables up to date; `make` says whether a file that is not there is made.
    /// `connections` is how many units are done at once, at most; those of a file that write follow one another,
    /// and those that read are as many as there are processors.
    ///
    /// # Errors
    /// [`Fault`].
    pub fn open(place: &Place, make: bool, connections: usize, clock: &Clock) -> Result<Self, Fault> {
        let (reads, writes) = match place {
            Place::File(file) => open_file(file, make, connections, clock)?,
            Place::Server(Address(url)) => open_server(url, connections, clock)?,
        };
        Ok(Self { reads, writes, place: place.clone() })
    }

    /// Does a unit of work that changes nothing.
    ///
    /// # Errors
    /// The unit's, or a [`Fault`].
    pub async fn read<T, E>(&self, unit: impl FnMut(&mut Work<'_>) -> Result<T, E> + Send + 'static) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Fault> + Send + 'static,
    {
        self.reads.put(PATIENCE, unit).await
    }

    /// Does a unit of work. What it wrote is stored when this is answered; if it ends with an error, nothing is.
    ///
    /// # Errors
    /// The unit's, or a [`Fault`].
    pub async fn write<T, E>(&self, unit: impl FnMut(&mut Work<'_>) -> Result<T, E> + Send + 'static) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Fault> + Send + 'static,
    {
        self.writes.put(PATIENCE, unit).await
    }

    /// Does a unit of work that may take minutes, for an administrator.
    ///
    /// # Errors
    /// The unit's, or a [`Fault`].
    pub async fn write_slowly<T, E>(
        &self,
        unit: impl FnMut(&mut Work<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Fault> + Send + 'static,
    {
        self.writes.put(SLOW, unit).await
    }

    /// Where the database is.
    pub fn place(&self) -> &Place {
        &self.place
    }
}

fn open_file(file: &Path, make: bool, connections: usize, clock: &Clock) -> Result<(Queue, Queue), Fault> {
    let database = sqlite::Database::open(file, make)?;
    let (reads, readers) = queue();
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    for _ in 0..connections.min(processors) {
        work(database.reader(clock.clone())?, &readers)?;
    }
    let (writes, writers) = queue();
    work(database.writer(clock.clone())?, &writers)?;
    Ok((reads, writes))
}

fn open_server(url: &str, connections: usize, clock: &Clock) -> Result<(Queue, Queue), Fault> {
    let database = Arc::new(postgres::Database::open(url)?);
    let (units, workers) = queue();
    for _ in 0..connections {
        work(database.clone().worker(clock.clone()), &workers)?;
    }
    Ok((units.clone(), units))
}

fn work(worker: impl FnOnce(Takers) + Send + 'static, takers: &Takers) -> Result<(), Fault> {
    let takers = takers.clone();
    let begun = std::thread::Builder::new().name("coordination".to_owned()).spawn(move || worker(takers));
    begun.map(drop).map_err(|error| Fault::Unfit(format!("A thread for the database could not be started: {error}.")))
}
