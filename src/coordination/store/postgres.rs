//! PostgreSQL: several connections, each with its own thread, and one transaction per unit of work.
//!
//! Units that change the same project lock its row and so run one after another. The rules can be written as if
//! there were a single writer.

use std::collections::HashMap;
use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

use rustls_platform_verifier::ConfigVerifierExt;
use tokio_postgres::config::SslMode;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, private::BytesMut};
use tokio_postgres::{Client, Config, Statement};
use tokio_util::sync::CancellationToken;

use super::queue::{ANSWER_TIMEOUT, Job, JobReceiver};
use super::sql::{Cell, Row, Sql, SqlValue};
use super::{Clock, StoreError, Time, Work, migrations};
use crate::postgres::{self, Limits, Waiter};

/// Replies must arrive before the caller gives up; the server cancels slow statements earlier. A row holds a few texts of
/// 32 KiB, a list a few thousand rows.
const LIMITS: Limits = Limits {
    login: ANSWER_TIMEOUT,
    reply: ANSWER_TIMEOUT,
    message_bytes: 4 * 1024 * 1024,
    row_bytes: 256 * 1024 * 1024,
};

/// How long the migrations may take together.
const MIGRATION_TIMEOUT: Duration = Duration::from_secs(60);

/// Statements are quick, and no lock wait is unlimited.
const TIMEOUT_OPTIONS: &str = "-c lock_timeout=5s -c statement_timeout=10s -c idle_in_transaction_session_timeout=30s";

/// The key only has to differ from those of other programs; it spells "n8n-lens".
const MIGRATION_LOCK: &str = "SELECT pg_advisory_lock(7942102612205954675)";

/// How many times a unit of work is tried if it conflicts with another one or the connection is lost.
const MAX_ATTEMPTS: usize = 5;

/// How to connect to the server.
pub(super) struct Database(Config);

impl Database {
    /// Parses the URL, connects, and brings the database up to date.
    pub(super) fn open(url: &str) -> Result<Self, StoreError> {
        // The parser's own message can contain the password.
        let mut config: Config = url.parse().map_err(|_| {
            StoreError::Unusable(
                "The URL of the database is invalid; it must look like postgres://user:password@host:5432/name."
                    .to_owned(),
            )
        })?;
        // Later options win, so those in the URL override ours.
        let options = match config.get_options() {
            Some(options) => format!("{TIMEOUT_OPTIONS} {options}"),
            None => TIMEOUT_OPTIONS.to_owned(),
        };
        config.options(&options);
        if config.get_application_name().is_none() {
            config.application_name("n8n-lens");
        }
        let database = Self(config);
        // If two processes start at once, the second waits. The lock is released when the connection closes.
        let Connection { mut client, waiter, .. } = database.connect()?;
        waiter.wait(client.batch_execute(MIGRATION_LOCK)).map_err(store_error)?;
        let migrated = async { Ok(migrations::postgres(&mut client).await) };
        waiter.run(MIGRATION_TIMEOUT, migrated).map_err(store_error)??;
        drop(client);
        Ok(database)
    }

    fn connect(&self) -> Result<Connection, StoreError> {
        let connect = |tls| postgres::connect(&self.0, tls, LIMITS, CancellationToken::new());
        let ssl_mode = self.0.get_ssl_mode();
        if ssl_mode == SslMode::Disable {
            return connect(None).map(Connection::new).map_err(connect_error);
        }
        crate::tls::use_ring();
        let tls = rustls::ClientConfig::with_platform_verifier().map_err(|error| {
            StoreError::Unusable(format!("The root certificates of this machine cannot be loaded: {error}."))
        })?;
        let connected = match connect(Some(tls)) {
            // With sslmode=prefer, every PostgreSQL client falls back to an unencrypted connection.
            Err(postgres::Error::Server(error)) if ssl_mode == SslMode::Prefer && error.as_db_error().is_none() => {
                connect(None)
            }
            connected => connected,
        };
        connected.map(Connection::new).map_err(connect_error)
    }

    /// The body of a thread: runs units of work until the store is dropped. It connects for the first one.
    pub(super) fn worker(self: Arc<Self>, clock: Clock) -> impl FnOnce(JobReceiver) + Send {
        move |jobs: JobReceiver| {
            let mut connection = None;
            // An idle thread returns its connection: a server has a limited number of them.
            while let Ok(next) = jobs.next_or_idle() {
                let Some(mut job) = next else {
                    connection = None;
                    continue;
                };
                let outcome = self.run(&mut connection, &clock, job.as_mut());
                job.answer(outcome);
            }
        }
    }

