//! `group_failures`: which failures there are in a store, since when, and what changed when each began.
//!
//! ```text
//! failed executions, newest first -> their summaries -> groups of one kind -> the last good execution before each
//! ```

mod answer;
mod groups;

use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use tokio_util::sync::CancellationToken;

use self::groups::{Group, Groups};
use super::source::{MARK_TOKENS, Origin};
use crate::execution::summary::SummaryProjection;
use crate::execution::{StoredExecution, StoredProjection};
use crate::n8n::Progress;
use crate::store::{self, Query, Store};
use crate::toolkit::answer::{BRIEF_TOKENS, FEW_TOKENS, Tokens};
use crate::toolkit::{Date, Effect, IntegerOr, Text, arguments};
use crate::tools::{Context, Error, Handler, Tool, ToolCall};

/// The tool; it needs n8n's store.
pub static TOOL: Tool = Tool {
    name: "group_failures",
    title: "Group failures",
    description: "Group failed executions by node and kind of error, whatever ids and numbers are in it: how many, first and last, the last \
                  good one before, and whether the workflow was edited between.",
    parameters: GroupFailures::PARAMETERS,
    effect: Effect::Read,
    handler: Handler::of::<GroupFailures>(),
};

/// The time that is examined by default.
const RECENT: SignedDuration = SignedDuration::from_hours(7 * 24);

/// The most failures that one call examines, and how long it may take.
const MAX_EXAMINED: u64 = 10_000;
const MAX_TIME: Duration = Duration::from_secs(15);

/// Executions whose beginnings are read in one go.
const BATCH: u64 = 100;

arguments! {
    struct GroupFailures {
        workflow_id: Option<Text> = "Only this workflow.",
        node_name: Option<Text> = "Only this node.",
        started_after: Option<Date> = "Default: 7 days ago.",
        started_before: Option<Date> = "ISO 8601.",
        limit: IntegerOr<10, 1, 100> = "Groups.",
        max_tokens: Tokens<BRIEF_TOKENS> = FEW_TOKENS,
    }
}

/// What was found.
struct Found {
    groups: Vec<Group>,
    /// How many groups there are, also those beyond the limit.
    total: usize,
    failures: u64,
    canceled: u64,
    /// Where the failures begin that were not examined, if there are any.
    not_examined: Option<String>,
}

impl ToolCall for GroupFailures {
    async fn run(self, context: Arc<Context>, _progress: Progress) -> Result<String, Error> {
        let Some(store) = &context.store else { return Err(super::needs_store()) };
        let (locale, max_tokens, reveal) = (context.locale, self.max_tokens - MARK_TOKENS, store.reveals());
        let answer = store.ask(move |store, cancel| {
            let found = self.find(store, cancel, reveal)?;
            Ok(answer::compose(&found, max_tokens, locale))
        });
        Ok(Origin::Store { deleted: false }.mark(answer.await?))
    }
}

impl GroupFailures {
    fn find(&self, store: &Store, cancel: &CancellationToken, reveal: bool) -> Result<Found, store::Error> {
        let begun = Instant::now();
        let (mut groups, mut query) = (Groups::default(), self.query());
        let (mut failures, mut canceled, mut not_examined) = (0, 0, None);
        for batch in 1.. {
            let read = store.read_each(&query, cancel, |execution| {
                let store::Execution { row, header, workflow, data } = execution;
                let is_failure = row.status() != Some("canceled");
                let stored = StoredExecution { header, workflow, data, reveal };
                is_failure.then(|| SummaryProjection.read_stored(stored).ok())
            })?;
            for (listed, summary) in &read {
                if listed.row.status() == Some("canceled") {
                    canceled += 1;
                    continue;
                }
                let error = summary.as_ref().and_then(Option::as_ref).and_then(|summary| summary.error.as_ref());
                let is_of_node = |wanted| error.and_then(|error| error.node_name.as_ref()) == Some(wanted);
                if self.node_name.as_ref().is_none_or(is_of_node) {
                    failures += 1;
                    groups.add(listed, error);
                }
            }
            if (read.len() as u64) < BATCH {
                break;
            }
            let last = read.last().map(|(listed, _)| &listed.row);
            query.below = last.and_then(|row| row.id().parse().ok());
            if batch * BATCH >= MAX_EXAMINED || begun.elapsed() > MAX_TIME {
                not_examined = last.and_then(|row| row.started_at()).map(str::to_owned);
                break;
            }
        }
        let (mut groups, total) = groups.finish(self.limit);
        for group in &mut groups {
            group.look_around(store, cancel)?;
        }
        Ok(Found { groups, total, failures, canceled, not_examined })
    }

    fn query(&self) -> Query {
        let recent = || Timestamp::now().checked_sub(RECENT).map(|time| time.to_string()).ok();
        Query {
            workflow_id: self.workflow_id.clone(),
            failed: true,
            started_after: self.started_after.clone().or_else(recent),
            started_before: self.started_before.clone(),
            limit: BATCH,
            ..Query::default()
        }
    }
}
