//! PostgreSQL: one connection and one read-only transaction per question.
//!
//! No client receives a part of a field, and `substr` unpacks the text from its beginning each time. So the first 4 MiB,
//! which are enough for most summaries, come in prefixes that grow; what is beyond comes in one stream of rows of 64 KiB. The
//! server unpacks the whole text for that stream, and takes twice its size in memory meanwhile.

mod address;
mod connection;
mod password;
mod tls;

use std::path::PathBuf;
use std::time::Duration;

use postgres::error::SqlState;
use postgres::fallible_iterator::FallibleIterator;
use postgres::types::ToSql;
use postgres::{IsolationLevel, Row as PostgresRow, Transaction};

pub(super) use self::address::Address;
use super::Reading;
use super::error::Error;
use super::row::Row;
use super::session::{Contents, MAX_WORKFLOW_BYTES, Session, Values, check_workflow_size};
use super::spool::{Expected, GrowingText, Spool};
use super::sql::{DATA, Dialect, Parameter, Tables};
use crate::cause::innermost;

/// How large the prefixes are, characters.
const PREFIXES: [i32; 3] = [64 * 1024, 512 * 1024, 4 * 1024 * 1024];

/// How long a statement may take, unless the URL says otherwise. A text of 500 MB takes two seconds.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(60);

/// A database of n8n on a PostgreSQL server.
#[derive(Clone, Debug)]
pub(super) struct Database {
    address: Address,
    reading: Reading,
}

impl Database {
    pub(super) fn new(address: Address, reading: Reading) -> Self {
        Self { address, reading }
    }

    /// Answers one question; `work` runs again, once, if the connection is lost.
    ///
    /// # Errors
    /// The server cannot be reached or refuses, or `work` fails.
    pub(super) fn ask<T>(&self, work: &mut dyn FnMut(&mut dyn Session) -> Result<T, Error>) -> Result<T, Error> {
        match self.ask_once(work) {
            Err(Error::ConnectionLost(why)) => {
                tracing::warn!(%why, "the connection to PostgreSQL was lost; asking once more");
                self.ask_once(work)
            }
            done => done,
        }
    }

    fn ask_once<T>(&self, work: &mut dyn FnMut(&mut dyn Session) -> Result<T, Error>) -> Result<T, Error> {
        let mut client = self.address.connect(STATEMENT_TIMEOUT, self.reading.lock_timeout)?;
        let transaction = client.build_transaction().isolation_level(IsolationLevel::RepeatableRead).read_only(true);
        let mut transaction = transaction.start().map_err(error)?;
        let encoding: String =
            transaction.query_one("SHOW server_encoding", &[]).and_then(|row| row.try_get(0)).map_err(error)?;
        if encoding != "UTF8" {
            return Err(Error::Encoding(encoding));
        }
        let dialect = Dialect::Postgres { schema: self.address.schema().to_owned() };
        let schema = self.address.schema();
        let tables = Tables::find(dialect, &self.reading.prefix, |table| columns(&mut transaction, schema, table))?;
        work(&mut PostgresSession { transaction, tables, spool: self.reading.spool.clone() })
    }
}

/// The columns of a table, whether or not this user may read it.
fn columns(transaction: &mut Transaction<'_>, schema: &str, table: &str) -> Result<Vec<String>, Error> {
    const COLUMNS: &str = "SELECT CAST(a.attname AS text) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid \
        JOIN pg_namespace n ON n.oid = c.relnamespace \
        WHERE n.nspname = $1 AND c.relname = $2 AND a.attnum > 0 AND NOT a.attisdropped";
    let rows = transaction.query(COLUMNS, &[&schema, &table]).map_err(error)?;
    rows.iter().map(|row| row.try_get(0).map_err(error)).collect()
}

/// A transaction, for one question.
struct PostgresSession<'a> {
    transaction: Transaction<'a>,
    tables: Tables,
    spool: Option<PathBuf>,
}

