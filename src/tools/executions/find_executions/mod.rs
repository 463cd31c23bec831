//! `find_executions`: finds the executions in which a value occurs.
//!
//! ```text
//! store: executions, newest first -> redacted? counted -> may its text have it? -> searched as search_execution does -> the first hit
//! API:   executions, newest first -> the bodies of 50 ------------------------> searched as search_execution does -> the first hit
//! ```

mod answer;
mod in_store;
mod over_api;
mod page;

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use self::page::FindPage;
use super::source::{MARK_TOKENS, Origin};
use crate::execution::search::Hit;
use crate::n8n::Progress;
use crate::toolkit::answer::{BRIEF_TOKENS, FEW_TOKENS, Tokens, is_zero};
use crate::toolkit::cursor::{CURSOR, LIMIT, Limit};
use crate::toolkit::{self, Date, Effect, Text, arguments};
use crate::tools::{Context, Error, Handler, Tool, ToolCall};

/// The tool. It searches all executions in n8n's store, or the newest 50 per call over n8n's API.
pub static TOOL: Tool = Tool {
    name: "find_executions",
    title: "Find executions",
    description: "Find the executions in which a value occurs, newest first. Text, path and condition as in search_execution.",
    parameters: FindExecutions::PARAMETERS,
    effect: Effect::Read,
    handler: Handler::of::<FindExecutions>(),
};

/// How long one call may take; its cursor continues from there.
const MAX_TIME: Duration = Duration::from_secs(15);

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

/// The result of a search.
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
    /// The last execution that was visited, if there are more.
    last: Option<String>,
    /// Whether one call reads only a few: n8n's API sends one body after the other.
    is_bounded: bool,
    /// Whether the call ended because n8n limits requests.
    is_rate_low: bool,
}

/// Executions that were not searched. The number that n8n redacts covers the whole range: counting only those that have
/// the value would reveal that they have it.
#[derive(Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct NotSearched {
    #[serde(skip_serializing_if = "is_zero")]
    redacted: u64,
    /// n8n has soft-deleted them.
    #[serde(skip_serializing_if = "is_zero")]
    deleted: u64,
    /// n8n keeps their data in an object store.
    #[serde(skip_serializing_if = "is_zero")]
    elsewhere: u64,
    #[serde(skip_serializing_if = "is_zero")]
    no_data: u64,
    /// Missing, damaged, or in an unknown format.
    #[serde(skip_serializing_if = "is_zero")]
    unreadable: u64,
    /// Their bodies from n8n's API are too large.
    #[serde(skip_serializing_if = "is_zero")]
    too_large: u64,
    /// Items of more than 1 MiB, in executions with hits.
    #[serde(skip_serializing_if = "is_zero")]
    too_large_items: u64,
}

/// An execution that has the value.
struct FoundExecution {
    id: String,
    workflow_id: Option<String>,
    workflow_name: Option<String>,
    status: Option<String>,
    started_at: Option<String>,
    hits: u64,
    first: Hit,
}

impl ToolCall for FindExecutions {
    async fn run(self, context: Arc<Context>, _progress: Progress) -> Result<String, Error> {
        let (max_tokens, locale) = (self.max_tokens - MARK_TOKENS, context.locale);
        let page = FindPage::new(self)?;
        let search = page.search(context.redact)?;
        let Some(store) = &context.store else {
            let found = over_api::find(context.n8n()?, &page, search).await?;
            return Ok(answer::compose(&found, &page, max_tokens, locale));
        };
        let reveal = store.reveals();
        let answer = store.ask(move |store, cancel| {
            let found = in_store::find(store, cancel, &page, search, reveal)?;
            Ok(answer::compose(&found, &page, max_tokens, locale))
        });
        Ok(Origin::Store { deleted: false }.mark(answer.await?))
    }
}

impl Found {
    /// Counts an execution that was searched; executions come newest first.
    fn count(&mut self, started_at: Option<&str>) {
        self.searched += 1;
        self.to = self.to.take().or_else(|| started_at.map(str::to_owned));
        self.from = started_at.map(str::to_owned).or(self.from.take());
    }
}
