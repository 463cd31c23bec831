//! What can go wrong between n8n-lens and n8n's own store, worded for the reader of a tool's answer. No message contains a
//! path, an address, a user's name or a password.

use std::io;

/// The files of [`Error::Forbidden`].
pub(super) const DATABASE: &str = "n8n's database";
pub(super) const BUNDLE: &str = "the file with the data (bundle.json)";

/// Why an execution cannot be read from the store.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No such execution; the text is its id.
    #[error(
        "Execution '{0}' not found in n8n's store: it was never saved, or n8n has deleted it. list_executions shows the existing ones."
    )]
    NotFound(String),
    /// Soft-deleted; the text is its id.
    #[error(
        "Execution '{0}' was deleted in n8n and is not shown. Until n8n removes its data, n8n-lens started with --deleted shows it."
    )]
    Deleted(String),
    /// A row without data; the text is its id.
    #[error("Execution '{0}' has no data row: its data was never saved, or was pruned. Open another execution.")]
    NoData(String),
    /// The row changed or vanished between two reads; the text is its id.
    #[error("Execution '{0}' changed or was deleted (pruned) while it was read. None of it is shown; try again.")]
    Changed(String),
    /// The data is in an object store.
    #[error(
        "The data of execution '{id}' is stored in {place}, which n8n-lens cannot open. Set N8N_URL and N8N_API_KEY: n8n's API then answers for such executions."
    )]
    Elsewhere {
        /// The execution's id.
        id: String,
        /// Where n8n stored the data: `s3`, `azure`, or an unknown word.
        place: String,
    },
    /// An id of n8n's engine v2.
    #[error(
        "'{0}' looks like an id of n8n's engine v2, whose executions are in another database. Set N8N_URL and N8N_API_KEY: n8n's API then answers for them."
    )]
    EngineV2(String),
    /// The data is not text.
    #[error(
        "The data of execution '{id}' is stored as {kind} instead of text, a form that this version does not know. Update n8n-lens."
    )]
    NotText {
        /// The execution's id.
        id: String,
        /// SQLite's name of the type.
        kind: String,
    },
    /// A workflow above the limit.
    #[error("The workflow of execution '{id}' takes {} in n8n's store; n8n-lens reads at most {}. Open it in n8n's editor.", crate::units::megabytes(*.bytes), crate::units::megabytes(*.most))]
    WorkflowTooLarge {
        /// The execution's id.
        id: String,
        /// Its size, bytes.
        bytes: u64,
        /// The limit, bytes.
        most: u64,
    },
    /// Not the tables of n8n.
    #[error(
        "The table {table} was not found in n8n's database. Check the table prefix (DB_TABLE_PREFIX), on PostgreSQL the schema (?schema=…), and whether it is n8n's database."
    )]
    NoTable {
        /// The table, with its prefix.
        table: String,
    },
    /// A view or a virtual table, whose rows are computed.
    #[error(
        "{table} is a {kind} in this database; n8n keeps executions in tables. Check whether --store names n8n's database."
    )]
    NotTable {
        /// Its name, with n8n's prefix.
        table: String,
        /// What it is.
        kind: &'static str,
    },
    /// A table without a column that every n8n has.
    #[error(
        "The table {table} has no column {column}, which every version of n8n has. Check whether --store names n8n's database."
    )]
    NoColumn {
        /// The table, with its prefix.
        table: String,
        /// The column.
        column: &'static str,
    },
    /// There is no database file.
    #[error(
        "n8n's database file was not found. Check --store: it names n8n's folder (such as ~/.n8n), or the file itself."
    )]
    NoFile,
    /// The operating system refuses access.
    #[error("This user may not read {0}. Run n8n-lens as a user that may read n8n's folder and the files in it.")]
    Forbidden(&'static str),
    /// Not SQLite.
    #[error("The file is not an SQLite database: it is encrypted, damaged, or another file. Check --store.")]
    NotSqlite,
    /// SQLite reports damage.
    #[error(
        "n8n's database is damaged ({0}). Nothing of it is shown; check it with SQLite's PRAGMA integrity_check, on a copy."
    )]
    Damaged(String),
    /// Locked for too long.
    #[error(
        "n8n's database has been locked by another process for too long (5 s, or less with --idle-timeout). Try again later."
    )]
    Locked,
    /// A WAL without its index.
    #[error(
        "n8n's database has a -wal file but no -shm file: n8n was killed, or only some files were copied. Start n8n once, or copy the database and its -wal file to another folder, open them there with sqlite3 once, and let --store name the copy."
    )]
    WalWithoutIndex,
    /// A hot journal.
    #[error(
        "n8n's database has a hot journal: n8n was killed in the middle of a change, and a reader must not undo it. Start n8n once, or copy the database and its -journal file together, open the copy with sqlite3 once, and let --store name the copy."
    )]
    HotJournal,
    /// SQLite's own error.
    #[error("n8n's database cannot be read: {0}. Try again, and check it with n8n-lens check.")]
    Sqlite(String),
    /// The bundle is not where n8n writes it; the text is the execution's id.
    #[error(
        "The file with the data of execution '{0}' (bundle.json) was not found: n8n has deleted it, or its storage folder is elsewhere. Set N8N_STORAGE_PATH as n8n has it."
    )]
    NoBundle(String),
    /// Not a bundle of a known form.
    #[error(
        "The file with the data (bundle.json) is cut off, damaged, or not a bundle of n8n: {0}. None of it is shown."
    )]
    BrokenBundle(String),
    /// A bundle of another version.
    #[error("The file with the data (bundle.json) has version {0}; this n8n-lens knows version 1. Update n8n-lens.")]
    BundleVersion(String),
    /// PostgreSQL does not answer.
    #[error(
        "PostgreSQL cannot be reached: {0}. Check the host and port of --store, and whether PostgreSQL is running."
    )]
    Unreachable(String),
    /// PostgreSQL refused the user or the password.
    #[error(
        "PostgreSQL refused to log in ({0}). Check the user in --store, and DB_POSTGRESDB_PASSWORD, PGPASSWORD or the pgpass file."
    )]
    Login(String),
    /// TLS failed.
    #[error(
        "The encrypted connection to PostgreSQL failed: {0}. Check DB_POSTGRESDB_SSL_ENABLED, _SSL_CA, _SSL_CERT, _SSL_KEY and _SSL_REJECT_UNAUTHORIZED."
    )]
    Tls(String),
    /// The connection broke in the middle, twice.
    #[error("The connection to PostgreSQL was lost ({0}), twice. None of the execution is shown; try again later.")]
    ConnectionLost(String),
    /// PostgreSQL gave up.
    #[error(
        "PostgreSQL cancelled the query: it took longer than statement_timeout. Try again later, or allow more with --idle-timeout, in seconds."
    )]
    StatementTimeout,
    /// The database does not answer, or a statement takes too long.
    #[error("The database did not answer in time. Try again later, or allow more with --idle-timeout, in seconds.")]
    Silent,
    /// More, or larger, rows than n8n writes.
    #[error(
        "The database returned more than n8n keeps of an execution. None of it is shown; check whether --store names n8n's database."
    )]
    TooMuch,
    /// The role lacks a privilege.
    #[error(
        "PostgreSQL refuses access ({0}). GRANT SELECT ON execution_entity, execution_data TO the user of --store."
    )]
    Privilege(String),
    /// Another error of PostgreSQL.
    #[error("PostgreSQL returned an error: {0}. Check the database with n8n-lens check.")]
    Postgres(String),
    /// The database is not in UTF-8.
    #[error("n8n's database is encoded in {0}; n8n-lens reads only UTF-8.")]
    Encoding(String),
    /// The spool cannot be written.
    #[error(
        "The temporary file for the execution's data cannot be written: {0}. Free some space, or name another folder with --spool-dir."
    )]
    Spool(io::ErrorKind),
    /// Reading failed.
    #[error("n8n's store cannot be read: {0}. Try again.")]
    Io(io::ErrorKind),
    /// The caller is gone.
    #[error("The call was cancelled.")]
    Cancelled,
    /// The time of a walk over many executions ended while this one was read.
    #[error("The time of this call is over. Continue after the last execution that it shows.")]
    OutOfTime,
}

impl Error {
    /// Whether n8n's API may return what the store cannot.
    pub fn is_elsewhere(&self) -> bool {
        matches!(self, Self::Elsewhere { .. } | Self::EngineV2(_))
    }

    /// Whether other executions of the store may still be readable.
    pub(super) fn is_of_one_execution(&self) -> bool {
        match self {
            Self::NoData(_) | Self::Changed(_) | Self::NotText { .. } | Self::WorkflowTooLarge { .. } => true,
            Self::NoBundle(_) | Self::BrokenBundle(_) | Self::BundleVersion(_) => true,
            Self::Forbidden(what) => *what == BUNDLE,
            other => other.is_elsewhere(),
        }
    }

    /// A failure to read a file; `what` names the file in the message.
    pub(super) fn reading(what: &'static str) -> impl Fn(io::Error) -> Self {
        move |error| match error.kind() {
            io::ErrorKind::PermissionDenied => Self::Forbidden(what),
            kind => Self::Io(kind),
        }
    }
}

/// Passes through [`ReadAt`](crate::json::ReadAt) and is returned as itself.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        Self::other(error)
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        let kind = error.kind();
        error.downcast::<Self>().unwrap_or(Self::Io(kind))
    }
}
