//! SQLite: one writer per process, which commits several units of work at once, and read-only connections.
//!
//! Each agent can have its own process on the same file, and SQLite's busy handler polls: waiting is unfair and
//! can starve a process. So a writer first locks a file next to the database. The operating system passes that
//! lock on, and releases it when a process dies.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::open_files::{OpenFiles, with_suffix};
use super::queue::{Job, JobReceiver};
use super::sql::{Cell, Row, Sql, SqlValue};
use super::{Clock, StoreError, Work, migrations};
use crate::platform::{self, is_on_network_file_system, private_permissions};

/// The maximum number of units per commit. It bounds how long the units after them wait.
const MAX_GROUP: usize = 64;

/// SQLite's busy timeout while holding the lock: only other programs can conflict then.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Older versions can corrupt a file that two connections write (the WAL-reset bug of 3.7.0 to 3.51.2).
const MIN_VERSION: i32 = 3_051_003;

/// The largest value or row that a statement may handle, bytes: texts are at most 32 KiB.
const MAX_VALUE_BYTES: i32 = 8 * 1024 * 1024;

/// The application id in the header of our files: "n8nL".
const APPLICATION_ID: i32 = 0x6e38_6e4c;

/// The number of cached statements per connection: more than exist.
const STATEMENT_CACHE_SIZE: usize = 256;

/// A database file.
pub(super) struct Database {
    file: PathBuf,
    lock: File,
    /// The writer's connection. It keeps the database's files in place while other connections come and go.
    connection: Connection,
    files: OpenFiles,
}

impl Database {
    /// Opens a file and brings it up to date. `create` says whether to create a missing one.
    pub(super) fn open(file: &Path, create: bool) -> Result<Self, StoreError> {
        if rusqlite::version_number() < MIN_VERSION {
            return Err(StoreError::Unusable(format!(
                "SQLite {} can corrupt a file with several writers; version 3.51.3 or later is required.",
                rusqlite::version()
            )));
        }
        let unusable = |error: std::io::Error| {
            StoreError::Unusable(format!("The database {} cannot be opened: {error}.", file.display()))
        };
        if !file.exists() && !create {
            return Err(StoreError::Unusable(format!("The database {} does not exist. Check --db.", file.display())));
        }
        refuse_other_files(file)?;
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder).map_err(unusable)?;
        }
        create_private(file).map_err(unusable)?;
        refuse_network_file_system(file)?;
        // SQLite follows links, too: its other files are in the folder of the link's target.
        let resolved = file.canonicalize().map_err(unusable)?;
        let lock = open_private(&with_suffix(&resolved, ".lock")).map_err(unusable)?;
        let mut connection = connect(file, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        with_lock(&lock, || {
            claim(file, &connection)?;
            // The journal mode is stored in the file. Changing it requires that there are no readers.
            connection.pragma_update(None, "journal_mode", "WAL").map_err(store_error)?;
            migrations::sqlite(&mut connection)
        })?;
        Ok(Self { file: file.to_owned(), lock, connection, files: OpenFiles::of(file, &resolved)? })
    }

    /// The body of the writer thread: runs until the store is dropped.
    pub(super) fn writer(self, clock: Clock) -> impl FnOnce(JobReceiver) + Send {
        let Self { lock, connection, files, .. } = self;
        move |jobs: JobReceiver| {
            while let Some(first) = jobs.next() {
                let mut group = vec![first];
                let outcome = with_lock(&lock, || {
                    files.check()?;
                    commit_group(&connection, &clock, &mut group, &jobs)?;
                    // Commits to other files than these are not acknowledged.
                    files.check()
                });
                for job in group {
                    job.answer(outcome.clone());
                }
            }
        }
    }

    /// The body of a reader thread: runs until the store is dropped.
    pub(super) fn reader(&self, clock: Clock) -> Result<impl FnOnce(JobReceiver) + Send + use<>, StoreError> {
        let connection = connect(&self.file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let files = self.files.clone();
        Ok(move |jobs: JobReceiver| {
            while let Some(mut job) = jobs.next() {
                // In one transaction, all queries of a unit see the same snapshot.
                let outcome = files.check().and_then(|()| run(&connection, "BEGIN")).map(|()| {
                    job.run(&mut Work::new(&mut Transaction(&connection), clock.now()));
                });
                if outcome.is_ok() {
                    let _ = run(&connection, "ROLLBACK");
                }
                job.answer(outcome);
            }
        })
    }
}

