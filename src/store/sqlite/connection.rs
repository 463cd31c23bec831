//! Opening a file that anyone may have made: what it contains is data, and never runs.
//!
//! | what a hostile file could hold | what prevents it |
//! |---|---|
//! | views and virtual tables in place of tables | they are refused, and SQLite opens no view |
//! | generated columns, which compute what is read | they count as missing |
//! | values that are larger than any of n8n's | a limit, which does not concern texts: they are read in pieces |
//! | statements that never end | each has a deadline, and ends when the call is cancelled |
//! | triggers, functions in the schema | nothing is written, and the schema is not trusted |

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};
use tokio_util::sync::CancellationToken;

use super::error;
use super::header::Header;
use crate::store::ReadSettings;
use crate::store::error::Error;

/// The characters that are not escaped in the path of a `file:` URI.
const PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// The largest value that a statement may handle, bytes: the workflows of a list are up to 4 MiB.
const MAX_VALUE_BYTES: i32 = 8 * 1024 * 1024;

/// The longest statement, those of the schema included, bytes.
const MAX_STATEMENT_BYTES: i32 = 1024 * 1024;

/// What SQLite may take in memory in this process, bytes.
const MAX_MEMORY: i64 = 256 * 1024 * 1024;

/// What SQLite keeps of a file that it has read, KiB: texts have a cache of their own, which knows what is read again.
const CACHE_KIB: u32 = 512;

/// After how many of SQLite's instructions it asks whether to go on: some 100 µs.
const INSTRUCTIONS: i32 = 10_000;

/// Ends statements that take too long, or whose caller is gone.
#[derive(Debug)]
pub(super) struct Watch {
    cancel: CancellationToken,
    /// How long a statement may take.
    limit: Duration,
    opened: Instant,
    /// When the statement began, milliseconds after it was opened.
    begun: AtomicU64,
}

impl Watch {
    fn new(cancel: &CancellationToken, limit: Duration) -> Self {
        Self { cancel: cancel.clone(), limit, opened: Instant::now(), begun: AtomicU64::new(0) }
    }

    /// A statement begins.
    pub(super) fn begin(&self) {
        self.begun.store(self.since_opened(), Ordering::Relaxed);
    }

    fn since_opened(&self) -> u64 {
        u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn is_over(&self) -> bool {
        let took = self.since_opened().saturating_sub(self.begun.load(Ordering::Relaxed));
        self.cancel.is_cancelled() || u128::from(took) > self.limit.as_millis()
    }
}

/// Opens a database as its header demands.
///
/// # Errors
/// It cannot be opened, or the caller is gone.
pub(super) fn open(
    file: &Path,
    header: &Header,
    reading: &ReadSettings,
    cancel: &CancellationToken,
) -> Result<(Connection, Arc<Watch>), Error> {
    let path = file.to_str().ok_or(Error::NoFile)?.replace('\\', "/");
    let options = if header.is_closed() { "immutable=1" } else { "mode=ro&readonly_shm=1" };
    let root = if path.starts_with('/') { "" } else { "/" };
    let uri = format!("file:{root}{}?{options}", utf8_percent_encode(&path, PATH));
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(uri, flags).map_err(error)?;
    let watch = Arc::new(Watch::new(cancel, reading.reply_timeout));
    let watching = Arc::clone(&watch);
    connection.progress_handler(INSTRUCTIONS, Some(move || watching.is_over())).map_err(error)?;
    connection.busy_timeout(reading.lock_timeout).map_err(error)?;
    distrust(&connection).map_err(error)?;
    Ok((connection, watch))
}

fn distrust(connection: &Connection) -> rusqlite::Result<()> {
    for (setting, is_on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
    ] {
        connection.set_db_config(setting, is_on)?;
    }
    for (limit, most) in [
        (Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, MAX_STATEMENT_BYTES),
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
    ] {
        connection.set_limit(limit, most)?;
    }
    let memory = format!("PRAGMA hard_heap_limit = {MAX_MEMORY}");
    connection.query_row(&memory, [], |_| Ok(()))?;
    connection.execute_batch(&format!(
        "PRAGMA query_only = 1; PRAGMA temp_store = MEMORY; PRAGMA cell_size_check = 1; PRAGMA cache_size = -{CACHE_KIB}"
    ))
}

/// The columns of a table; none if the table does not exist.
///
/// # Errors
/// It is a view or a virtual table.
pub(super) fn columns(connection: &Connection, table: &str) -> Result<Vec<String>, Error> {
    let (mut kind, mut columns) = (None, Vec::new());
    // A pragma as such: a table of the database could have the name of the function that does the same.
    let listed = connection.pragma(Some("main"), "table_list", table, |row| {
        kind = Some(row.get::<_, String>("type")?);
        Ok(())
    });
    listed.map_err(error)?;
    let kind = match kind.as_deref() {
        None | Some("table") => None,
        Some("view") => Some("view"),
        // Or one of the tables in which a virtual one keeps its contents.
        Some(_) => Some("virtual table"),
    };
    if let Some(kind) = kind {
        return Err(Error::NotTable { table: table.to_owned(), kind });
    }
    // It leaves out generated columns.
    let named = connection.pragma(Some("main"), "table_info", table, |row| {
        columns.push(row.get("name")?);
        Ok(())
    });
    named.map_err(error)?;
    Ok(columns)
}
