//! PostgreSQL: one connection and one read-only transaction per question.
//!
//! A client cannot receive a part of a field, and `substr` unpacks the text from its beginning each time. So the first
//! 4 MiB, which are enough for most summaries, come in growing prefixes; the rest comes in one stream of rows of 64
//! KiB. The server unpacks the whole text for that stream, and takes twice its size in memory meanwhile.

mod address;
mod connection;
mod password;
mod search;
mod tls;

use std::path::PathBuf;
use std::pin::pin;
use std::time::Duration;

use futures::TryStreamExt;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row as PostgresRow};
use tokio_util::sync::CancellationToken;

pub(super) use self::address::Address;
use super::ReadSettings;
use super::error::Error;
use super::row::Row;
use super::session::{Contents, Looked, Session, Values, check_workflow_size};
use super::spool::{self, Expected, GrowingText, IN_MEMORY};
use super::sql::{DATA, Dialect, SqlParameter, Tables};
use crate::cause::innermost;
use crate::json::{ReadAt, Spool};
use crate::postgres::{self, Limits, Waiter};

/// How large the prefixes are, characters.
const PREFIXES: [i32; 3] = [64 * 1024, 512 * 1024, 4 * 1024 * 1024];

/// How much longer than the server, which gives up by itself, we wait for its reply.
const GRACE: Duration = Duration::from_secs(1);

/// The largest message, bytes: the longest prefix, whose characters take up to four bytes each, and the rest of its row.
const MAX_MESSAGE_BYTES: u64 = PREFIXES[2] as u64 * 4 + 1024;

/// What the rows of a reply may take, bytes. A text of PostgreSQL is at most 1 GiB; it comes in rows of 64 KiB.
const MAX_ROW_BYTES: u64 = 1024 * 1024 * 1024 + MAX_MESSAGE_BYTES;

/// Characters shown of an error's message.
const MAX_MESSAGE_CHARS: usize = 500;

/// How many columns a table of PostgreSQL has at most.
const MAX_COLUMNS: usize = 1600;

/// A database of n8n on a PostgreSQL server.
#[derive(Clone, Debug)]
pub(super) struct Database {
    address: Address,
    reading: ReadSettings,
}

impl Database {
    pub(super) fn new(address: Address, reading: ReadSettings) -> Self {
        Self { address, reading }
    }

    /// Answers one question; `work` runs again, once, if the connection is lost.
    ///
    /// # Errors
    /// The server cannot be reached or refuses, or `work` fails.
    pub(super) fn ask<T>(
        &self,
        cancel: &CancellationToken,
        work: &mut dyn FnMut(&mut dyn Session) -> Result<T, Error>,
    ) -> Result<T, Error> {
        match self.ask_once(cancel, work) {
            Err(Error::ConnectionLost(why)) => {
                tracing::info!(%why, "the connection to PostgreSQL was lost; asking once more");
                self.ask_once(cancel, work)
            }
            done => done,
        }
    }

    fn ask_once<T>(
        &self,
        cancel: &CancellationToken,
        work: &mut dyn FnMut(&mut dyn Session) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let limits = Limits {
            login: self.reading.reply_timeout,
            reply: self.reading.reply_timeout.saturating_add(GRACE),
            message_bytes: MAX_MESSAGE_BYTES,
            row_bytes: MAX_ROW_BYTES,
        };
        let (client, waiter) = self.address.connect(&self.reading, limits, cancel)?;
        // The end of the connection ends the transaction.
        waiter.wait(client.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")).map_err(error)?;
        let encoding = waiter.wait(client.query_one("SHOW server_encoding", &[])).map_err(error)?;
        let encoding: String = encoding.try_get(0).map_err(server_error)?;
        if encoding != "UTF8" {
            return Err(Error::Encoding(encoding));
        }
        let schema = self.address.schema().to_owned();
        let dialect = Dialect::Postgres { schema: schema.clone() };
        let mut connection = Connected { client, waiter };
        let tables = Tables::find(dialect, &self.reading.prefix, |table| connection.columns(&schema, table))?;
        work(&mut PostgresSession { connection, tables, spool: self.reading.spool.clone() })
    }
}

/// A connection within a transaction.
struct Connected {
    client: Client,
    /// Dropped after the client.
    waiter: Waiter,
}

impl Connected {
    /// The rows of a query, one after another.
    fn rows(
        &self,
        statement: &str,
        values: &[&(dyn ToSql + Sync)],
        each: &mut dyn FnMut(PostgresRow) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let rows = self.client.query_raw(statement, values.iter().copied());
        let mut rows = pin!(self.waiter.wait(rows).map_err(error)?);
        while let Some(row) = self.waiter.wait(rows.try_next()).map_err(error)? {
            each(row)?;
        }
        Ok(())
    }