fn connect(file: &Path, access: OpenFlags) -> Result<Connection, StoreError> {
    let connection =
        Connection::open_with_flags(file, access | OpenFlags::SQLITE_OPEN_NO_MUTEX).map_err(store_error)?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(store_error)?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE_SIZE);
    // Otherwise SQLite plans a statement again whenever its parameter values change.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(store_error)?;
    distrust(&connection).map_err(store_error)?;
    for (name, value) in [("foreign_keys", "ON"), ("synchronous", "FULL"), ("mmap_size", "0")] {
        connection.pragma_update(None, name, value).map_err(store_error)?;
    }
    Ok(connection)
}

/// A file that claims to be ours can be anyone's: no view in it is read, and nothing in its schema is trusted.
fn distrust(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)?;
    connection.pragma_update(None, "cell_size_check", true)
}

/// Runs `work` while no other process can write.
fn with_lock<T>(lock: &File, work: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
    lock.lock().map_err(|error| StoreError::Unreachable(error.to_string()))?;
    let result = work();
    // If this fails, the lock is released when the file is closed.
    let _ = lock.unlock();
    result
}

/// Runs the first unit of a group and all units that are waiting by then, with one commit. The group grows by
/// those. If the commit fails, it fails for all of them.
fn commit_group(
    connection: &Connection,
    clock: &Clock,
    group: &mut Vec<Box<dyn Job>>,
    jobs: &JobReceiver,
) -> Result<(), StoreError> {
    run(connection, "BEGIN IMMEDIATE")?;
    let mut next = 0;
    while let Some(job) = group.get_mut(next) {
        if let Err(error) = run_unit(connection, clock, job.as_mut()) {
            let _ = run(connection, "ROLLBACK");
            return Err(error);
        }
        next += 1;
        if next < MAX_GROUP {
            group.extend(jobs.try_next());
        }
    }
    run(connection, "COMMIT").inspect_err(|_| {
        let _ = run(connection, "ROLLBACK");
    })
}

/// Runs one unit. If it fails, its changes are rolled back, and only those.
fn run_unit(connection: &Connection, clock: &Clock, job: &mut dyn Job) -> Result<(), StoreError> {
    run(connection, "SAVEPOINT unit")?;
    if !job.run(&mut Work::new(&mut Transaction(connection), clock.now())) {
        run(connection, "ROLLBACK TO unit")?;
    }
    run(connection, "RELEASE unit")
}

fn run(connection: &Connection, statement: &'static str) -> Result<(), StoreError> {
    connection
        .prepare_cached(statement)
        .and_then(|mut statement| statement.raw_execute())
        .map(drop)
        .map_err(store_error)
}

struct Transaction<'a>(&'a Connection);

