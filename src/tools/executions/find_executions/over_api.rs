//! Finding executions through n8n's API: the newest few per call.

use serde_json::Value;

use super::super::listed::text;
use super::super::walk_over_api::{Fetched, Limited, walk};
use super::page::FindPage;
use super::{Found, FoundExecution};
use crate::execution;
use crate::execution::search::{SearchProjection, SearchView};
use crate::n8n::Client;
use crate::store::Unread;
use crate::tools::Error;

/// Searches the newest executions of a page, as many as one call may request.
pub(super) async fn find(n8n: &Client, page: &FindPage, search: SearchProjection) -> Result<Found, Error> {
    let mut found = Found { is_bounded: true, ..Found::default() };
    let take = |listed: &Value, fetched: Fetched<Result<SearchView, execution::Error>>| {
        let Found { executions, range, .. } = &mut found;
        let not_searched = &mut range.not_searched;
        match fetched {
            Fetched::Read(Ok(view)) if view.header.data_too_large => not_searched.too_large += 1,
            // What is left of a redacted execution is not searched: a hit would reveal what it contains.
            Fetched::Read(Ok(SearchView { redacted: true, .. })) => not_searched.redacted += 1,
            Fetched::Read(Ok(view)) => {
                not_searched.add_parts(&view);
                range.count(text(listed, "startedAt").as_deref());
                executions.extend(view.hits.into_iter().next().map(|first| FoundExecution {
                    id: text(listed, "id").unwrap_or_default(),
                    workflow_name: view.workflow_name,
                    status: text(listed, "status"),
                    started_at: text(listed, "startedAt"),
                    hits: view.total,
                    first,
                    range: range.clone(),
                }));
            }
            Fetched::TooLarge => not_searched.too_large += 1,
            Fetched::Deleted => not_searched.deleted += 1,
            Fetched::Read(Err(_)) | Fetched::Unreadable => not_searched.not_read.add(Unread::Unreadable),
        }
        (found.executions.len() as u64) < page.limit
    };
    let walked = walk(&Limited::new(n8n), page.list_query(), &search, take).await?;
    (found.last, found.is_rate_low) = (walked.last, walked.is_rate_low);
    Ok(found)
}