    /// The columns of a table, whether or not this user may read it.
    fn columns(&mut self, schema: &str, table: &str) -> Result<Vec<String>, Error> {
        const COLUMNS: &str = "SELECT CAST(a.attname AS text) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid \
            JOIN pg_namespace n ON n.oid = c.relnamespace \
            WHERE n.nspname = $1 AND c.relname = $2 AND a.attnum > 0 AND NOT a.attisdropped";
        let mut columns = Vec::new();
        self.rows(COLUMNS, &[&schema, &table], &mut |row| {
            columns.push(row.try_get(0).map_err(server_error)?);
            if columns.len() > MAX_COLUMNS { Err(Error::TooMuch) } else { Ok(()) }
        })?;
        Ok(columns)
    }
}

/// A transaction, for one question.
struct PostgresSession {
    connection: Connected,
    tables: Tables,
    spool: Option<PathBuf>,
}

impl Session for PostgresSession {
    fn tables(&self) -> &Tables {
        &self.tables
    }

    fn query(
        &mut self,
        statement: &str,
        parameters: &[SqlParameter],
        each: &mut dyn FnMut(Values) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let values = parameters.iter().map(|parameter| match parameter {
            SqlParameter::Integer(number) => number as &(dyn ToSql + Sync),
            SqlParameter::Text(text) => text,
        });
        self.connection.rows(statement, &values.collect::<Vec<_>>(), &mut |row| {
            let values = (0..row.len()).map(|column| row.try_get(column)).collect::<Result<_, _>>();
            each(values.map_err(server_error)?)
        })
    }

    fn is_n8n_running(&self) -> Option<bool> {
        None
    }

    fn without_texts(&mut self, rows: &[(Row, Option<String>)], texts: &[String]) -> Result<Looked, Error> {
        self.look(rows, texts)
    }

    fn contents(&mut self, row: &Row) -> Result<Option<Contents<'_>>, Error> {
        let id = row.id().to_owned();
        let number: i64 = id.parse().map_err(|_| Error::NotFound(id.clone()))?;
        let Some(data) = self.data_row(number)? else { return Ok(None) };
        let bytes = |column| data.try_get::<_, Option<i64>>(column).map_err(server_error);
        let (length, workflow_bytes) = (bytes(0)?.unwrap_or(0), bytes(1)?.unwrap_or(0));
        let small: Option<String> = data.try_get(2).map_err(server_error)?;
        check_workflow_size(&id, workflow_bytes as u64)?;
        let mut workflow = spool::spool(self.spool.as_deref());
        match small {
            Some(small) => workflow.add(small.as_bytes())?,
            None if workflow_bytes > 0 => self.stream(number, r#"CAST("workflowData" AS text)"#, &mut workflow)?,
            None => {}
        }
        let mut prefixes = PREFIXES.into_iter();
        let spool = self.spool.clone();
        let text = GrowingText::new(spool.as_ref(), length as u64, move |spool, expected| {
            let before = spool.len();
            match prefixes.next().filter(|_| expected == Expected::Prefix) {
                Some(characters) => self.prefix(number, characters, spool)?,
                None => self.stream(number, r#""data""#, spool)?,
            }
            if spool.len() > before { Ok(()) } else { Err(Error::Changed(id.clone())) }
        });
        Ok(Some(Contents { workflow: Box::new(workflow), data: Box::new(text), is_escaped: false }))
    }
}

impl PostgresSession {
    /// The lengths of the text and the workflow, and the workflow if it is small.
    fn data_row(&mut self, id: i64) -> Result<Option<PostgresRow>, Error> {
        let statement = format!(
            r#"SELECT CAST(octet_length(d."data") AS bigint), CAST(octet_length(CAST(d."workflowData" AS text)) AS bigint),
               CASE WHEN octet_length(CAST(d."workflowData" AS text)) <= {IN_MEMORY} THEN CAST(d."workflowData" AS text) END
               FROM {} d WHERE d."executionId" = $1::bigint"#,
            self.tables.table(DATA)
        );
        self.one(&statement, &[&id])
    }