impl Sql for Transaction<'_> {
    fn query(&mut self, statement: &str, values: &[SqlValue<'_>]) -> Result<Vec<Row>, StoreError> {
        let mut statement = self.0.prepare_cached(statement).map_err(store_error)?;
        let columns = statement.column_count();
        let mut rows = statement.query(rusqlite::params_from_iter(values)).map_err(store_error)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().map_err(store_error)? {
            let cells = (0..columns).map(|column| row.get_ref(column).map(cell).map_err(store_error));
            found.push(Row::new(cells.collect::<Result<_, _>>()?));
        }
        Ok(found)
    }

    fn execute(&mut self, statement: &str, values: &[SqlValue<'_>]) -> Result<u64, StoreError> {
        let mut statement = self.0.prepare_cached(statement).map_err(store_error)?;
        let changed = statement.execute(rusqlite::params_from_iter(values)).map_err(store_error)?;
        Ok(u64::try_from(changed).unwrap_or(u64::MAX))
    }

    fn lock(&mut self, _query: &str, _values: &[SqlValue<'_>]) -> Result<(), StoreError> {
        Ok(())
    }
}

impl rusqlite::ToSql for SqlValue<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(*number),
            Self::Real(number) => ValueRef::Real(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

fn cell(value: ValueRef<'_>) -> Cell {
    match value {
        // The only blobs are hashes, which the database compares and nothing reads.
        ValueRef::Null | ValueRef::Blob(_) => Cell::Null,
        ValueRef::Integer(number) => Cell::Integer(number),
        ValueRef::Real(number) => Cell::Real(number),
        ValueRef::Text(text) => Cell::Text(String::from_utf8_lossy(text).into_owned()),
    }
}

/// Refuses a file that is not a database, or is another program's, before anything in it is changed.
fn refuse_other_files(file: &Path) -> Result<(), StoreError> {
    if std::fs::metadata(file).map_or(true, |existing| existing.len() == 0) {
        return Ok(());
    }
    let unusable = |error: rusqlite::Error| match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt) => store_error(error),
        _ => StoreError::Unusable(format!("{} cannot be used: {error}. Choose another file.", file.display())),
    };
    let connection = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(unusable)?;
    distrust(&connection).map_err(unusable)?;
    match owner(&connection).map_err(unusable)? {
        Owner::Us | Owner::NoOne => Ok(()),
        Owner::AnotherProgram => Err(owned_by_another_program(file)),
    }
}

/// Marks a new database as ours, and refuses another program's. The caller must hold the lock.
fn claim(file: &Path, connection: &Connection) -> Result<(), StoreError> {
    match owner(connection).map_err(store_error)? {
        Owner::Us => Ok(()),
        Owner::NoOne => connection.pragma_update(None, "application_id", APPLICATION_ID).map_err(store_error),
        Owner::AnotherProgram => Err(owned_by_another_program(file)),
    }
}

/// The program that created a database.
enum Owner {
    Us,
    NoOne,
    AnotherProgram,
}

fn owner(connection: &Connection) -> rusqlite::Result<Owner> {
    let application: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let tables: i64 = connection.query_row("SELECT COUNT(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(match application {
        APPLICATION_ID => Owner::Us,
        0 if tables == 0 => Owner::NoOne,
        _ => Owner::AnotherProgram,
    })
}

fn owned_by_another_program(file: &Path) -> StoreError {
    StoreError::Unusable(format!("{} is the database of another program. Choose another file.", file.display()))
}

/// Copies a database that can be in use to a new file that only its owner can read.
pub(super) fn backup(source: &Path, target: &Path) -> Result<(), StoreError> {
    let failed =
        |error: String| StoreError::Unusable(format!("The backup {} cannot be created: {error}.", target.display()));
    let name = target.to_str().ok_or_else(|| failed("its name is not UTF-8".to_owned()))?;
    let connection = Connection::open_with_flags(source, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(store_error)?;
    let mut options = private_options();
    options.create_new(true).open(target).map_err(|error| failed(error.to_string()))?;
    // VACUUM INTO accepts an existing file if it is empty.
    connection.execute("VACUUM INTO ?1", [name]).map(drop).map_err(|error| {
        let _ = std::fs::remove_file(target);
        failed(error.to_string())
    })
}

/// Makes sure that there is a file, and that only its owner can read and write it. It does not open an existing file:
/// closing it would release SQLite's locks on it, if this process already has it open.
fn create_private(file: &Path) -> std::io::Result<()> {
    match private_options().create_new(true).open(file) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            private_permissions().map_or(Ok(()), |permissions| std::fs::set_permissions(file, permissions))
        }
        created => created.map(drop),
    }
}

/// Opens or creates a file that only its owner can read and write.
fn open_private(file: &Path) -> std::io::Result<File> {
    let opened = private_options().create(true).truncate(false).open(file)?;
    if let Some(permissions) = private_permissions() {
        opened.set_permissions(permissions)?;
    }
    Ok(opened)
}

fn private_options() -> OpenOptions {
    let mut options = platform::private_options();
    options.read(true).write(true);
    options
}

/// Refuses network file systems: SQLite needs reliable locks, and they do not have them.
fn refuse_network_file_system(file: &Path) -> Result<(), StoreError> {
    match is_on_network_file_system(file) {
        true => Err(StoreError::Unusable(format!(
            "The database {} is on a network file system, whose locks are unreliable. Move it to a local disk, or use PostgreSQL.",
            file.display()
        ))),
        false => Ok(()),
    }
}

fn store_error(error: rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Corrupt(error.to_string()),
        Some(ErrorCode::CannotOpen | ErrorCode::SystemIoFailure | ErrorCode::DiskFull | ErrorCode::ReadOnly) => {
            StoreError::Unreachable(error.to_string())
        }
        _ => StoreError::Rejected(error.to_string()),
    }
}
