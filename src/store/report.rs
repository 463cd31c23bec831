//! What `n8n-lens check` says about a store.

use tokio_util::sync::CancellationToken;

use super::error::Error;
use super::row::DataLocation;
use super::session::Session;
use super::sql::{Query, Tables};
use super::{Backend, Store, bundle, session};
use crate::json::flatted::Flatted;
use crate::units::counted;

/// How many of the newest executions are opened.
const OPENED: u64 = 100;

/// More than the statuses, or the places, of n8n.
const MAX_COUNTS: usize = 100;

/// What was found.
#[derive(Clone, Debug)]
pub struct Report {
    /// In the order in which they are shown.
    pub findings: Vec<Finding>,
}

/// One thing that was found.
#[derive(Clone, Debug)]
pub enum Finding {
    /// It is as it should be.
    Fine(String),
    /// It could not be found out.
    Unknown(String),
    /// Something cannot be read.
    Problem(String),
}

/// Checks a store.
pub(super) fn of(store: &Store) -> Result<Report, Error> {
    let mut findings = kind(store)?;
    if let Backend::Bundle { file, .. } = &store.0.backend {
        let contents = bundle::open(std::slice::from_ref(file), "?", &CancellationToken::new())?;
        findings.push(Finding::Fine(format!("the data is {}", crate::units::megabytes(contents.data.len()))));
        return Ok(Report { findings });
    }
    let with_deleted = store.0.with_deleted;
    // In a question of its own: PostgreSQL refuses every statement after one that failed.
    let cancel = CancellationToken::new();
    findings.push(store.ask(&cancel, &mut |session| Ok(migration(session)))?);
    findings.extend(store.ask(&cancel, &mut |session| {
        let mut findings = Vec::new();
        for (column, what) in [("status", "executions by status"), ("storedAt", "executions by place (storedAt)")] {
            findings.push(counts(session, column, what, with_deleted)?);
        }
        Ok(findings)
    })?);
    findings.extend(opened(store)?);
    Ok(Report { findings })
}

fn kind(store: &Store) -> Result<Vec<Finding>, Error> {
    Ok(match &store.0.backend {
        Backend::Bundle { ids, .. } => {
            let which = ids.as_ref().map_or_else(String::new, |(_, id)| format!(" of execution {id}"));
            vec![Finding::Fine(format!("the store is one bundle{which}"))]
        }
        #[cfg(feature = "postgres")]
        Backend::Postgres(_) => {
            let alive = "unknown on PostgreSQL: whether n8n is running";
            vec![Finding::Fine("the store is PostgreSQL".to_owned()), Finding::Unknown(alive.to_owned())]
        }
        Backend::Sqlite(database) => {
            let (header, is_open) = database.state()?;
            let journal = if header.is_wal { "write-ahead log" } else { "rollback journal" };
            let kind = Finding::Fine(format!("the store is SQLite with a {journal}"));
            vec![kind, alive(&header, is_open)]
        }
    })
}

fn alive(header: &super::sqlite::Header, is_open: Option<bool>) -> Finding {
    match header.is_n8n_running(is_open) {
        Some(true) => Finding::Fine("n8n is running: its database is open".to_owned()),
        Some(false) if !header.has_wal => Finding::Fine("n8n is not running: it was stopped cleanly".to_owned()),
        Some(false) if header.has_shm => Finding::Fine(
            "n8n is not running: it was killed, and its newest executions are in the write-ahead log".to_owned(),
        ),
        Some(false) => Finding::Problem(Error::WalWithoutIndex.to_string()),
        None if header.is_wal => Finding::Unknown("whether n8n is running".to_owned()),
        None if header.has_journal => {
            Finding::Unknown("whether n8n is running: it is writing now, or was killed while it wrote".to_owned())
        }
        None => Finding::Unknown("whether n8n is running: a rollback journal does not show it".to_owned()),
    }
}