    /// Adds what a prefix has beyond the spool.
    fn prefix(&mut self, id: i64, characters: i32, spool: &mut Spool) -> Result<(), Error> {
        let statement = format!(
            r#"SELECT substr(d."data", 1, $2) FROM {} d WHERE d."executionId" = $1::bigint"#,
            self.tables.table(DATA)
        );
        let Some(row) = self.one(&statement, &[&id, &characters])? else { return Ok(()) };
        let text: &str = row.try_get(0).map_err(server_error)?;
        spool::add(spool, text.as_bytes().get(spool.len() as usize..).unwrap_or_default())
    }

    /// Adds everything of a text that is beyond the spool.
    fn stream(&mut self, id: i64, text: &str, spool: &mut Spool) -> Result<(), Error> {
        let statement = format!(
            r#"SELECT substring(d.b FROM i FOR 65536)
               FROM (SELECT convert_to({text}, 'UTF8') AS b FROM {} WHERE "executionId" = $1::bigint OFFSET 0) d,
               LATERAL generate_series($2::int, octet_length(d.b), 65536) i"#,
            self.tables.table(DATA)
        );
        let next = i32::try_from(spool.len() + 1).map_err(|_| Error::Postgres("the text is too long".to_owned()))?;
        let values: [&(dyn ToSql + Sync); 2] = [&id, &next];
        self.connection.rows(&statement, &values, &mut |row| spool::add(spool, row.try_get(0).map_err(server_error)?))
    }

    /// The row of a query that has one at most.
    fn one(&self, statement: &str, values: &[&(dyn ToSql + Sync)]) -> Result<Option<PostgresRow>, Error> {
        let mut found = None;
        self.connection.rows(statement, values, &mut |row| match found.replace(row) {
            None => Ok(()),
            Some(_) => Err(Error::TooMuch),
        })?;
        Ok(found)
    }
}

/// Why there is no reply, in our words.
fn error(error: postgres::Error) -> Error {
    match error {
        postgres::Error::Cancelled => Error::Cancelled,
        postgres::Error::Silent(_) => Error::Silent,
        postgres::Error::TooLarge => Error::TooMuch,
        postgres::Error::Io(error) => Error::ConnectionLost(error.to_string()),
        postgres::Error::Server(error) => server_error(error),
    }
}

/// PostgreSQL's error in our words. Its messages name tables and roles, never a password.
fn server_error(error: tokio_postgres::Error) -> Error {
    let Some(reported) = error.as_db_error() else {
        return Error::ConnectionLost(innermost(&error).to_string());
    };
    let message = || reported.message().chars().take(MAX_MESSAGE_CHARS).collect();
    match *reported.code() {
        SqlState::QUERY_CANCELED => Error::StatementTimeout,
        SqlState::LOCK_NOT_AVAILABLE => Error::Locked,
        SqlState::INSUFFICIENT_PRIVILEGE => Error::Privilege(message()),
        SqlState::ADMIN_SHUTDOWN | SqlState::CRASH_SHUTDOWN | SqlState::CANNOT_CONNECT_NOW => {
            Error::ConnectionLost(message())
        }
        _ => Error::Postgres(message()),
    }
}
