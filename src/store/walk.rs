//! A walk over executions, newest first unless asked otherwise: in batches, each on one connection, until its visitor has found enough, or its time
//! is over. All questions about many executions walk like this.

use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::error::Error;
use super::row::{DataLocation, Row};
use super::session::{self, Looked, Session};
use super::sql::Query;
use super::{Backend, Execution, Limit, Listed, Store, name_of};
use crate::json::InOrder;

/// Executions in the first batch, which shows soon what is among the newest, and in the largest one.
const FIRST_BATCH: u64 = 100;
const LARGEST_BATCH: u64 = 400;

/// Which executions a walk visits, and how far it goes.
#[derive(Clone, Debug)]
pub struct Walk {
    /// Which ones; its limit does not count.
    pub query: Query,
    /// At most this many.
    pub most: u64,
    /// Until this many hits were found.
    pub hits: u64,
    /// How long it may take: an execution during which this time ends is not visited, unless it is the first one.
    pub time: Duration,
    /// Where the database can search: only executions that contain one of these texts are read. All are read if this is
    /// empty.
    pub texts: Vec<String>,
}

/// What a walk does at each execution.
pub trait Visitor {
    /// What is made of an execution.
    type View;

    /// Reads an execution. It may be read again, and the first result is then dropped.
    fn read(&self, execution: Execution<'_>) -> Self::View;

    /// Whether this is a hit.
    fn is_hit(&self, _view: &Self::View) -> bool {
        false
    }

    /// Takes the results of the executions: in their order, each once.
    fn take(&mut self, listed: Listed, visit: Visit<Self::View>);
}

/// The result of a visit to an execution.
#[derive(Debug)]
pub enum Visit<V> {
    /// It was read.
    Read(V),
    /// Its text has none of the sought texts.
    WithoutText,
    /// It cannot be read.
    Unread(Unread),
}

impl<V> Visit<V> {
    /// The view, if it was read.
    pub fn view(self) -> Option<V> {
        match self {
            Self::Read(view) => Some(view),
            Self::WithoutText | Self::Unread(_) => None,
        }
    }
}

impl<V> Visit<Option<V>> {
    /// The view, or why there is none; `None` as a view stands for data that cannot be read.
    ///
    /// # Errors
    /// The execution was not read.
    pub fn read(self) -> Result<V, Unread> {
        match self {
            Self::Read(view) => view.ok_or(Unread::Unreadable),
            Self::Unread(reason) => Err(reason),
            Self::WithoutText => Err(Unread::Unreadable),
        }
    }
}

/// Why one of many executions cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unread {
    /// Its data is in an object store.
    Elsewhere,
    /// It has no data.
    NoData,
    /// Its data is missing, damaged, or of an unknown form.
    Unreadable,
}

impl Unread {
    /// `None` for an error that concerns more than one execution.
    fn of(error: &Error) -> Option<Self> {
        match error {
            error if error.is_elsewhere() => Some(Self::Elsewhere),
            Error::NoData(_) => Some(Self::NoData),
            error => error.is_of_one_execution().then_some(Self::Unreadable),
        }
    }
}

/// The executions of a batch, and whether there are none after them.
struct Batch<V> {
    visited: Vec<(Listed, Visit<V>)>,
    is_last: bool,
}

/// When a batch ends: after this many hits, or at this moment, but not before the first execution of the walk.
struct Until {
    hits: u64,
    end: Instant,
    has_begun: bool,
}

/// A visit, and the name of the workflow if the row does not have it.
type Named<V> = (Option<String>, Visit<V>);

