//! SQLite: one writer, which stores many units with one commit, and read-only connections beside it.
//!
//! Every agent may have a process of its own on the same file, and SQLite's own waiting is neither fair nor
//! bounded. So a writer first takes a lock on a file beside the database: the system hands it on, and takes
//! it back from a process that dies.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::queue::{Job, Takers};
use super::sql::{Cell, Row, Sql, Value};
use super::{Clock, Fault, Work, migrations};

/// Units that are stored with one commit, at most: those behind them wait no longer than for these.
const GROUP: usize = 64;

/// SQLite's own patience behind the lock: only other programs can be in the way there.
const PATIENCE: Duration = Duration::from_secs(10);

/// Versions before it can damage a file that two connections write (the WAL-reset fault of 3.7.0 to 3.51.2).
const LEAST_VERSION: i32 = 3_051_003;

/// What the header of our files says they are: "n8nL".
const APPLICATION: i32 = 0x6e38_6e4c;

/// More statements than there are.
const STATEMENTS: usize = 256;

/// A database file.
pub(super) struct Database {
    file: PathBuf,
    lock: File,
}

impl Database {
    /// Opens a file, and brings it up to date; `make` says whether one that is not there is made.
    pub(super) fn open(file: &Path, make: bool) -> Result<Self, Fault> {
        if rusqlite::version_number() < LEAST_VERSION {
            return Err(Fault::Unfit(format!(
                "SQLite {} can damage a file with several writers; 3.51.3 is needed.",
                rusqlite::version()
            )));
        }
        let unfit =
            |error: std::io::Error| Fault::Unfit(format!("The database {} cannot be opened: {error}.", file.display()));
        if !file.exists() && !make {
            return Err(Fault::Unfit(format!("There is no database {}. Is --db right?", file.display())));
        }
        refuse_other_files(file)?;
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder).map_err(unfit)?;
        }
        private(file).map_err(unfit)?;
        refuse_network(file)?;
        let mut beside = file.as_os_str().to_owned();
        beside.push(".lock");
        let database = Self { file: file.to_owned(), lock: private(Path::new(&beside)).map_err(unfit)? };
        let mut connection = database.connect(OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        database.alone(|| {
            claim(file, &connection)?;
            // The journal's kind is kept in the file; setting it needs a moment without readers.
            connection.pragma_update(None, "journal_mode", "WAL").map_err(fault)?;
            migrations::sqlite(&mut connection)
        })?;
        Ok(database)
    }

    fn connect(&self, access: OpenFlags) -> Result<Connection, Fault> {
        let connection =
            Connection::open_with_flags(&self.file, access | OpenFlags::SQLITE_OPEN_NO_MUTEX).map_err(fault)?;
        connection.busy_timeout(PATIENCE).map_err(fault)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        // Otherwise each new value of a parameter has the statement planned again.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(fault)?;
        for (name, value) in [("foreign_keys", "ON"), ("synchronous", "FULL"), ("mmap_size", "0")] {
            connection.pragma_update(None, name, value).map_err(fault)?;
        }
        Ok(connection)
    }

    /// Does something that no other process may do meanwhile.
    fn alone<T>(&self, work: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
        self.lock.lock().map_err(|error| Fault::Unreachable(error.to_string()))?;
        let done = work();
        // Closing the file would free it, too.
        let _ = self.lock.unlock();
        done
    }

    /// What a thread that writes does, until the store is gone.
    pub(super) fn writer(self, clock: Clock) -> Result<impl FnOnce(Takers) + Send, Fault> {
        let connection = self.connect(OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        Ok(move |takers: Takers| {
            while let Some(first) = takers.next() {
                let mut group = vec![first];
                let stored = self.alone(|| store(&connection, &clock, &mut group, &takers));
                for job in group {
                    job.answer(stored.clone());
                }
            }
        })
    }

    /// What a thread that reads does, until the store is gone.
    pub(super) fn reader(&self, clock: Clock) -> Result<impl FnOnce(Takers) + Send + use<>, Fault> {
        let connection = self.connect(OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        Ok(move |takers: Takers| {
            while let Some(mut job) = takers.next() {
                // All queries of a unit see the same moment.
                let read = batch(&connection, "BEGIN").map(|()| {
                    job.run(&mut Work::new(&mut Transaction(&connection), clock.now()));
                });
                if read.is_ok() {
                    let _ = batch(&connection, "ROLLBACK");
                }
                job.answer(read);
            }
        })
    }
}

/// Stores a unit, and all others that are at hand by then.
fn store(connection: &Connection, clock: &Clock, group: &mut Vec<Box<dyn Job>>, takers: &Takers) -> Result<(), Fault> {
    batch(connection, "BEGIN IMMEDIATE")?;
    let mut next = 0;
    while let Some(job) = group.get_mut(next) {
        if let Err(fault) = unit(connection, clock, job.as_mut()) {
            let _ = batch(connection, "ROLLBACK");
            return Err(fault);
        }
        next += 1;
        if next < GROUP {
            group.extend(takers.at_hand());
        }
    }
    batch(connection, "COMMIT").inspect_err(|_| {
        let _ = batch(connection, "ROLLBACK");
    })
}

/// One that is refused takes back what it wrote, and only that.
fn unit(connection: &Connection, clock: &Clock, job: &mut dyn Job) -> Result<(), Fault> {
    batch(connection, "SAVEPOINT unit")?;
    if !job.run(&mut Work::new(&mut Transaction(connection), clock.now())) {
        batch(connection, "ROLLBACK TO unit")?;
    }
    batch(connection, "RELEASE unit")
}

fn batch(connection: &Connection, statement: &'static str) -> Result<(), Fault> {
    connection.prepare_cached(statement).and_then(|mut statement| statement.raw_execute()).map(drop).map_err(fault)
}

struct Transaction<'a>(&'a Connection);

