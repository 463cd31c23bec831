//! `list_executions`: executions, newest first, with the names of their workflows.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::listed::{text, workflow_names};
use super::source::{MARK_TOKENS, Origin, StoredExecutions};
use super::stored_list;
use crate::budget::Ladder;
use crate::execution::{FailureFilter, duration};
use crate::n8n::{Client, ListCursor, ListQuery, Listing, Progress};
use crate::toolkit::answer::{DEFAULT_TOKENS, TOKENS, Tokens, success};
use crate::toolkit::cursor::{self, CURSOR, LIMIT, Limit};
use crate::toolkit::{Choice, Date, Effect, Flag, Parameter, Text, Words, arguments, words};
use crate::tools::{Context, Error, Handler, Tool, ToolCall};

/// n8n lists at most this many executions at once.
const MAX_RUNNING: u64 = 250;

/// How long counting the running executions may take.
const RUNNING_TIMEOUT: Duration = Duration::from_secs(3);

/// The tool.
pub static TOOL: Tool = Tool {
    name: "list_executions",
    title: "List executions",
    description: "List n8n executions, newest first: id, workflow, status and times. Filter by workflow, status or start \
                  time; pass nextCursor back for the next page. Then call get_execution with an id.",
    parameters: &OVER_API,
    effect: Effect::Read,
    handler: Handler::of::<ListExecutions>(),
};

/// The tool if executions come from n8n's store.
pub static STORE_TOOL: Tool =
    Tool { parameters: ListExecutions::PARAMETERS, handler: Handler::of::<ListExecutions>(), ..TOOL };

/// n8n's API does not search errors.
static OVER_API: [Parameter; 8] = Parameter::without(ListExecutions::PARAMETERS, &["failingNode", "error"]);

arguments! {
    pub(crate) struct ListExecutions {
        workflow_id: Option<Text> = "Only executions of this workflow.",
        status: Option<Choice<Status>> = "Only executions with this status.",
        limit: Limit = LIMIT,
        cursor: Option<Text> = CURSOR,
        started_after: Option<Date> = "Started at or after this time (n8n 2.37 and newer).",
        started_before: Option<Date> = "Started at or before this time.",
        failing_node: Option<Text> = "Only failed executions whose error is of the node with this name.",
        error: Option<Text> = "Only failed executions whose error contains this text, in upper or lower case. Up to 10,000 \
                               are searched in one call: nextCursor continues, even if none was found.",
        raw: Option<Flag> = "n8n's own objects, without workflow names.",
        max_tokens: Tokens<DEFAULT_TOKENS> = TOKENS,
    }
}

words! {
    /// The status of an execution, as n8n lists it.
    pub(crate) enum Status {
        Success = "success",
        Error = "error",
        Waiting = "waiting",
        Running = "running",
        Canceled = "canceled",
        Crashed = "crashed",
        New = "new",
        Unknown = "unknown",
    }
}

impl ToolCall for ListExecutions {
    async fn run(self, context: Arc<Context>, _progress: Progress) -> Result<String, Error> {
        let max_tokens = self.max_tokens;
        let page = ListPage::new(self)?;
        let (shown, origin) = match &context.store {
            Some(store) => (stored(store, &page).await?, Origin::Store { deleted: false }),
            None => (from_n8n(context.n8n()?, &page).await?, Origin::Only),
        };
        let room = if origin == Origin::Only { 0 } else { MARK_TOKENS };
        let message = context.locale.choose("実行履歴を取得しました", "Executions retrieved");
        Ok(origin.mark(answer(message, &shown, &page, max_tokens - room)))
    }
}

/// A page of the list, as the cursor encodes it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ListPage {
    #[serde(skip_serializing_if = "Option::is_none")]
    workflow_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    started_after: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    started_before: Option<String>,
    limit: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    failing_node: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    raw: bool,
    /// The id of the last execution of the previous page.
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<String>,
    /// n8n's own cursor, if it does not contain that execution's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

impl ListPage {
    fn new(asked: ListExecutions) -> Result<Self, Error> {
        match asked.cursor {
            Some(cursor) => match cursor::decode::<Self>(&cursor)? {
                page if cursor::LIMITS.contains(&page.limit) => Ok(page),
                _ => Err(cursor::refused().into()),
            },
            None => Ok(Self {
                workflow_id: asked.workflow_id,
                status: asked.status.map(|status| status.word().to_owned()),
                started_after: asked.started_after,
                started_before: asked.started_before,
                limit: asked.limit,
                failing_node: asked.failing_node,
                error: asked.error,
                raw: asked.raw.unwrap_or(false),
                ..Self::default()
            }),
        }
    }

    fn continued(&self, next: ListCursor) -> String {
        let (after, cursor) = match next {
            ListCursor::After(id) => (Some(id), None),
            ListCursor::Opaque(cursor) => (None, Some(cursor)),
        };
        cursor::encode(&Self { after, cursor, ..self.clone() })
    }

    /// The query for the running executions that this page leaves out; `None` after the first page, which reports them, or if
    /// the caller requested a status.
    fn running(&self) -> Option<ListQuery> {
        let is_first = self.after.is_none() && self.cursor.is_none();
        let status = self.status.is_none().then(|| "running".to_owned()).filter(|_| is_first)?;
        Some(ListQuery { status: Some(status), limit: MAX_RUNNING, ..self.query() })
    }

