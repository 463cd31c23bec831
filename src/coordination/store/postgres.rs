//! PostgreSQL: several connections, each with a thread, a transaction for each unit.
//!
//! Units of one project follow one another (they lock its row), so that the rules see what they would see in
//! front of one writer.

use std::collections::HashMap;
use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

use postgres::config::SslMode;
use postgres::error::SqlState;
use postgres::types::{FromSql, IsNull, ToSql, Type, private::BytesMut};
use postgres::{Client, Config, NoTls, Statement};
use rustls_platform_verifier::ConfigVerifierExt;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::queue::{Job, PATIENCE, Takers};
use super::sql::{Cell, Row, Sql, Value};
use super::{Clock, Fault, Time, Work, migrations};

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(5);

/// After which silence a server is asked whether it is there.
const KEEPALIVE: Duration = Duration::from_secs(10);

/// Nothing here takes long, and nobody waits for ever for somebody who holds a row.
const LIMITS: &str = "-c lock_timeout=5s -c statement_timeout=10s -c idle_in_transaction_session_timeout=30s";

/// Any number will do that nobody else takes: "n8n-lens".
const MIGRATION_LOCK: &str = "SELECT pg_advisory_lock(7942102612205954675)";

/// How often a transaction is tried that another one stood in the way of.
const TRIES: usize = 5;

/// Where the server is, and as whom to ask it.
pub(super) struct Database(Config);

impl Database {
    /// Takes `postgres://…`, and brings the database up to date.
    pub(super) fn open(url: &str) -> Result<Self, Fault> {
        // The parser's own words may hold the password.
        let mut config: Config = url.parse().map_err(|_| {
            Fault::Unfit(
                "The address of the database cannot be used; it must be like postgres://user:password@host:5432/name."
                    .to_owned(),
            )
        })?;
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        let options = config.get_options().map_or_else(|| LIMITS.to_owned(), |given| format!("{LIMITS} {given}"));
        config.options(&options);
        config.keepalives_idle(KEEPALIVE).tcp_user_timeout(PATIENCE);
        if config.get_application_name().is_none() {
            config.application_name("n8n-lens");
        }
        let database = Self(config);
        // Of two processes that come at once, the second waits; the end of the connection frees the lock, too.
        let mut client = database.connect()?;
        client.batch_execute(MIGRATION_LOCK).map_err(fault)?;
        migrations::postgres(&mut client)?;
        Ok(database)
    }

    fn connect(&self) -> Result<Client, Fault> {
        let wanted = self.0.get_ssl_mode();
        let plain = || self.0.clone().ssl_mode(SslMode::Disable).connect(NoTls).map_err(|error| reached(&error));
        if wanted == SslMode::Disable {
            return plain();
        }
        // Both do the same whoever comes first; there is no other provider.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let trust = rustls::ClientConfig::with_platform_verifier()
            .map_err(|error| Fault::Unfit(format!("The certificates of this machine cannot be read: {error}.")))?;
        match self.0.connect(MakeRustlsConnect::new(trust)) {
            Ok(client) => Ok(client),
            // As every client of PostgreSQL does where encryption is only preferred.
            Err(error) if wanted == SslMode::Prefer && error.as_db_error().is_none() => plain(),
            Err(error) => Err(reached(&error)),
        }
    }

    /// What a thread does, until the store is gone. It connects when it has something to do.
    pub(super) fn worker(self: Arc<Self>, clock: Clock) -> impl FnOnce(Takers) + Send {
        move |takers: Takers| {
            let mut connection = None;
            // A server has only so many connections for all.
            while let Ok(next) = takers.next_before_idle() {
                let Some(mut job) = next else {
                    connection = None;
                    continue;
                };
                let done = self.run(&mut connection, &clock, job.as_mut());
                job.answer(done);
            }
        }
    }

    /// Runs a unit, on a new connection if the old one broke.
    fn run(&self, connection: &mut Option<Connection>, clock: &Clock, job: &mut dyn Job) -> Result<(), Fault> {
        let mut tries = 1..TRIES;
        loop {
            let open = match connection.take().filter(|open| !open.client.is_closed()) {
                Some(open) => open,
                None => Connection::new(self.connect()?),
            };
            let done = connection.insert(open).unit(clock, job);
            match done {
                Err(Fault::Busy | Fault::Unreachable(_)) if tries.next().is_some() => {}
                done => return done,
            }
        }
    }
}

struct Connection {
    client: Client,
    prepared: HashMap<&'static str, Statement>,
}

impl Connection {
    fn new(client: Client) -> Self {
        Self { client, prepared: HashMap::new() }
    }

