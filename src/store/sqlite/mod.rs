//! SQLite, read without leaving a trace: no file is created or changed, and no commit of n8n fails because of us.
//!
//! | journal | the files next to the database | how it is opened |
//! |---|---|---|
//! | write-ahead log (n8n 2.x) | `-wal` and `-shm` | `mode=ro`, `-shm` read-only: readers and n8n do not block each other |
//! | write-ahead log | none: n8n has stopped | `immutable=1`, and once more if the file changed meanwhile |
//! | write-ahead log | `-wal` only, for more than a second | not at all: the index could be rebuilt only in a file |
//! | rollback journal (n8n 1.x) | `-journal` or none | `mode=ro`; a reader holds up commits: for 200 ms, and what is left then is copied in slices of 200 ms |
//!
//! SQLite 3.22 and later can read a write-ahead log whose `-shm` it may not write: it builds an index of its own in memory
//! if the database is not in use. So `-shm` stays as n8n left it.

mod alive;
mod connection;
mod header;
mod text;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, ToSql, ffi, params_from_iter};
use tokio_util::sync::CancellationToken;

use self::connection::Watch;
pub(super) use self::header::Header;
use self::header::InUse;
use self::text::{BlobText, SlicedText};
use super::ReadSettings;
use super::error::{DATABASE, Error};
use super::row::Row;
use super::session::{Contents, Session, Values, check_workflow_size};
use super::sql::{DATA, Dialect, SqlParameter, Tables};
use crate::json::ReadAt;

/// How often a database that changes while it is opened is opened again.
const ATTEMPTS: usize = 3;

/// How often, and with which pauses, a write-ahead log without an index is checked again: n8n creates the index a
/// moment after the log when it starts, and removes it a moment before when it stops.
const LOOKS: usize = 20;
const PAUSE: Duration = Duration::from_millis(50);

/// The column of the run data.
const TEXT: &str = "data";

/// A database file of n8n.
#[derive(Clone, Debug)]
pub(super) struct Database {
    file: PathBuf,
    reading: ReadSettings,
}

impl Database {
    pub(super) fn new(file: PathBuf, reading: ReadSettings) -> Self {
        Self { file, reading }
    }

    /// Answers one question; `work` runs again if n8n started or stopped in the middle of it.
    ///
    /// # Errors
    /// The database cannot be opened or read, or `work` fails.
    pub(super) fn ask<T>(
        &self,
        cancel: &CancellationToken,
        work: &mut dyn FnMut(&mut dyn Session) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let _in_use = InUse::begin();
        // SQLite follows links, too: its other files are next to the file that they lead to.
        let file = self.file.canonicalize().map_err(header::unreadable)?;
        let mut attempts = 1..ATTEMPTS;
        loop {
            let before = settled(&file)?;
            let done = self.open(&file, &before, cancel).and_then(|session| work(&mut &session));
            let is_stale = match before.is_closed() {
                true => Header::of(&file)? != before,
                false => done.is_err() && Header::of(&file)?.log_files() != before.log_files(),
            };
            if !is_stale || attempts.next().is_none() {
                return done;
            }
        }
    }

    /// What its files look like now, and whether a process has it open, if that can be seen.
    pub(super) fn state(&self) -> Result<(Header, Option<bool>), Error> {
        let _in_use = InUse::begin();
        let file = self.file.canonicalize().map_err(Error::reading(DATABASE))?;
        Ok((Header::of(&file)?, alive::is_open_elsewhere(&header::next_to(&file, "-shm"))))
    }

    fn open(&self, file: &Path, header: &Header, cancel: &CancellationToken) -> Result<SqliteSession, Error> {
        if header.lacks_index() {
            return Err(Error::WalWithoutIndex);
        }
        let (connection, watch) = connection::open(file, header, &self.reading, cancel)?;
        if header.is_wal {
            // One snapshot for the whole question.
            connection.execute_batch("BEGIN").map_err(error)?;
        }
        let encoding: String = connection.query_row("PRAGMA encoding", [], |row| row.get(0)).map_err(error)?;
        if encoding != "UTF-8" {
            return Err(Error::Encoding(encoding));
        }
        let tables =
            Tables::find(Dialect::Sqlite, &self.reading.prefix, |table| connection::columns(&connection, table))?;
        Ok(SqliteSession {
            connection,
            watch,
            tables,
            file: file.to_owned(),
            header: header.clone(),
            spool: self.reading.spool.clone(),
            slice: self.reading.slice,
        })
    }
}

/// Reads the header of a database, again while its write-ahead log has no index.
fn settled(file: &Path) -> Result<Header, Error> {
    let mut header = Header::of(file)?;
    for _ in 0..LOOKS {
        if !header.lacks_index() {
            break;
        }
        std::thread::sleep(PAUSE);
        header = Header::of(file)?;
    }
    Ok(header)
}