    fn query(&self) -> ListQuery {
        let after = self.after.clone().map(ListCursor::After);
        ListQuery {
            workflow_id: self.workflow_id.clone(),
            status: self.status.clone(),
            started_after: self.started_after.clone(),
            started_before: self.started_before.clone(),
            limit: self.limit,
            cursor: after.or_else(|| self.cursor.clone().map(ListCursor::Opaque)),
        }
    }
}

/// A page of the list, as the answer shows it.
struct ListedExecutions {
    listing: Listing,
    executions: Vec<Value>,
    left_out: Option<LeftOut>,
}

/// The executions that a list without `status` leaves out, as n8n's API does.
#[derive(Clone, Copy, Serialize)]
struct LeftOut {
    /// How many are running.
    running: u64,
    /// Whether there are still more.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    more: bool,
    /// The call that lists them.
    see: &'static str,
}

impl LeftOut {
    fn new(running: u64, more: bool) -> Option<Self> {
        (running > 0).then_some(Self { running, more, see: "list_executions(status: 'running')" })
    }
}

/// A page from n8n's API.
async fn from_n8n(n8n: &Client, page: &ListPage) -> Result<ListedExecutions, Error> {
    let listing = n8n.list_executions(&page.query()).await?;
    let executions = async { if page.raw { listing.data.clone() } else { entries(n8n, &listing).await } };
    let (executions, left_out) = futures::future::join(executions, running(n8n, page)).await;
    Ok(ListedExecutions { listing, executions, left_out })
}

/// The running executions that the first page leaves out. One more request counts them, with a short timeout: the list
/// neither fails nor waits because of it.
async fn running(n8n: &Client, page: &ListPage) -> Option<LeftOut> {
    let query = page.running()?;
    let listing = tokio::time::timeout(RUNNING_TIMEOUT, n8n.list_executions(&query)).await.ok()?.ok()?;
    // A proxy may ignore the filter.
    let running = listing.data.iter().filter(|execution| execution["status"] == "running").count();
    LeftOut::new(running as u64, listing.next_cursor.is_some() && running == listing.data.len())
}

/// A page from n8n's store.
async fn stored(store: &StoredExecutions, page: &ListPage) -> Result<ListedExecutions, Error> {
    let query = page.query();
    let filter = FailureFilter { node: page.failing_node.clone(), text: page.error.clone() };
    let (is_search, reveal) = (!filter.is_empty(), store.reveals());
    let running = page.running().filter(|_| !is_search);
    let ((listing, names), running) = store
        .ask(move |store, cancel| {
            let listed = match is_search {
                true => stored_list::search(store, cancel, &query, &filter, reveal),
                false => stored_list::list(store, cancel, &query),
            }?;
            let running = running.map_or(Ok(0), |running| stored_list::count(store, cancel, &running))?;
            Ok((listed, running))
        })
        .await?;
    let shown = |execution: &Value| if page.raw { execution.clone() } else { entry(execution, &names) };
    let executions = listing.data.iter().map(shown).collect();
    Ok(ListedExecutions { listing, executions, left_out: LeftOut::new(running, false) })
}

/// The executions of a list, as the answer shows them.
async fn entries(n8n: &Client, listing: &Listing) -> Vec<Value> {
    let ids = listing.data.iter().filter_map(|execution| text(execution, "workflowId"));
    let names = workflow_names(n8n, ids).await;
    listing.data.iter().map(|execution| entry(execution, &names)).collect()
}

fn entry(execution: &Value, names: &HashMap<String, String>) -> Value {
    let name = text(execution, "workflowId").and_then(|id| names.get(&id));
    let time = execution["startedAt"].as_str().zip(execution["stoppedAt"].as_str());
    let mut entry = json!({
        "id": text(execution, "id"),
        "workflowId": text(execution, "workflowId"),
        "workflowName": name.map_or("Unknown Workflow", String::as_str),
        "status": execution["status"],
        "startedAt": execution["startedAt"],
        "stoppedAt": execution["stoppedAt"],
        "executionTime": time.and_then(|(from, to)| duration(from, to)),
    });
    for (name, value) in stored_list::additions(execution) {
        entry[name] = value.clone();
    }
    entry
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ExecutionPage<'a> {
    count: usize,
    executions: &'a [Value],
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<LeftOut>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// The answer as it is sent. If not all executions fit, its cursor continues after the last one that does.
fn answer(message: &str, listed: &ListedExecutions, page: &ListPage, max_tokens: usize) -> String {
    let ListedExecutions { listing, executions, left_out } = listed;
    let text = |shown: usize| {
        let next = if shown == executions.len() {
            listing.next_cursor.clone()
        } else {
            text(&executions[shown - 1], "id").map(ListCursor::After)
        };
        let (executions, next_cursor) = (&executions[..shown], next.map(|next| page.continued(next)));
        success(message, &ExecutionPage { count: shown, executions, left_out: *left_out, next_cursor })
    };
    let numbers = Ladder::new(executions.len()).fewer(|shown| shown, |shown| shown * 7 / 8, 1);
    numbers.largest_that_fits(max_tokens, text).answer
}