    fn unit(&mut self, clock: &Clock, job: &mut dyn Job) -> Result<(), Fault> {
        let transaction = self.client.transaction().map_err(fault)?;
        let mut sql = Transaction { transaction, prepared: &mut self.prepared, broken: None };
        let now = match clock {
            // Replicas may have clocks of their own; the database has one.
            Clock::Database => sql.now()?,
            clock => clock.now(),
        };
        let keep = job.run(&mut Work::new(&mut sql, now));
        match sql.broken {
            Some(fault @ (Fault::Busy | Fault::Blocked | Fault::Unreachable(_))) => Err(fault),
            Some(fault) if keep => Err(fault),
            _ if keep => sql.transaction.commit().map_err(|error| match fault(error) {
                Fault::Unreachable(why) => Fault::Unknown(why),
                fault => fault,
            }),
            _ => Ok(()),
        }
    }
}

struct Transaction<'a> {
    transaction: postgres::Transaction<'a>,
    prepared: &'a mut HashMap<&'static str, Statement>,
    /// The first statement that failed: PostgreSQL takes none after it.
    broken: Option<Fault>,
}

impl Transaction<'_> {
    fn now(&mut self) -> Result<Time, Fault> {
        const NOW: &str = "SELECT CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS BIGINT)";
        self.query(NOW, &[])?.pop().ok_or(Fault::Ours)?.next()
    }

    /// A statement in PostgreSQL's spelling, which has `$1` for `?1`.
    fn prepare(&mut self, statement: &'static str) -> Result<Statement, Fault> {
        if let Some(prepared) = self.prepared.get(statement) {
            return Ok(prepared.clone());
        }
        let prepared = self.transaction.prepare(&statement.replace('?', "$")).map_err(|error| self.note(error))?;
        self.prepared.insert(statement, prepared.clone());
        Ok(prepared)
    }

    fn note(&mut self, error: postgres::Error) -> Fault {
        let fault = fault(error);
        self.broken.get_or_insert(fault).clone()
    }
}

impl Sql for Transaction<'_> {
    fn query(&mut self, statement: &'static str, values: &[Value<'_>]) -> Result<Vec<Row>, Fault> {
        let prepared = self.prepare(statement)?;
        let values: Vec<_> = values.iter().map(|value| value as &(dyn ToSql + Sync)).collect();
        let rows = self.transaction.query(&prepared, &values).map_err(|error| self.note(error))?;
        let cells = |row: &postgres::Row| (0..row.len()).map(|column| row.try_get(column)).collect::<Result<_, _>>();
        rows.iter().map(|row| cells(row).map(Row::new).map_err(|error| self.note(error))).collect()
    }

    fn execute(&mut self, statement: &'static str, values: &[Value<'_>]) -> Result<u64, Fault> {
        let prepared = self.prepare(statement)?;
        let values: Vec<_> = values.iter().map(|value| value as &(dyn ToSql + Sync)).collect();
        self.transaction.execute(&prepared, &values).map_err(|error| self.note(error))
    }

    fn lock(&mut self, query: &'static str, values: &[Value<'_>]) -> Result<(), Fault> {
        self.query(query, values).map(drop)
    }
}

type Failure = Box<dyn std::error::Error + Sync + Send>;

impl ToSql for Value<'_> {
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

    postgres::types::to_sql_checked!();
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

pub(super) fn fault(error: postgres::Error) -> Fault {
    let Some(state) = error.code() else {
        return match error.is_closed() || error.source().is_some_and(|source| source.is::<std::io::Error>()) {
            true => Fault::Unreachable(told(&error)),
            false => Fault::Refused(told(&error)),
        };
    };
    match *state {
        SqlState::T_R_SERIALIZATION_FAILURE | SqlState::T_R_DEADLOCK_DETECTED => Fault::Busy,
        SqlState::LOCK_NOT_AVAILABLE | SqlState::QUERY_CANCELED => Fault::Blocked,
        SqlState::ADMIN_SHUTDOWN | SqlState::CRASH_SHUTDOWN | SqlState::CANNOT_CONNECT_NOW => {
            Fault::Unreachable(told(&error))
        }
        _ => Fault::Refused(told(&error)),
    }
}

/// Why there is no connection: the server does not answer, or does not let us in.
fn reached(error: &postgres::Error) -> Fault {
    match error.as_db_error() {
        Some(refusal)
            if refusal.code() != &SqlState::CANNOT_CONNECT_NOW && refusal.code() != &SqlState::TOO_MANY_CONNECTIONS =>
        {
            Fault::Unfit(format!("PostgreSQL does not let us in: {}. Is --db right?", refusal.message()))
        }
        _ => Fault::Unreachable(told(error)),
    }
}

/// The server's words; the error itself says only that there are some.
pub(super) fn told(error: &postgres::Error) -> String {
    match (error.as_db_error(), error.source()) {
        (Some(told), _) => told.message().to_owned(),
        (None, Some(source)) => format!("{error}: {source}"),
        (None, None) => error.to_string(),
    }
}