    /// Runs a unit of work, on a new connection if the old one broke, and again if it conflicted with another one. A unit
    /// whose caller is gone is skipped.
    fn run(&self, connection: &mut Option<Connection>, clock: &Clock, job: &mut dyn Job) -> Result<(), StoreError> {
        let mut retries = 1..MAX_ATTEMPTS;
        while !job.is_abandoned() {
            let open = match connection.take().filter(|open| !open.client.is_closed()) {
                Some(open) => open,
                None => self.connect()?,
            };
            let outcome = connection.insert(open).run_unit(clock, job);
            if matches!(outcome, Err(StoreError::Unreachable(_) | StoreError::OutcomeUnknown(_))) {
                // The next replies would belong to earlier statements.
                *connection = None;
            }
            match outcome {
                Err(StoreError::Busy | StoreError::Unreachable(_)) if retries.next().is_some() => {}
                outcome => return outcome,
            }
        }
        Ok(())
    }
}

struct Connection {
    client: Client,
    /// Dropped after the client.
    waiter: Waiter,
    prepared: HashMap<String, Statement>,
}

impl Connection {
    fn new((client, waiter): (Client, Waiter)) -> Self {
        Self { client, waiter, prepared: HashMap::new() }
    }

    fn run_unit(&mut self, clock: &Clock, job: &mut dyn Job) -> Result<(), StoreError> {
        let Self { client, waiter, prepared } = self;
        let transaction = waiter.wait(client.transaction()).map_err(store_error)?;
        let mut sql = Transaction { transaction, waiter, prepared, failed: None };
        let now = match clock {
            // Several servers can share the database, and their clocks can differ.
            Clock::Database => sql.now()?,
            clock => clock.now(),
        };
        let commit = job.run(&mut Work::new(&mut sql, now));
        if commit && sql.failed.is_none() {
            return waiter.wait(sql.transaction.commit()).map_err(|error| match store_error(error) {
                StoreError::Unreachable(why) => StoreError::OutcomeUnknown(why),
                error => error,
            });
        }
        let failed = sql.failed.take();
        if !matches!(failed, Some(StoreError::Unreachable(_))) {
            waiter.wait(sql.transaction.rollback()).map_err(store_error)?;
        }
        match failed {
            Some(error @ (StoreError::Busy | StoreError::LockTimeout | StoreError::Unreachable(_))) => Err(error),
            Some(error) if commit => Err(error),
            _ => Ok(()),
        }
    }
}

struct Transaction<'a> {
    transaction: tokio_postgres::Transaction<'a>,
    waiter: &'a Waiter,
    prepared: &'a mut HashMap<String, Statement>,
    /// The error of the first statement that failed: PostgreSQL accepts no statement after it.
    failed: Option<StoreError>,
}

impl Transaction<'_> {
    fn now(&mut self) -> Result<Time, StoreError> {
        const NOW: &str = "SELECT CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS BIGINT)";
        self.query(NOW, &[])?.pop().ok_or(StoreError::Bug)?.next()
    }

    /// Prepares a statement, once per connection. PostgreSQL writes `$1` for `?1`.
    fn prepare(&mut self, statement: &str) -> Result<Statement, StoreError> {
        if let Some(prepared) = self.prepared.get(statement) {
            return Ok(prepared.clone());
        }
        let numbered = statement.replace('?', "$");
        let prepared = self.waiter.wait(self.transaction.prepare(&numbered));
        let prepared = prepared.map_err(|error| self.fail(error))?;
        self.prepared.insert(statement.to_owned(), prepared.clone());
        Ok(prepared)
    }

    fn fail(&mut self, error: postgres::Error) -> StoreError {
        let error = store_error(error);
        self.failed.get_or_insert(error).clone()
    }
}

