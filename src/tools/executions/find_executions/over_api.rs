//! Finding executions through n8n's API: the newest few per call.

use serde_json::Value;

use super::super::listed::{self, text};
use super::super::walk_over_api::{Fetched, walk};
use super::page::FindPage;
use super::{Found, FoundExecution};
use crate::execution;
use crate::execution::search::{SearchProjection, SearchView};
use crate::n8n::Client;
use crate::tools::Error;

/// Searches the newest executions of a page, as many as one call may request.
pub(super) async fn find(n8n: &Client, page: &FindPage, search: SearchProjection) -> Result<Found, Error> {
    let mut found = Found { is_bounded: true, ..Found::default() };
    let take = |listed: &Value, fetched: Fetched<Result<SearchView, execution::Error>>| {
        let execution = |view: SearchView| {
            view.hits.into_iter().next().map(|first| FoundExecution {
                id: text(listed, "id").unwrap_or_default(),
                workflow_id: text(listed, "workflowId"),
                workflow_name: None,
                status: text(listed, "status"),
                started_at: text(listed, "startedAt"),
                hits: view.total,
                first,
            })
        };
        match fetched {
            Fetched::Read(Ok(view)) if view.header.data_too_large => found.not_searched.too_large += 1,
            // The remains of a redacted execution are not searched: a hit would reveal its content.
            Fetched::Read(Ok(SearchView { redacted: true, .. })) => found.not_searched.redacted += 1,
            Fetched::Read(Ok(view)) => {
                found.not_searched.too_large_items += if view.total > 0 { view.too_large } else { 0 };
                found.executions.extend(execution(view));
                found.count(text(listed, "startedAt").as_deref());
            }
            Fetched::TooLarge => found.not_searched.too_large += 1,
            Fetched::Deleted => found.not_searched.deleted += 1,
            Fetched::Read(Err(_)) | Fetched::Unreadable => found.not_searched.unreadable += 1,
        }
        (found.executions.len() as u64) < page.limit
    };
    let walked = walk(n8n, page.list_query(), &search, take).await?;
    (found.last, found.is_rate_low) = (walked.last, walked.is_rate_low);
    let names = listed::workflow_names(n8n, found.executions.iter().filter_map(|one| one.workflow_id.clone())).await;
    for execution in &mut found.executions {
        execution.workflow_name = execution.workflow_id.as_ref().and_then(|id| names.get(id).cloned());
    }
    Ok(found)
}
