//! The text of one execution in SQLite, by position.

use std::io;
use std::rc::Rc;
use std::time::Instant;

use rusqlite::blob::Blob;
use rusqlite::{MAIN_DB, Transaction};

use super::{DataRow, SqliteSession, TEXT, error};
use crate::json::{ReadAt, Spool};
use crate::store::error::Error;
use crate::store::row::Row;
use crate::store::session;
use crate::store::spool::{self, Expected, GrowingText};
use crate::store::sql::DATA;

/// How much is copied at a time, bytes.
const PIECE: u64 = 256 * 1024;

/// A text that is read in place. SQLite walks to a position once, and remembers the way from then on.
pub(super) struct BlobText<'a>(Blob<'a>);

impl<'a> BlobText<'a> {
    /// Opens a column of a row in `execution_data`.
    pub(super) fn open(session: &'a SqliteSession, column: &str, row: i64) -> Result<Self, Error> {
        let table = session.tables.name(DATA);
        session.watch.begin();
        session.connection.blob_open(MAIN_DB, table.as_str(), column, row, true).map(Self).map_err(error)
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

/// A text that is read in place for the length of a slice, which is enough for most answers, and from then on copied,
/// slice by slice. Each slice is a transaction; one that finds another row than the first one is an error.
pub(super) struct SlicedText<'a> {
    first: First<'a>,
    copy: GrowingText<Fetch<'a>>,
}

/// Adds the next slice to the spool.
type Fetch<'a> = Box<dyn FnMut(&mut Spool, Expected) -> Result<(), Error> + 'a>;

/// The slice in which a text is read in place.
enum First<'a> {
    Ahead(&'a SqliteSession, Rc<Fingerprint>),
    Open(Slice<'a>),
    Over,
}

/// As long as it lives, n8n's commits wait.
struct Slice<'a> {
    text: BlobText<'a>,
    end: Instant,
    /// Ends after the text was closed.
    _transaction: Transaction<'a>,
}

impl Slice<'_> {
    fn is_over(&self) -> bool {
        Instant::now() >= self.end
    }

    /// Copies until its time is over, at least one piece.
    fn copy(&mut self, spool: &mut Spool) -> Result<(), Error> {
        let mut piece = vec![0; PIECE as usize];
        while spool.len() < self.text.len() {
            let bytes = (self.text.len() - spool.len()).min(PIECE) as usize;
            self.text.read_at(spool.len(), &mut piece[..bytes])?;
            spool::add(spool, &piece[..bytes])?;
            if self.is_over() {
                break;
            }
        }
        Ok(())
    }
}

impl<'a> SlicedText<'a> {
    pub(super) fn new(session: &'a SqliteSession, row: &Row, data: DataRow) -> Self {
        let length = data.bytes;
        let fingerprint = Rc::new(Fingerprint::new(row, data));
        let first = First::Ahead(session, Rc::clone(&fingerprint));
        let copy = move |spool: &mut Spool, _| fingerprint.open(session, TEXT)?.copy(spool);
        Self { first, copy: GrowingText::new(session.spool.as_ref(), length, Box::new(copy)) }
    }
}

/// Copies the workflow, slice by slice: the text is read in slices of its own.
pub(super) fn copied_workflow(session: &SqliteSession, row: &Row, data: &DataRow) -> Result<Spool, Error> {
    let mut spool = spool::spool(session.spool.as_deref());
    let fingerprint = Fingerprint::new(row, data.clone());
    while spool.len() < data.workflow_bytes {
        fingerprint.open(session, "workflowData")?.copy(&mut spool)?;
    }
    Ok(spool)
}

impl ReadAt for SlicedText<'_> {
    fn len(&self) -> u64 {
        self.copy.len()
    }

    fn read_at(&mut self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        if let First::Ahead(session, fingerprint) = &self.first {
            self.first = First::Open(fingerprint.open(session, TEXT)?);
        }
        match &mut self.first {
            First::Open(slice) if !slice.is_over() => return slice.text.read_at(position, buffer),
            first => *first = First::Over,
        }
        self.copy.read_at(position, buffer)
    }
}

/// What shows that n8n has not written an execution again.
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

    fn now(mut session: &SqliteSession, id: &str) -> Result<Option<Self>, Error> {
        let number = id.parse().map_err(|_| Error::NotFound(id.to_owned()))?;
        let (Some(row), Some(data)) = (session::execution(&mut session, number)?, session.data_row(id)?) else {
            return Ok(None);
        };
        Ok(Some(Self::new(&row, data)))
    }

    /// Begins a slice with a column of this very execution.
    fn open<'a>(&self, session: &'a SqliteSession, column: &str) -> Result<Slice<'a>, Error> {
        let transaction = session.connection.unchecked_transaction().map_err(error)?;
        if Self::now(session, &self.id)?.as_ref() != Some(self) {
            return Err(Error::Changed(self.id.clone()));
        }
        // The transaction holds n8n up since its first query was answered, not while it waited for n8n.
        let end = Instant::now() + session.slice;
        Ok(Slice { text: BlobText::open(session, column, self.data.row)?, end, _transaction: transaction })
    }
}
