//! `group_failures`: groups failures, with since when each group occurs and what changed when it began.
//!
//! ```text
//! failed executions, newest first -> their summaries -> groups of one kind -> the last good execution before each
//! ```

mod answer;
mod groups;
mod over_api;

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio_util::sync::CancellationToken;

use self::groups::{Failed, Group, Groups, Whose};
use super::not_read::NotRead;
use super::source::{MARK_TOKENS, Origin};
use crate::execution::summary::SummaryProjection;
use crate::execution::{Failure, StoredExecution, StoredProjection};
use crate::n8n::Progress;
use crate::store::{self, Listed, Query, Store, Unread, Visit, Visitor, Walk};
use crate::toolkit::answer::{BRIEF_TOKENS, FEW_TOKENS, Tokens};
use crate::toolkit::{Date, Effect, IntegerOr, Text, arguments};
use crate::tools::{Context, Error, Handler, Tool, ToolCall};

/// The tool. Over n8n's API it groups the newest 50 failures.
pub static TOOL: Tool = Tool {
    name: "group_failures",
    title: "Group failures",
    description: "Group failed executions by node and kind of error: how many, since when, after which good one and which edit.",
    parameters: GroupFailures::PARAMETERS,
    effect: Effect::Read,
    handler: Handler::of::<GroupFailures>(),
};

/// The time span that is examined by default.
const RECENT: SignedDuration = SignedDuration::from_hours(7 * 24);

/// The most failures that one call examines, and how long it may take.
const MAX_EXAMINED: u64 = 10_000;
const MAX_TIME: Duration = Duration::from_secs(15);

/// The status of an execution that a person stopped, which is not a failure.
const CANCELED: &str = "canceled";

arguments! {
    struct GroupFailures {
        workflow_id: Option<Text> = "Only this workflow.",
        node_name: Option<Text> = "Only this node.",
        started_after: Option<Date> = "Default: 7 days earlier.",
        started_before: Option<Date> = "ISO 8601.",
        limit: IntegerOr<10, 1, 100> = "Groups.",
        max_tokens: Tokens<BRIEF_TOKENS> = FEW_TOKENS,
    }
}

/// The time span that a call examines.
#[derive(Clone, Copy)]
struct Span {
    begin: Timestamp,
    /// `None`: until now.
    end: Option<Timestamp>,
}

/// The result of grouping.
#[derive(Default)]
struct Found {
    groups: Vec<Group>,
    /// How many groups there are, including those beyond the limit.
    total: usize,
    failures: u64,
    canceled: u64,
    /// Failures whose bodies are too large to read over n8n's API.
    too_large: u64,
    /// Failures whose errors are not known.
    not_read: NotRead,
    /// When the last of the failures started that were not examined, if there are any.
    not_examined: Option<String>,
    /// Whether one call reads only a few: n8n's API sends one body after the other.
    is_bounded: bool,
    /// Whether the call ended because n8n limits requests.
    is_rate_low: bool,
    /// Whether n8n was not asked for all that is shown of a group.
    is_partial: bool,
}

impl ToolCall for GroupFailures {
    async fn run(self, context: Arc<Context>, _progress: Progress) -> Result<String, Error> {
        let (locale, max_tokens) = (context.locale, self.max_tokens - MARK_TOKENS);
        let span = self.span()?;
        let Some(store) = &context.store else {
            let found = over_api::find(context.n8n()?, &self, span).await?;
            return Ok(answer::compose(&found, span, max_tokens, locale));
        };
        let reveal = store.reveals();
        let answer = store.ask(move |store, cancel| {
            let found = self.find(store, cancel, span, reveal)?;
            Ok(answer::compose(&found, span, max_tokens, locale))
        });
        Ok(Origin::Store { deleted: false }.mark(answer.await?))
    }
}

impl GroupFailures {
    fn find(&self, store: &Store, cancel: &CancellationToken, span: Span, reveal: bool) -> Result<Found, store::Error> {
        let walk =
            Walk { query: self.query(span), most: MAX_EXAMINED, hits: u64::MAX, time: MAX_TIME, texts: Vec::new() };
        let mut grouping = Grouping { asked: self, reveal, groups: Groups::default(), found: Found::default() };
        let last = store.walk(&walk, cancel, &mut grouping)?;
        let Grouping { groups, mut found, .. } = grouping;
        if let Some(last) = last {
            let left = Query { below: last.id().parse().ok(), ..walk.query };
            found.not_examined = store.latest_start(&left, cancel)?;
        }
        (found.groups, found.total) = groups.finish(self.limit);
        for group in &mut found.groups {
            group.look_around(store, cancel)?;
        }
        Ok(found)
    }

    fn query(&self, span: Span) -> Query {
        Query {
            workflow_id: self.workflow_id.clone(),
            failed: true,
            started_after: Some(span.begin.to_string()),
            started_before: self.started_before.clone(),
            ..Query::default()
        }
    }

    fn span(&self) -> Result<Span, Error> {
        let date = |date: &Option<String>| date.as_deref().and_then(|date| date.parse::<Timestamp>().ok());
        let end = date(&self.started_before);
        let recent = || end.unwrap_or_else(Timestamp::now).checked_sub(RECENT).unwrap_or(Timestamp::MIN);
        let begin = date(&self.started_after).unwrap_or_else(recent);
        if end.is_some_and(|end| begin > end) {
            return Err(Error::argument("startedAfter", "is later than the end of the time span."));
        }
        Ok(Span { begin, end })
    }

    /// Whether the call asks about this failure.
    fn is_about(&self, error: Option<&Failure>) -> bool {
        let node = error.and_then(|error| error.node_name.as_ref());
        self.node_name.is_none() || node == self.node_name.as_ref()
    }
}

/// A walk over failures that groups them.
struct Grouping<'a> {
    asked: &'a GroupFailures,
    reveal: bool,
    groups: Groups,
    found: Found,
}

impl Visitor for Grouping<'_> {
    /// `None` if it cannot be read; then its error, if it has one.
    type View = Option<Option<Failure>>;

    fn read(&self, execution: store::Execution<'_>) -> Self::View {
        let store::Execution { row, header, workflow, data } = execution;
        if row.status() == Some(CANCELED) {
            return Some(None);
        }
        let stored = StoredExecution { header, workflow, data, reveal: self.reveal };
        SummaryProjection.read_stored(stored).ok().map(|summary| summary.error)
    }

    fn take(&mut self, Listed { row, workflow_name }: Listed, visit: Visit<Self::View>) {
        if row.status() == Some(CANCELED) {
            self.found.canceled += 1;
            return;
        }
        let error = match visit.read() {
            Ok(error) => error,
            // Nothing was recorded.
            Err(Unread::NoData) => None,
            Err(reason) => return self.found.not_read.add(reason),
        };
        if self.asked.is_about(error.as_ref()) {
            self.found.failures += 1;
            let whose = Whose { workflow_id: row.workflow_id().to_owned(), workflow_name };
            self.groups.add(whose, Failed::of(&row), error.as_ref());
        }
    }
}