/// A connection, for one question.
struct SqliteSession {
    connection: Connection,
    watch: Arc<Watch>,
    tables: Tables,
    file: PathBuf,
    header: Header,
    spool: Option<PathBuf>,
    slice: Duration,
}

/// What `execution_data` says about a text without loading it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct DataRow {
    row: i64,
    kind: String,
    bytes: u64,
    workflow_bytes: u64,
}

impl Session for &SqliteSession {
    fn tables(&self) -> &Tables {
        &self.tables
    }

    fn query(
        &mut self,
        statement: &str,
        parameters: &[SqlParameter],
        each: &mut dyn FnMut(Values) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.watch.begin();
        let mut statement = self.connection.prepare_cached(statement).map_err(error)?;
        let count = statement.column_count();
        let mut rows = statement.query(params_from_iter(parameters)).map_err(error)?;
        while let Some(row) = rows.next().map_err(error)? {
            let values = (0..count).map(|column| text(row.get_ref(column)?)).collect::<Result<_, _>>();
            each(values.map_err(error)?)?;
        }
        Ok(())
    }

    fn is_n8n_running(&self) -> Option<bool> {
        self.header.is_n8n_running(alive::is_open_elsewhere(&header::next_to(&self.file, "-shm")))
    }

    fn contents(&mut self, row: &Row) -> Result<Option<Contents<'_>>, Error> {
        let id = row.id().to_owned();
        let Some(data) = self.data_row(&id)? else { return Ok(None) };
        check_workflow_size(&id, data.workflow_bytes)?;
        if data.kind != "text" {
            return Err(Error::NotText { id, kind: data.kind });
        }
        let (workflow, data): (Box<dyn ReadAt>, Box<dyn ReadAt>) = match self.header.is_wal {
            true => {
                let text = |column| BlobText::open(self, column, data.row);
                (Box::new(text("workflowData")?), Box::new(text(TEXT)?))
            }
            false => (Box::new(text::copied_workflow(self, row, &data)?), Box::new(SlicedText::new(self, row, data))),
        };
        Ok(Some(Contents { workflow, data, is_escaped: false }))
    }
}

impl SqliteSession {
    /// The data row of an execution, without its texts.
    fn data_row(&self, id: &str) -> Result<Option<DataRow>, Error> {
        let statement = format!(
            r#"SELECT rowid, typeof("data"), octet_length("data"), octet_length("workflowData")
               FROM {} WHERE "executionId" = CAST(?1 AS bigint)"#,
            self.tables.table(DATA)
        );
        self.watch.begin();
        let mut statement = self.connection.prepare_cached(&statement).map_err(error)?;
        let mut rows = statement.query([id]).map_err(error)?;
        let Some(row) = rows.next().map_err(error)? else { return Ok(None) };
        let bytes = |column| -> Result<u64, Error> {
            let bytes: Option<i64> = row.get(column).map_err(error)?;
            Ok(bytes.and_then(|bytes| bytes.try_into().ok()).unwrap_or(0))
        };
        Ok(Some(DataRow {
            row: row.get(0).map_err(error)?,
            kind: row.get(1).map_err(error)?,
            bytes: bytes(2)?,
            workflow_bytes: bytes(3)?,
        }))
    }
}

impl ToSql for SqlParameter {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Integer(number) => (*number).into(),
            Self::Text(text) => text.as_str().into(),
        })
    }
}

fn text(value: ValueRef<'_>) -> rusqlite::Result<Option<String>> {
    Ok(match value {
        ValueRef::Null => None,
        value => Some(String::from_utf8_lossy(value.as_bytes()?).into_owned()),
    })
}

/// SQLite's error in our words.
fn error(error: rusqlite::Error) -> Error {
    let extended = error.sqlite_error().map(|error| error.extended_code);
    match (error.sqlite_error_code(), extended) {
        (_, Some(ffi::SQLITE_READONLY_ROLLBACK)) => Error::HotJournal,
        (_, Some(ffi::SQLITE_READONLY_CANTINIT | ffi::SQLITE_READONLY_RECOVERY)) => Error::WalWithoutIndex,
        (Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked), _) => Error::Locked,
        (Some(ErrorCode::OperationInterrupted), _) => Error::Silent,
        (Some(ErrorCode::TooBig), _) => Error::TooMuch,
        (Some(ErrorCode::NotADatabase), _) => Error::NotSqlite,
        (Some(ErrorCode::DatabaseCorrupt), _) => Error::Damaged("SQLite reports a malformed file".to_owned()),
        (Some(ErrorCode::PermissionDenied), _) => Error::Forbidden(DATABASE),
        // The messages of SQLite about opening a file name no path, others can name a table.
        (Some(code), _) => Error::Sqlite(format!("SQLite reports {code:?}")),
        (None, _) => Error::Sqlite("SQLite returned a value of an unexpected type".to_owned()),
    }
}
