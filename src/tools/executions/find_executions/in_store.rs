//! Finding executions in n8n's store.

use tokio_util::sync::CancellationToken;

use super::page::FindPage;
use super::{Found, FoundExecution, MAX_TIME};
use crate::execution::search::SearchProjection;
use crate::execution::{Searched, StoredExecution, StoredSearch};
use crate::store::{self, Execution, Listed, Query, Store, Unread, Visit, Visitor, Walk};

/// Searches executions until enough are found, all were searched, or time is up.
pub(super) fn find(
    store: &Store,
    cancel: &CancellationToken,
    page: &FindPage,
    search: SearchProjection,
    reveal: bool,
) -> Result<Found, store::Error> {
    let search = StoredSearch::new(search);
    let walk = Walk { query: page.query(), most: u64::MAX, hits: page.limit, time: MAX_TIME, texts: search.texts() };
    let mut finding = Finding { search, reveal, found: Found::default() };
    let last = store.walk(&walk, cancel, &mut finding)?;
    Ok(Found { last: last.map(|row| row.id().to_owned()), ..finding.found })
}

/// Counts what is deleted in the range that was searched.
pub(super) fn count_deleted(
    store: &Store,
    cancel: &CancellationToken,
    page: &FindPage,
    found: &mut Found,
) -> Result<(), store::Error> {
    if !store.shows_deleted() {
        let down_to = found.last.as_ref().and_then(|id| id.parse::<i64>().ok()).map(|id| id - 1);
        let deleted = Query { deleted: true, above: down_to, ..page.query() };
        found.range.not_searched.deleted = store.count(&deleted, cancel)?;
    }
    Ok(())
}

struct Finding {
    search: StoredSearch,
    reveal: bool,
    found: Found,
}

impl Visitor for Finding {
    /// `None` if the text cannot be read.
    type View = Option<Searched>;

    fn read(&self, execution: Execution<'_>) -> Self::View {
        let Execution { header, workflow, data, .. } = execution;
        self.search.search(StoredExecution { header, workflow, data, reveal: self.reveal }).ok()
    }

    fn is_hit(&self, view: &Self::View) -> bool {
        matches!(view, Some(Searched::Read(view)) if view.total > 0)
    }

    fn take(&mut self, listed: Listed, visit: Visit<Self::View>) {
        let Found { executions, range, .. } = &mut self.found;
        let not_searched = &mut range.not_searched;
        let searched = match visit {
            Visit::WithoutText => Searched::Nothing,
            visit => match visit.read() {
                Ok(searched) => searched,
                Err(reason) => return not_searched.not_read.add(reason),
            },
        };
        let Listed { row, workflow_name } = listed;
        let view = match searched {
            Searched::NoData => return not_searched.not_read.add(Unread::NoData),
            Searched::Redacted => return not_searched.redacted += 1,
            Searched::Nothing => return range.count(row.started_at()),
            Searched::Read(view) => view,
        };
        not_searched.add_parts(&view);
        range.count(row.started_at());
        executions.extend(view.hits.into_iter().next().map(|first| FoundExecution {
            id: row.id().to_owned(),
            workflow_name,
            status: row.status().map(str::to_owned),
            started_at: row.started_at().map(str::to_owned),
            hits: view.total,
            first,
            range: range.clone(),
        }));
    }
}