impl Sql for Transaction<'_> {
    fn query(&mut self, statement: &str, values: &[SqlValue<'_>]) -> Result<Vec<Row>, StoreError> {
        let prepared = self.prepare(statement)?;
        let values: Vec<_> = values.iter().map(|value| value as &(dyn ToSql + Sync)).collect();
        let rows = self.waiter.wait(self.transaction.query(&prepared, &values)).map_err(|error| self.fail(error))?;
        let cells =
            |row: &tokio_postgres::Row| (0..row.len()).map(|column| row.try_get(column)).collect::<Result<_, _>>();
        rows.iter().map(|row| cells(row).map(Row::new).map_err(|error| self.fail(error.into()))).collect()
    }

    fn execute(&mut self, statement: &str, values: &[SqlValue<'_>]) -> Result<u64, StoreError> {
        let prepared = self.prepare(statement)?;
        let values: Vec<_> = values.iter().map(|value| value as &(dyn ToSql + Sync)).collect();
        self.waiter.wait(self.transaction.execute(&prepared, &values)).map_err(|error| self.fail(error))
    }

    fn lock(&mut self, query: &str, values: &[SqlValue<'_>]) -> Result<(), StoreError> {
        self.query(query, values).map(drop)
    }
}

type Failure = Box<dyn std::error::Error + Sync + Send>;

impl ToSql for SqlValue<'_> {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Failure> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Integer(number) => number.to_sql(kind, out),
            Self::Real(number) => number.to_sql(kind, out),
            Self::Text(text) => text.to_sql(kind, out),
            Self::Bytes(bytes) => bytes.to_sql(kind, out),
        }
    }

    fn accepts(kind: &Type) -> bool {
        [Type::INT8, Type::FLOAT8, Type::TEXT, Type::BYTEA].contains(kind)
    }

    tokio_postgres::types::to_sql_checked!();
}

impl<'a> FromSql<'a> for Cell {
    fn from_sql(kind: &Type, raw: &'a [u8]) -> Result<Self, Failure> {
        Ok(match *kind {
            Type::INT8 => Self::Integer(i64::from_sql(kind, raw)?),
            Type::FLOAT8 => Self::Real(f64::from_sql(kind, raw)?),
            _ => Self::Text(String::from_sql(kind, raw)?),
        })
    }

    fn from_sql_null(_kind: &Type) -> Result<Self, Failure> {
        Ok(Self::Null)
    }

    fn accepts(kind: &Type) -> bool {
        [Type::INT8, Type::FLOAT8, Type::TEXT].contains(kind)
    }
}

fn store_error(error: postgres::Error) -> StoreError {
    let error = match error {
        postgres::Error::Server(error) => error,
        error => return no_reply(&error),
    };
    let Some(state) = error.code() else {
        return match error.is_closed() || error.source().is_some_and(|source| source.is::<std::io::Error>()) {
            true => StoreError::Unreachable(message(&error)),
            false => StoreError::Rejected(message(&error)),
        };
    };
    match *state {
        SqlState::T_R_SERIALIZATION_FAILURE | SqlState::T_R_DEADLOCK_DETECTED => StoreError::Busy,
        SqlState::LOCK_NOT_AVAILABLE | SqlState::QUERY_CANCELED => StoreError::LockTimeout,
        SqlState::ADMIN_SHUTDOWN | SqlState::CRASH_SHUTDOWN | SqlState::CANNOT_CONNECT_NOW => {
            StoreError::Unreachable(message(&error))
        }
        _ => StoreError::Rejected(message(&error)),
    }
}

/// Why connecting failed: the server did not answer, or refused the connection.
fn connect_error(error: postgres::Error) -> StoreError {
    let error = match error {
        postgres::Error::Server(error) => error,
        error => return no_reply(&error),
    };
    match error.as_db_error() {
        Some(refusal)
            if refusal.code() != &SqlState::CANNOT_CONNECT_NOW && refusal.code() != &SqlState::TOO_MANY_CONNECTIONS =>
        {
            StoreError::Unusable(format!("PostgreSQL refused the connection: {}. Check --db.", refusal.message()))
        }
        _ => StoreError::Unreachable(message(&error)),
    }
}

/// The failure between us and the server.
fn no_reply(error: &postgres::Error) -> StoreError {
    match error {
        postgres::Error::TooLarge => StoreError::Unusable(
            "PostgreSQL sent more than n8n-lens stores. Check whether --db names n8n-lens's own database.".to_owned(),
        ),
        error => StoreError::Unreachable(error.to_string()),
    }
}

/// The server's message, or the underlying cause; the error's own text has neither.
fn message(error: &tokio_postgres::Error) -> String {
    match (error.as_db_error(), error.source()) {
        (Some(error), _) => error.message().to_owned(),
        (None, Some(source)) => format!("{error}: {source}"),
        (None, None) => error.to_string(),
    }
}