fn migration(session: &mut dyn Session) -> Finding {
    let mut newest = None;
    let statement = session.tables().newest_migration();
    let found = session.query(&statement, &[], &mut |values| {
        session::check_values(&values)?;
        newest = values.into_iter().next().flatten();
        Ok(())
    });
    match (found, newest) {
        (Ok(()), Some(name)) => Finding::Fine(format!("newest migration: {name}")),
        _ => Finding::Unknown("the newest migration, because the table migrations cannot be read".to_owned()),
    }
}

fn counts(session: &mut dyn Session, column: &str, what: &str, with_deleted: bool) -> Result<Finding, Error> {
    let Some(statement) = Tables::counts(session.tables(), column, with_deleted) else {
        return Ok(Finding::Fine(format!("{what}: all in the database, as before n8n 2.8")));
    };
    let mut counts = Vec::new();
    session.query(&statement, &[], &mut |values| {
        session::check_values(&values)?;
        if counts.len() == MAX_COUNTS {
            return Err(Error::TooMuch);
        }
        let mut values = values.into_iter().map(Option::unwrap_or_default);
        counts.push(format!("{} {}", values.next().unwrap_or_default(), values.next().unwrap_or_default()));
        Ok(())
    })?;
    Ok(Finding::Fine(format!("{what}: {}", if counts.is_empty() { "none".to_owned() } else { counts.join(", ") })))
}

/// Whether the newest executions can be opened, with one line for each kind of problem.
fn opened(store: &Store) -> Result<Vec<Finding>, Error> {
    let (mut readable, mut bundles, mut reachable) = (0_u64, 0_u64, 0_u64);
    let mut problems: Vec<(String, String, u64)> = Vec::new();
    let query = Query { limit: OPENED, status: None, ..Query::default() };
    let cancel = CancellationToken::new();
    let rows = store.ask(&cancel, &mut |session| session::list(session, &query, store.0.with_deleted))?;
    for (row, _) in &rows {
        let is_bundle = row.location() == DataLocation::Disk;
        let opened = match is_bundle {
            // Without a pass over its data.
            true => bundle::workflow(&store.bundles(row), row.id(), &cancel).map(|_| Ok(())),
            false => store.read(row.id(), &cancel, |execution| first_byte(execution.data)),
        };
        bundles += u64::from(is_bundle);
        match opened {
            Ok(Ok(())) => {
                readable += 1;
                reachable += u64::from(is_bundle);
            }
            Ok(Err(what)) => note(&mut problems, what, row.id()),
            Err(error) => note(&mut problems, error.to_string(), row.id()),
        }
    }
    let mut findings = vec![Finding::Fine(format!(
        "{readable} of the newest {} can be opened",
        counted(rows.len(), "execution", "executions")
    ))];
    if bundles > 0 {
        findings.push(Finding::Fine(format!(
            "{reachable} of {} among them can be reached",
            counted(bundles, "bundle", "bundles")
        )));
    }
    findings.extend(problems.into_iter().map(|(what, id, more)| {
        let more = if more == 0 { String::new() } else { format!(" (and {more} more)") };
        Finding::Problem(format!("execution {id}{more}: {what}"))
    }));
    Ok(findings)
}

/// Adds a problem; those of the same kind, which differ in the id, are counted.
fn note(problems: &mut Vec<(String, String, u64)>, what: String, id: &str) {
    let kind = |what: &str, id: &str| what.replace(&format!("'{id}'"), "");
    match problems.iter_mut().find(|(known, first, _)| kind(known, first) == kind(&what, id)) {
        Some((.., more)) => *more += 1,
        None => problems.push((what, id.to_owned(), 0)),
    }
}

/// Whether a text begins as n8n writes it.
fn first_byte(mut data: Flatted<'_>) -> Result<(), String> {
    let prefix = data.prefix().map_err(|error| error.to_string())?;
    if prefix.first() == Some(&b'[') {
        return Ok(());
    }
    let prefix = String::from_utf8_lossy(&prefix);
    Err(format!("its data begins with {prefix:?}, a form that this version does not know"))
}
