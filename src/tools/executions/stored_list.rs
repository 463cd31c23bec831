//! Lists of executions from n8n's store, which can also be searched by data that is in no column: the failed node, and why.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::listed::short_version;
use crate::execution::{Failure, FailureFilter, StoredExecution};
use crate::json::cut_name;
use crate::n8n::{ListCursor, ListQuery, Listing};
use crate::store::{self, Listed, Query, Store, Visit, Visitor, Walk};

/// The most executions that one call examines, and how long it may take. Its cursor continues from there.
const MAX_EXAMINED: u64 = 10_000;
const MAX_TIME: Duration = Duration::from_secs(15);

/// Characters shown of an error's message.
const MESSAGE_CHARS: usize = 200;

/// A page of a list, and the names of its workflows by their ids.
pub(super) type NamedListing = (Listing, HashMap<String, String>);

/// A page of the executions of a store.
pub(super) fn list(store: &Store, cancel: &CancellationToken, query: &ListQuery) -> Result<NamedListing, store::Error> {
    let limit = query.limit;
    // One more than the limit shows whether there is a next page.
    let mut listed = store.list(&Query { limit: limit + 1, ..columns(query) }, cancel)?;
    let has_more = listed.len() as u64 > limit;
    listed.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    let last = listed.last().filter(|_| has_more).map(|listed| listed.row.id().to_owned());
    Ok(listing(listed.into_iter().map(|listed| (listed, None)), last))
}

/// How many executions there are.
pub(super) fn count(store: &Store, cancel: &CancellationToken, query: &ListQuery) -> Result<u64, store::Error> {
    store.count(&columns(query), cancel)
}

/// A page of the failed executions that a search finds.
pub(super) fn search(
    store: &Store,
    cancel: &CancellationToken,
    query: &ListQuery,
    filter: &FailureFilter,
    reveal: bool,
) -> Result<NamedListing, store::Error> {
    let columns = Query { failed: true, ..columns(query) };
    let walk = Walk { query: columns, most: MAX_EXAMINED, hits: query.limit, time: MAX_TIME, texts: Vec::new() };
    let mut searching = Searching { filter, reveal, found: Vec::new() };
    let last = store.walk(&walk, cancel, &mut searching)?;
    Ok(listing(searching.found, last.map(|row| row.id().to_owned())))
}

/// A walk over failures that lists the matching ones.
struct Searching<'a> {
    filter: &'a FailureFilter,
    /// Whether to find data that n8n's redaction policy hides.
    reveal: bool,
    found: Vec<(Listed, Option<Failure>)>,
}

impl Visitor for Searching<'_> {
    type View = Option<Failure>;

    fn read(&self, execution: store::Execution<'_>) -> Self::View {
        let store::Execution { header, workflow, data, .. } = execution;
        self.filter.find(StoredExecution { header, workflow, data, reveal: self.reveal })
    }

    fn is_hit(&self, view: &Self::View) -> bool {
        view.is_some()
    }

    fn take(&mut self, listed: Listed, visit: Visit<Self::View>) {
        if let Some(failure) = visit.view().flatten() {
            self.found.push((listed, Some(failure)));
        }
    }
}

fn columns(query: &ListQuery) -> Query {
    let below = match &query.cursor {
        Some(ListCursor::After(id)) => id.parse().ok(),
        Some(ListCursor::Opaque(_)) | None => None,
    };
    Query {
        workflow_id: query.workflow_id.clone(),
        status: query.status.clone(),
        started_after: query.started_after.clone(),
        started_before: query.started_before.clone(),
        below,
        limit: query.limit,
        ..Query::default()
    }
}

fn listing(listed: impl IntoIterator<Item = (Listed, Option<Failure>)>, last: Option<String>) -> NamedListing {
    let (mut data, mut names) = (Vec::new(), HashMap::new());
    for (Listed { row, workflow_name }, failure) in listed {
        let mut members = row.listed();
        if row.is_deleted() {
            members["deleted"] = true.into();
        }
        if let Some(version) = row.workflow_version() {
            members["version"] = short_version(version).into();
        }
        if let Some(failure) = failure {
            let message = failure.readable().message;
            members["failingNode"] = failure.node_name.into();
            members["error"] = message.map(|message| message.cut(MESSAGE_CHARS).0.into_owned()).into();
        }
        if let (Some(id), Some(name)) = (members["workflowId"].as_str(), workflow_name) {
            // The newest execution has the workflow's newest name.
            names.entry(id.to_owned()).or_insert_with(|| cut_name(name));
        }
        data.push(members);
    }
    (Listing { data, next_cursor: last.map(ListCursor::After) }, names)
}

/// The members of a row that an entry shows in addition to the usual ones, if they are informative: its mode, the workflow
/// version, retries, until when it waits, whether it is deleted, and what a search found.
pub(super) fn additions(execution: &Value) -> impl Iterator<Item = (&'static str, &Value)> {
    ["mode", "version", "retryOf", "retrySuccessId", "waitTill", "deleted", "failingNode", "error"]
        .into_iter()
        .filter_map(|name| Some((name, execution.get(name)?)).filter(|(_, value)| !value.is_null()))
}
