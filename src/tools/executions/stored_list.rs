//! Lists of executions from n8n's store, which can also be searched for what no column has: the node that failed, and why.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::listed::short_version;
use crate::execution::summary::{Summary, SummaryProjection};
use crate::execution::{StoredExecution, StoredProjection};
use crate::json::cut_name;
use crate::n8n::{ListCursor, ListQuery, Listing};
use crate::store::{self, Listed, Query, Store, Visit, Visitor, Walk};

/// The most executions that one call examines, and how long it may take. Its cursor continues after them.
const MAX_EXAMINED: u64 = 10_000;
const MAX_TIME: Duration = Duration::from_secs(15);

/// Characters shown of an error's message.
const MESSAGE_CHARS: usize = 200;

/// What is searched for in failed executions.
#[derive(Clone, Debug, Default)]
pub(super) struct Search {
    /// The name of the node that failed.
    pub failing_node: Option<String>,
    /// A part of the error's message or description, in upper or lower case.
    pub error: Option<String>,
    /// Whether to find what n8n's redaction policy hides.
    pub reveal: bool,
}

/// A page of a list, and the names of its workflows by their ids.
pub(super) type NamedListing = (Listing, HashMap<String, String>);

/// A page of the executions of a store.
pub(super) fn list(store: &Store, cancel: &CancellationToken, query: &ListQuery) -> Result<NamedListing, store::Error> {
    let limit = query.limit;
    // One more shows whether there is a next page.
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

/// A page of those failed executions that a search finds.
pub(super) fn search(
    store: &Store,
    cancel: &CancellationToken,
    query: &ListQuery,
    search: &Search,
) -> Result<NamedListing, store::Error> {
    let columns = Query { failed: true, ..columns(query) };
    let walk = Walk { query: columns, most: MAX_EXAMINED, hits: query.limit, time: MAX_TIME, texts: Vec::new() };
    let mut searching = Searching { search, found: Vec::new() };
    let last = store.walk(&walk, cancel, &mut searching)?;
    Ok(listing(searching.found, last.map(|row| row.id().to_owned())))
}

/// A walk over failures that lists those which match.
struct Searching<'a> {
    search: &'a Search,
    found: Vec<(Listed, Option<Found>)>,
}

impl Visitor for Searching<'_> {
    type View = Option<Found>;

    fn read(&self, execution: store::Execution<'_>) -> Self::View {
        self.search.find(execution)
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

/// What failed, for the list.
struct Found {
    node: Option<String>,
    message: Option<String>,
}

impl Search {
    fn find(&self, execution: store::Execution<'_>) -> Option<Found> {
        let store::Execution { header, workflow, data, .. } = execution;
        let execution = StoredExecution { header, workflow, data, reveal: self.reveal };
        // One that cannot be read does not match.
        self.matches(&SummaryProjection.read_stored(execution).ok()?)
    }

    fn matches(&self, summary: &Summary) -> Option<Found> {
        let error = summary.error.as_ref()?;
        let is_node = self.failing_node.is_none() || self.failing_node == error.node_name;
        let texts = [&error.message, &error.description].into_iter().flatten();
        let mut texts = texts.map(|text| text.kept.to_lowercase());
        let is_error = self.error.as_ref().is_none_or(|part| texts.any(|text| text.contains(&part.to_lowercase())));
        (is_node && is_error).then(|| Found {
            node: error.node_name.clone(),
            message: error.message.as_ref().map(|message| message.cut(MESSAGE_CHARS).0.into_owned()),
        })
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

fn listing(listed: impl IntoIterator<Item = (Listed, Option<Found>)>, last: Option<String>) -> NamedListing {
    let (mut data, mut names) = (Vec::new(), HashMap::new());
    for (Listed { row, workflow_name }, found) in listed {
        let mut members = row.listed();
        if row.is_deleted() {
            members["deleted"] = true.into();
        }
        if let Some(version) = row.workflow_version() {
            members["version"] = short_version(version).into();
        }
        if let Some(found) = found {
            members["failingNode"] = found.node.into();
            members["error"] = found.message.into();
        }
        if let (Some(id), Some(name)) = (members["workflowId"].as_str(), workflow_name) {
            // The newest execution has the newest name.
            names.entry(id.to_owned()).or_insert_with(|| cut_name(name));
        }
        data.push(members);
    }
    (Listing { data, next_cursor: last.map(ListCursor::After) }, names)
}

/// The members of a row that an entry shows in addition to the usual ones, if they say something: how it began, which version of
/// the workflow it executed, what it has to do with retries, until when it waits, that it is deleted, and what a search found.
pub(super) fn additions(execution: &Value) -> impl Iterator<Item = (&'static str, &Value)> {
    ["mode", "version", "retryOf", "retrySuccessId", "waitTill", "deleted", "failingNode", "error"]
        .into_iter()
        .filter_map(|name| Some((name, execution.get(name)?)).filter(|(_, value)| !value.is_null()))
}
