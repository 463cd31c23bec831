//! The executions of a store in batches, the oldest first.

use tokio_util::sync::CancellationToken;

use crate::execution::{self, StoredExecution, StoredProjection};
use crate::store::{self, Listed, Query, Store};

/// Executions that are read in one go.
const BATCH: u64 = 32;

/// An execution.
pub(super) struct Read<V> {
    pub(super) listed: Listed,
    /// How long its text in the store is, if it could be opened.
    pub(super) bytes: Option<u64>,
    /// What a projection made of it, or why it cannot be read.
    pub(super) view: Result<V, String>,
}

/// The way through the executions.
pub(super) struct Walk<'a> {
    store: &'a Store,
    query: Query,
    reveal: bool,
    cancel: &'a CancellationToken,
    is_done: bool,
}

impl<'a> Walk<'a> {
    pub(super) fn new(store: &'a Store, query: Query, reveal: bool, cancel: &'a CancellationToken) -> Self {
        let query = Query { limit: BATCH, oldest_first: true, ..query };
        Self { store, query, reveal, cancel, is_done: false }
    }

    /// The next executions; `None` at the end.
    pub(super) fn next<P, V>(&mut self, projection: &P) -> Result<Option<Vec<Read<V>>>, store::Error>
    where
        P: StoredProjection<View = Result<V, execution::Error>>,
    {
        if self.is_done {
            return Ok(None);
        }
        let reveal = self.reveal;
        let read = self.store.read_each(&self.query, self.cancel, |execution| {
            let store::Execution { row, header, workflow, mut data } = execution;
            if reveal {
                tracing::warn!(execution = row.id(), "shown with --reveal: nothing is redacted");
            }
            let bytes = data.source().len();
            Some((bytes, projection.read_stored(StoredExecution { header, workflow, data, reveal })))
        })?;
        self.is_done = (read.len() as u64) < BATCH;
        self.query.above = read.last().and_then(|(listed, _)| listed.row.id().parse().ok()).or(self.query.above);
        let batch = read.into_iter().map(|(listed, read)| match read {
            Some((bytes, view)) => Read { listed, bytes: Some(bytes), view: view.map_err(|error| error.to_string()) },
            None => Read { view: Err(self.reason(listed.row.id())), bytes: None, listed },
        });
        Ok(Some(batch.collect()))
    }

    /// Why an execution cannot be read: the list does not say.
    fn reason(&self, id: &str) -> String {
        let read = self.store.read(id, self.cancel, |_| ());
        read.map_or_else(|error| error.to_string(), |()| "It was changed while it was read.".to_owned())
    }
}
