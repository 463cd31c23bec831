//! The text of one execution in SQLite, by position.

use std::io;
use std::time::{Duration, Instant};

use rusqlite::blob::Blob;
use rusqlite::{Connection, MAIN_DB};

use super::{DataRow, SqliteSession, error};
use crate::json::ReadAt;
use crate::store::error::Error;
use crate::store::row::Row;
use crate::store::session;
use crate::store::spool::{GrowingText, Spool};
use crate::store::sql::DATA;

/// How long a reader may hold up n8n's commits.
const SLICE: Duration = Duration::from_millis(200);

/// How much the first two slices have at most, bytes: enough for most summaries. The others end with their time.
const FIRST_SLICES: [u64; 2] = [256 * 1024, 4 * 1024 * 1024];

/// How much is copied at a time, bytes.
const PIECE: u64 = 256 * 1024;

/// A text that is read where it lies. SQLite walks to a position once, and knows the way from then on.
pub(super) struct BlobText<'a>(Blob<'a>);

impl<'a> BlobText<'a> {
    /// Opens the text of a row in `execution_data`; `table` is its name with the prefix.
    pub(super) fn open(connection: &'a Connection, table: &str, row: i64) -> Result<Self, Error> {
        connection.blob_open(MAIN_DB, table, "data", row, true).map(Self).map_err(error)
    }
}

impl ReadAt for BlobText<'_> {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&mut self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        let position = usize::try_from(position).map_err(|_| io::ErrorKind::UnexpectedEof)?;
        self.0.read_at_exact(buffer, position).map_err(|cause| error(cause).into())
    }
}

/// A text that is copied in slices, each in a transaction of its own. A slice that finds another row than the first one
/// is an error.
pub(super) fn sliced<'a>(
    session: &'a mut SqliteSession,
    row: &Row,
    data: DataRow,
) -> GrowingText<impl FnMut(&mut Spool) -> Result<(), Error> + 'a> {
    let (first, length) = (Fingerprint::new(row, data.clone()), data.bytes);
    let mut sizes = FIRST_SLICES.into_iter();
    GrowingText::new(session.spool.clone().as_ref(), length, move |spool| {
        let most = sizes.next().unwrap_or(u64::MAX);
        session.transaction(|session| {
            let now = Fingerprint::now(session, &first.id)?;
            if now.as_ref() != Some(&first) {
                return Err(Error::Changed(first.id.clone()));
            }
            session.copy(data.row, length, most, spool)
        })
    })
}

/// What tells that n8n has not written an execution again.
#[derive(PartialEq, Eq)]
struct Fingerprint {
    id: String,
    row: String,
    data: DataRow,
}

impl Fingerprint {
    fn new(row: &Row, data: DataRow) -> Self {
        Self { id: row.id().to_owned(), row: row.fingerprint(), data }
    }

    fn now(session: &mut SqliteSession, id: &str) -> Result<Option<Self>, Error> {
        let number = id.parse().map_err(|_| Error::NotFound(id.to_owned()))?;
        let (Some(row), Some((data, _))) = (session::execution(session, number)?, session.data_row(id)?) else {
            return Ok(None);
        };
        Ok(Some(Self::new(&row, data)))
    }
}

impl SqliteSession {
    /// Runs `work` in one short transaction.
    fn transaction<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        self.connection.execute_batch("BEGIN").map_err(error)?;
        let done = work(self);
        self.connection.execute_batch("ROLLBACK").map_err(error)?;
        done
    }

    /// Copies the next bytes, at most `most`, until the slice's time is over.
    fn copy(&self, row: i64, length: u64, most: u64, spool: &mut Spool) -> Result<(), Error> {
        let mut text = BlobText::open(&self.connection, &self.tables.name(DATA), row)?;
        let end = length.min(spool.filled().saturating_add(most));
        let mut piece = vec![0; PIECE.min(end - spool.filled()) as usize];
        let begun = Instant::now();
        while spool.filled() < end {
            let bytes = (end - spool.filled()).min(PIECE) as usize;
            text.read_at(spool.filled(), &mut piece[..bytes])?;
            spool.add(&piece[..bytes])?;
            if begun.elapsed() > SLICE {
                break;
            }
        }
        Ok(())
    }
}