impl Store {
    /// Walks over executions. Returns the last one that was visited, unless none are left after it.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn walk<V: Visitor>(
        &self,
        walk: &Walk,
        cancel: &CancellationToken,
        visitor: &mut V,
    ) -> Result<Option<Row>, Error> {
        let mut query = Query { limit: FIRST_BATCH, ..walk.query.clone() };
        let mut until = Until { hits: walk.hits, end: Instant::now() + walk.time, has_begun: false };
        let (mut left, mut last) = (walk.most, None);
        loop {
            query.limit = query.limit.min(left);
            let Batch { visited, is_last } = self.batch(&query, walk, &until, cancel, visitor)?;
            left -= visited.len() as u64;
            for (listed, visit) in visited {
                until.hits -= u64::from(matches!(&visit, Visit::Read(view) if visitor.is_hit(view)));
                last = Some(listed.row.clone());
                visitor.take(listed, visit);
            }
            if is_last {
                return Ok(None);
            }
            if until.hits == 0 || left == 0 || Instant::now() >= until.end {
                return Ok(last);
            }
            until.has_begun = true;
            let last = last.as_ref().and_then(|row: &Row| row.id().parse().ok());
            match query.oldest_first {
                true => query.above = last,
                false => query.below = last,
            }
            query.limit = (query.limit * 2).min(LARGEST_BATCH);
        }
    }

    fn batch<V: Visitor>(
        &self,
        query: &Query,
        walk: &Walk,
        until: &Until,
        cancel: &CancellationToken,
        visitor: &V,
    ) -> Result<Batch<V::View>, Error> {
        if let Backend::Bundle { file, ids } = &self.0.backend {
            let listed = self.list_bundle(file, ids.as_ref(), query, cancel)?;
            let read = |listed: Listed| {
                let visit = visit(self.read(listed.row.id(), cancel, |execution| visitor.read(execution)))?;
                Ok((listed, visit))
            };
            let visited = listed.into_iter().map(read).collect::<Result<_, Error>>()?;
            return Ok(Batch { visited, is_last: true });
        }
        // One more shows whether there are others after them.
        let query = &Query { limit: query.limit + 1, ..query.clone() };
        self.ask(cancel, &mut |session| {
            let mut rows = session::list(session, query, self.0.with_deleted)?;
            let is_short = (rows.len() as u64) < query.limit;
            rows.truncate(usize::try_from(query.limit - 1).unwrap_or(usize::MAX));
            let visited = self.visit_rows(session, &rows, &walk.texts, until, cancel, visitor)?;
            let is_last = is_short && visited.len() == rows.len();
            let visited = visited.into_iter().zip(rows).map(|((name, visit), (row, workflow_name))| {
                (Listed { row, workflow_name: workflow_name.or(name) }, visit)
            });
            Ok(Batch { visited: visited.collect(), is_last })
        })
    }

    /// Visits rows, one after another, as far as the walk goes.
    fn visit_rows<V: Visitor>(
        &self,
        session: &mut dyn Session,
        rows: &[(Row, Option<String>)],
        texts: &[String],
        until: &Until,
        cancel: &CancellationToken,
        visitor: &V,
    ) -> Result<Vec<Named<V::View>>, Error> {
        let (mut visited, mut hits) = (Vec::new(), 0);
        let mut looked = Looked::default();
        for (at, (row, name)) in rows.iter().enumerate() {
            if !texts.is_empty() && at == looked.executions {
                let Looked { executions, without } = session.without_texts(&rows[at..], texts)?;
                looked = Looked { executions: at + executions, without };
            }
            if looked.without.contains(row.id()) {
                visited.push((None, Visit::WithoutText));
            } else {
                let end = (until.has_begun || at > 0).then_some(until.end);
                let is_nameless = name.is_none() && row.location() == DataLocation::Disk;
                let mut name = None;
                let read = self.read_row(session, row, Limit { cancel, end }, &mut |mut execution| {
                    name = is_nameless.then(|| name_of(InOrder::new(&mut execution.workflow))).flatten();
                    visitor.read(execution)
                });
                if matches!(read, Err(Error::OutOfTime)) {
                    break;
                }
                visited.push((name, visit(read)?));
            }
            hits += u64::from(matches!(visited.last(), Some((_, Visit::Read(view))) if visitor.is_hit(view)));
            if hits == until.hits || Instant::now() >= until.end {
                break;
            }
        }
        Ok(visited)
    }
}

/// The result of a visit, unless the whole walk fails.
fn visit<V>(read: Result<V, Error>) -> Result<Visit<V>, Error> {
    match read {
        Ok(view) => Ok(Visit::Read(view)),
        Err(error) => Unread::of(&error).map(Visit::Unread).ok_or(error),
    }
}