impl Sql for Transaction<'_> {
    fn query(&mut self, statement: &'static str, values: &[Value<'_>]) -> Result<Vec<Row>, Fault> {
        let mut statement = self.0.prepare_cached(statement).map_err(fault)?;
        let columns = statement.column_count();
        let mut rows = statement.query(rusqlite::params_from_iter(values)).map_err(fault)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().map_err(fault)? {
            let cells = (0..columns).map(|column| row.get_ref(column).map(cell).map_err(fault));
            found.push(Row::new(cells.collect::<Result<_, _>>()?));
        }
        Ok(found)
    }

    fn execute(&mut self, statement: &'static str, values: &[Value<'_>]) -> Result<u64, Fault> {
        let mut statement = self.0.prepare_cached(statement).map_err(fault)?;
        let changed = statement.execute(rusqlite::params_from_iter(values)).map_err(fault)?;
        Ok(u64::try_from(changed).unwrap_or(u64::MAX))
    }

    fn lock(&mut self, _query: &'static str, _values: &[Value<'_>]) -> Result<(), Fault> {
        Ok(())
    }
}

impl rusqlite::ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(number),
            Self::Real(number) => ValueRef::Real(number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

fn cell(value: ValueRef<'_>) -> Cell {
    match value {
        // Hashes are compared, never read.
        ValueRef::Null | ValueRef::Blob(_) => Cell::Null,
        ValueRef::Integer(number) => Cell::Integer(number),
        ValueRef::Real(number) => Cell::Real(number),
        ValueRef::Text(text) => Cell::Text(String::from_utf8_lossy(text).into_owned()),
    }
}

/// Refuses a file that is no database, before anything of it is touched.
fn refuse_other_files(file: &Path) -> Result<(), Fault> {
    if std::fs::metadata(file).map_or(true, |there| there.len() == 0) {
        return Ok(());
    }
    let connection = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY);
    let read = connection.and_then(|connection| connection.pragma_query_value(None, "schema_version", |_| Ok(())));
    read.map_err(|error| Fault::Unfit(format!("{} cannot be used: {error}. Name another file.", file.display())))
}

/// Makes a new database ours; refuses one that another program made. The caller has it to itself.
fn claim(file: &Path, connection: &Connection) -> Result<(), Fault> {
    let application: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0)).map_err(fault)?;
    let tables: i64 =
        connection.query_row("SELECT COUNT(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(fault)?;
    match application {
        APPLICATION => Ok(()),
        0 if tables == 0 => connection.pragma_update(None, "application_id", APPLICATION).map_err(fault),
        _ => Err(Fault::Unfit(format!("{} is the database of another program. Name another file.", file.display()))),
    }
}

/// Copies a database that others use to a new file, which only its owner may read.
pub(super) fn backup(source: &Path, target: &Path) -> Result<(), Fault> {
    let unfit = |error: String| Fault::Unfit(format!("The backup {} cannot be made: {error}.", target.display()));
    let name = target.to_str().ok_or_else(|| unfit("its name is not UTF-8".to_owned()))?;
    let connection = Connection::open_with_flags(source, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(fault)?;
    let mut options = private_options();
    options.create_new(true).open(target).map_err(|error| unfit(error.to_string()))?;
    // An empty file is taken for one that is not there.
    connection.execute("VACUUM INTO ?1", [name]).map(drop).map_err(|error| {
        let _ = std::fs::remove_file(target);
        unfit(error.to_string())
    })
}

/// A file that only its owner may read.
fn private(file: &Path) -> std::io::Result<File> {
    let opened = private_options().create(true).truncate(false).open(file)?;
    #[cfg(unix)]
    opened.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    Ok(opened)
}

fn private_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Locks of network file systems cannot be relied on, and SQLite needs them.
#[cfg(target_os = "linux")]
fn refuse_network(file: &Path) -> Result<(), Fault> {
    /// Of statfs(2): NFS, SMB, CIFS, SMB2, 9P, AFS, Ceph, Lustre.
    const NETWORK: [i64; 8] =
        [0x6969, 0x517B, 0xFF53_4D42, 0xFE53_4D42, 0x0102_1997, 0x5346_414F, 0x00C3_6400, 0x0BD0_0BD0];
    #[allow(clippy::unnecessary_cast, reason = "its type is another one on other machines")]
    match rustix::fs::statfs(file) {
        Ok(system) if NETWORK.contains(&(system.f_type as i64)) => Err(Fault::Unfit(format!(
            "The database {} is on a network file system, where locks cannot be relied on. Keep it on a disk of this machine, or use PostgreSQL.",
            file.display()
        ))),
        _ => Ok(()),
    }
}

#[cfg(not(target_os = "linux"))]
fn refuse_network(_file: &Path) -> Result<(), Fault> {
    Ok(())
}

pub(super) fn fault(error: rusqlite::Error) -> Fault {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Fault::Busy,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Fault::Damaged(error.to_string()),
        Some(ErrorCode::CannotOpen | ErrorCode::SystemIoFailure | ErrorCode::DiskFull | ErrorCode::ReadOnly) => {
            Fault::Unreachable(error.to_string())
        }
        _ => Fault::Refused(error.to_string()),
    }
}