impl Session for PostgresSession<'_> {
    fn tables(&self) -> &Tables {
        &self.tables
    }

    fn query(
        &mut self,
        statement: &str,
        parameters: &[Parameter],
        each: &mut dyn FnMut(Values) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let values = parameters.iter().map(|parameter| match parameter {
            Parameter::Integer(number) => number as &(dyn ToSql + Sync),
            Parameter::Text(text) => text,
        });
        let mut rows = self.transaction.query_raw(statement, values).map_err(error)?;
        while let Some(row) = rows.next().map_err(error)? {
            each((0..row.len()).map(|column| row.try_get(column)).collect::<Result<_, _>>().map_err(error)?)?;
        }
        Ok(())
    }

    fn is_n8n_running(&self) -> Option<bool> {
        None
    }

    fn contents(&mut self, row: &Row) -> Result<Option<Contents<'_>>, Error> {
        let id = row.id().to_owned();
        let number: i64 = id.parse().map_err(|_| Error::NotFound(id.clone()))?;
        let Some(data) = self.data_row(number)? else { return Ok(None) };
        let bytes = |column| data.try_get::<_, Option<i64>>(column).map_err(error);
        let (length, workflow_bytes) = (bytes(0)?.unwrap_or(0), bytes(1)?.unwrap_or(0));
        let workflow: Option<String> = data.try_get(2).map_err(error)?;
        check_workflow_size(&id, workflow_bytes as u64)?;
        let workflow = workflow.unwrap_or_default().into_bytes();
        let mut prefixes = PREFIXES.into_iter();
        let spool = self.spool.clone();
        let text = GrowingText::new(spool.as_ref(), length as u64, move |spool, expected| {
            let before = spool.filled();
            match prefixes.next().filter(|_| expected == Expected::Beginning) {
                Some(characters) => self.prefix(number, characters, spool)?,
                None => self.stream(number, spool)?,
            }
            if spool.filled() > before { Ok(()) } else { Err(Error::Changed(id.clone())) }
        });
        Ok(Some(Contents { workflow, data: Box::new(text), is_escaped: false }))
    }
}

impl PostgresSession<'_> {
    /// The lengths of the text and the workflow, and the workflow.
    fn data_row(&mut self, id: i64) -> Result<Option<PostgresRow>, Error> {
        let statement = format!(
            r#"SELECT CAST(octet_length(d."data") AS bigint), CAST(octet_length(CAST(d."workflowData" AS text)) AS bigint),
               CASE WHEN octet_length(CAST(d."workflowData" AS text)) <= {MAX_WORKFLOW_BYTES} THEN CAST(d."workflowData" AS text) END
               FROM {} d WHERE d."executionId" = $1::bigint"#,
            self.tables.table(DATA)
        );
        self.transaction.query_opt(&statement, &[&id]).map_err(error)
    }

    /// Adds what a prefix has beyond the spool.
    fn prefix(&mut self, id: i64, characters: i32, spool: &mut Spool) -> Result<(), Error> {
        let statement = format!(
            r#"SELECT substr(d."data", 1, $2) FROM {} d WHERE d."executionId" = $1::bigint"#,
            self.tables.table(DATA)
        );
        let row = self.transaction.query_one(&statement, &[&id, &characters]).map_err(error)?;
        let text: &str = row.try_get(0).map_err(error)?;
        spool.add(text.as_bytes().get(spool.filled() as usize..).unwrap_or_default())
    }

    /// Adds everything beyond the spool.
    fn stream(&mut self, id: i64, spool: &mut Spool) -> Result<(), Error> {
        let statement = format!(
            r#"SELECT substring(d.b FROM i FOR 65536)
               FROM (SELECT convert_to("data", 'UTF8') AS b FROM {} WHERE "executionId" = $1::bigint OFFSET 0) d,
               LATERAL generate_series($2::int, octet_length(d.b), 65536) i"#,
            self.tables.table(DATA)
        );
        let next = i32::try_from(spool.filled() + 1).map_err(|_| Error::Postgres("the text is too long".to_owned()))?;
        let values: [&(dyn ToSql + Sync); 2] = [&id, &next];
        let mut rows = self.transaction.query_raw(&statement, values).map_err(error)?;
        while let Some(row) = rows.next().map_err(error)? {
            spool.add(row.try_get(0).map_err(error)?)?;
        }
        Ok(())
    }
}

/// PostgreSQL's error in our words. Its messages name tables and roles, never a password.
fn error(error: postgres::Error) -> Error {
    let Some(reported) = error.as_db_error() else {
        return Error::ConnectionLost(innermost(&error).to_string());
    };
    match *reported.code() {
        SqlState::QUERY_CANCELED => Error::StatementTimeout,
        SqlState::LOCK_NOT_AVAILABLE => Error::Locked,
        SqlState::INSUFFICIENT_PRIVILEGE => Error::Privilege(reported.message().to_owned()),
        SqlState::ADMIN_SHUTDOWN | SqlState::CRASH_SHUTDOWN | SqlState::CANNOT_CONNECT_NOW => {
            Error::ConnectionLost(reported.message().to_owned())
        }
        _ => Error::Postgres(reported.message().to_owned()),
    }
}
