//! The executions of a store in batches, the oldest first.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::Export;
use crate::execution::{self, FailureFilter, StoredExecution, StoredProjection};
use crate::store::{self, Execution, Listed, Query, Store, Visit, Visitor};

/// Executions that are read in one go.
const BATCH: u64 = 32;

/// How long a batch may take: what is left of it comes with the next one.
const BATCH_TIME: Duration = Duration::from_secs(60);

/// An execution.
pub(super) struct Read<V> {
    pub(super) listed: Listed,
    /// How long its text in the store is, if it could be opened.
    pub(super) bytes: Option<u64>,
    /// What a projection made of it, or why it cannot be read.
    pub(super) view: Result<V, String>,
}

/// A walk through the executions.
pub(super) struct Walk<'a> {
    store: &'a Store,
    query: Query,
    failures: &'a FailureFilter,
    reveal: bool,
    cancel: &'a CancellationToken,
    is_done: bool,
}

impl<'a> Walk<'a> {
    pub(super) fn new(export: &'a Export, query: Query, cancel: &'a CancellationToken) -> Self {
        let Export { store, failures, reveal, .. } = export;
        let failed = query.failed || !failures.is_empty();
        let query = Query { oldest_first: true, failed, ..query };
        Self { store, query, failures, reveal: *reveal, cancel, is_done: false }
    }

    /// The next executions; `None` at the end.
    pub(super) fn next<P, V>(&mut self, projection: &P) -> Result<Option<Vec<Read<V>>>, store::Error>
    where
        P: StoredProjection<View = Result<V, execution::Error>>,
    {
        if self.is_done {
            return Ok(None);
        }
        let mut batch = Batch { projection, failures: self.failures, reveal: self.reveal, visited: Vec::new() };
        let walk =
            store::Walk { query: self.query.clone(), most: BATCH, hits: u64::MAX, time: BATCH_TIME, texts: Vec::new() };
        let last = self.store.walk(&walk, self.cancel, &mut batch)?;
        self.is_done = last.is_none();
        self.query.above = last.and_then(|row| row.id().parse().ok()).or(self.query.above);
        let reads = batch.visited.into_iter().filter_map(|(listed, visit)| match visit.view() {
            Some(read) => read.map(|(bytes, view)| {
                let view = view.map_err(|error| error.to_string());
                Read { listed, bytes: Some(bytes), view }
            }),
            // Whether it is selected is not known.
            None if !self.failures.is_empty() => None,
            None => Some(Read { view: Err(self.reason(listed.row.id())), bytes: None, listed }),
        });
        Ok(Some(reads.collect()))
    }

    /// Why an execution cannot be read: the walk does not say.
    fn reason(&self, id: &str) -> String {
        let read = self.store.read(id, self.cancel, |_| ());
        read.map_or_else(|error| error.to_string(), |()| "It was changed while it was read.".to_owned())
    }
}

/// Collects what a projection makes of the executions of a batch.
struct Batch<'a, P: StoredProjection> {
    projection: &'a P,
    failures: &'a FailureFilter,
    reveal: bool,
    visited: Vec<(Listed, Visit<Measured<P::View>>)>,
}

/// How long a text is, bytes, and what was made of it; `None` for an execution that is not selected.
type Measured<V> = Option<(u64, V)>;

impl<P: StoredProjection> Visitor for Batch<'_, P> {
    type View = Measured<P::View>;

    fn read(&self, execution: Execution<'_>) -> Self::View {
        let Execution { header, workflow, mut data, .. } = execution;
        let bytes = data.source().len();
        let mut stored = StoredExecution { header, workflow, data, reveal: self.reveal };
        if !self.failures.is_empty() {
            self.failures.find(stored.by_ref())?;
        }
        Some((bytes, self.projection.read_stored(stored)))
    }

    fn take(&mut self, listed: Listed, visit: Visit<Self::View>) {
        self.visited.push((listed, visit));
    }
}
