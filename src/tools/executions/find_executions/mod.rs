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
use super::not_read::NotRead;
use super::source::{MARK_TOKENS, Origin};
use crate::execution::search::{Hit, SearchView};
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
    range: Range,
    /// The last one that was looked at, if there are more.
    last: Option<String>,
    /// Whether one call reads only a few: n8n's API sends one body after the other.
    is_bounded: bool,
    /// Whether the call ended because n8n limits requests.
    is_rate_low: bool,
}

/// What was searched, and what was not.
#[derive(Clone, Default)]
struct Range {
    /// How many executions were searched.
    searched: u64,
    /// When the oldest and the newest of them started.
    from: Option<String>,
    to: Option<String>,
    not_searched: NotSearched,
}

/// Executions that were not searched. That n8n redacts some of them is said of all in the range: how many of those have the
/// value would tell that they have it.
#[derive(Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct NotSearched {
    #[serde(skip_serializing_if = "is_zero")]
    redacted: u64,
    /// n8n has soft-deleted them.
    #[serde(skip_serializing_if = "is_zero")]
    deleted: u64,
    #[serde(flatten)]
    not_read: NotRead,
    /// n8n's API sends too much of them.
    #[serde(skip_serializing_if = "is_zero")]
    too_large: u64,
    /// Items of more than 1 MiB; the other items of their executions were searched.
    #[serde(skip_serializing_if = "is_zero")]
    too_large_items: u64,
    /// Lists and objects that are nested too deeply; everything around them was searched.
    #[serde(skip_serializing_if = "is_zero")]
    too_deep: u64,
}

impl NotSearched {
    /// Adds what was not searched of an execution.
    fn add_parts(&mut self, view: &SearchView) {
        self.too_large_items += view.too_large;
        self.too_deep += view.too_deep;
    }
}

/// An execution that has the value.
struct FoundExecution {
    id: String,
    workflow_name: Option<String>,
    status: Option<String>,
    started_at: Option<String>,
    hits: u64,
    first: Hit,
    /// What was searched when it was found, itself included.
    range: Range,
}

impl ToolCall for FindExecutions {
    async fn run(self, context: Arc<Context>, _progress: Progress) -> Result<String, Error> {
        let (max_tokens, locale) = (self.max_tokens - MARK_TOKENS, context.locale);
        let page = FindPage::new(self)?;
        let search = page.search(context.redact)?;
        let Some(store) = &context.store else {
            let mut found = over_api::find(context.n8n()?, &page, search).await?;
            loop {
                if let Some(answer) = answer::compose(&mut found, &page, max_tokens, locale) {
                    return Ok(answer);
                }
            }
        };
        let reveal = store.reveals();
        let answer = store.ask(move |store, cancel| {
            let mut found = in_store::find(store, cancel, &page, search, reveal)?;
            loop {
                in_store::count_deleted(store, cancel, &page, &mut found)?;
                if let Some(answer) = answer::compose(&mut found, &page, max_tokens, locale) {
                    return Ok(answer);
                }
            }
        });
        Ok(Origin::Store { deleted: false }.mark(answer.await?))
    }
}

impl Found {
    /// Drops what does not fit on the page: it is searched again for the next one.
    fn cut(&mut self, executions: usize) {
        self.executions.truncate(executions);
        if let Some(last) = self.executions.last() {
            (self.range, self.last) = (last.range.clone(), Some(last.id.clone()));
        }
    }
}

impl Range {
    /// Counts an execution that was searched; newest first.
    fn count(&mut self, started_at: Option<&str>) {
        self.searched += 1;
        self.to = self.to.take().or_else(|| started_at.map(str::to_owned));
        self.from = started_at.map(str::to_owned).or(self.from.take());
    }
}
