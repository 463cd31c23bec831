//! `find_executions`: in which executions of a store a value occurs.
//!
//! ```text
//! executions, newest first -> redacted? counted -> may its text have it? -> searched as search_execution does -> the first hit
//! ```

mod answer;
mod page;

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use self::page::FindPage;
use super::source::{MARK_TOKENS, Origin};
use crate::execution::search::{Hit, SearchProjection};
use crate::execution::{Searched, StoredExecution};
use crate::n8n::Progress;
use crate::store::{self, Listed, Query, Store};
use crate::toolkit::answer::{BRIEF_TOKENS, FEW_TOKENS, Tokens};
use crate::toolkit::cursor::{CURSOR, LIMIT, Limit};
use crate::toolkit::{self, Date, Effect, Text, arguments};
use crate::tools::{Context, Error, Handler, Tool, ToolCall};

/// The tool; it needs n8n's store.
pub static TOOL: Tool = Tool {
    name: "find_executions",
    title: "Find executions",
    description: "Find the executions in which a value occurs, newest first: how often, and where first. Pass `text`, `path` or both, and \
                  one condition, as in search_execution.",
    parameters: FindExecutions::PARAMETERS,
    effect: Effect::Read,
    handler: Handler::of::<FindExecutions>(),
};

/// How long one call may take; its cursor continues.
const MAX_TIME: Duration = Duration::from_secs(15);

/// Executions that are searched in one go: the clock is looked at after each.
const BATCH: u64 = 25;

arguments! {
    struct FindExecutions {
        text: Option<Text> = "Part of a string; smart case.",
        path: Option<Text> = "End of its path.",
        equals: Option<toolkit::Operand> = "Only this value.",
        above: Option<toolkit::Operand> = "With `path`.",
        below: Option<toolkit::Operand> = "With `path`.",
        node_name: Option<Text> = "Only this node.",
        workflow_id: Option<Text> = "Only this workflow.",
        status: Option<Text> = "Only this status.",
        started_after: Option<Date> = "ISO 8601.",
        started_before: Option<Date> = "ISO 8601.",
        limit: Limit = LIMIT,
        cursor: Option<Text> = CURSOR,
        max_tokens: Tokens<BRIEF_TOKENS> = FEW_TOKENS,
    }
}

/// What was found.
#[derive(Default)]
struct Found {
    /// The executions that have it, newest first.
    executions: Vec<FoundExecution>,
    /// How many were searched.
    searched: u64,
    /// When the oldest and the newest of them started.
    from: Option<String>,
    to: Option<String>,
    not_searched: NotSearched,
    /// The last one that was looked at, if there are more.
    last: Option<i64>,
}

/// Executions that were not searched. That n8n redacts some of them is said of all in the range: how many of those have the
/// value would tell that they have it.
#[derive(Clone, Copy, Default)]
struct NotSearched {
    redacted: u64,
    /// Without data, in another storage, or damaged.
    unreadable: u64,
    /// Items of more than 1 MiB, in executions with hits.
    too_large_items: u64,
}

/// An execution that has the value.
struct FoundExecution {
    listed: Listed,
    hits: u64,
    first: Hit,
}

impl ToolCall for FindExecutions {
    async fn run(self, context: Arc<Context>, _progress: Progress) -> Result<String, Error> {
        let Some(store) = &context.store else { return Err(super::needs_store()) };
        let (max_tokens, locale) = (self.max_tokens - MARK_TOKENS, context.locale);
        let page = FindPage::new(self)?;
        let search = page.search(context.redact)?;
        let reveal = store.reveals();
        let answer = store.ask(move |store, cancel| {
            let found = find(store, cancel, &page.query(), page.limit, &search, reveal)?;
            Ok(answer::compose(&found, &page, max_tokens, locale))
        });
        Ok(Origin::Store { deleted: false }.mark(answer.await?))
    }
}

/// Searches executions until there are enough, all were searched, or the time is over.
fn find(
    store: &Store,
    cancel: &CancellationToken,
    query: &Query,
    limit: u64,
    search: &SearchProjection,
    reveal: bool,
) -> Result<Found, store::Error> {
    let (begun, mut found, mut query) = (Instant::now(), Found::default(), query.clone());
    loop {
        query.limit = BATCH;
        let batch = store.read_each(&query, cancel, |execution| {
            if reveal {
                tracing::warn!(execution = execution.row.id(), "searched with --reveal: nothing is redacted");
            }
            let store::Execution { header, workflow, data, .. } = execution;
            search.search_stored(StoredExecution { header, workflow, data, reveal }).ok()
        })?;
        let is_last = (batch.len() as u64) < BATCH;
        for (listed, searched) in batch {
            query.below = listed.row.id().parse().ok();
            found.add(listed, searched);
            if found.executions.len() as u64 == limit {
                found.last = query.below;
                return Ok(found);
            }
        }
        if is_last {
            return Ok(found);
        }
        if begun.elapsed() > MAX_TIME {
            found.last = query.below;
            return Ok(found);
        }
    }
}

impl Found {
    fn add(&mut self, listed: Listed, searched: Option<Searched>) {
        let started_at = listed.row.started_at().map(str::to_owned);
        match searched {
            None => {
                self.not_searched.unreadable += 1;
                return;
            }
            Some(Searched::Redacted) => {
                self.not_searched.redacted += 1;
                return;
            }
            Some(Searched::Nothing) => {}
            Some(Searched::Found(view)) => {
                self.not_searched.too_large_items += view.too_large;
                if let Some(first) = view.hits.into_iter().next() {
                    self.executions.push(FoundExecution { listed, hits: view.total, first });
                }
            }
        }
        self.searched += 1;
        self.to = self.to.take().or_else(|| started_at.clone());
        self.from = started_at.or(self.from.take());
    }
}
