//! `list_executions`: which executions there are, newest first, with the names of their workflows.

use std::collections::HashMap;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::StreamExt;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::budget;
use crate::execution::duration;
use crate::json::cut_name;
use crate::n8n::{self, Client, ListQuery, Listing, Progress};
use crate::toolkit::answer::{MAX_TOKENS_PARAMETER, max_tokens, success};
use crate::toolkit::{Answers, Arguments, Effect, Kind, Parameter, cursor};
use crate::tools::{Call, Context, Error, Tool};

/// Workflows whose names are asked for at once.
const NAMES_AT_ONCE: usize = 4;

/// The tool.
pub static TOOL: Tool = Tool {
    name: "list_executions",
    title: "List executions",
    description: "List n8n executions, newest first: id, workflow, status and times. Filter by workflow, status or start \
                  time; hand nextCursor back to go on. Then call get_execution with an id.",
    parameters: &[
        Parameter::optional("workflowId", Kind::Text, "Only executions of this workflow."),
        Parameter::optional(
            "status",
            Kind::Choice(&["success", "error", "waiting", "running", "canceled", "crashed", "new", "unknown"]),
            "Only executions with this status.",
        ),
        cursor::LIMIT,
        cursor::CURSOR,
        Parameter::optional(
            "startedAfter",
            Kind::Date,
            "Only executions that started then or later (n8n 2.37 and newer).",
        ),
        Parameter::optional(
            "startedBefore",
            Kind::Date,
            "Only executions that started then or before (n8n 2.37 and newer).",
        ),
        Parameter::optional("raw", Kind::FLAG, "n8n's own objects, without workflow names."),
        MAX_TOKENS_PARAMETER,
    ],
    ignored: &[],
    answers: Answers::Envelope,
    effect: Effect::Read,
    max_result_chars: None,
    call,
};

fn call(context: Arc<Context>, arguments: Arguments, _progress: Progress) -> Call {
    Box::pin(async move {
        let max_tokens = max_tokens(&arguments);
        let page = Page::new(&arguments)?;
        budget::preload();
        let listing = context.n8n.list_executions(&page.query()).await?;
        let executions = if page.raw { listing.data.clone() } else { entries(&context.n8n, &listing).await };
        let message = context.locale.choose("実行履歴を取得しました", "Executions retrieved");
        Ok(answer(message, &executions, &listing, &page, max_tokens))
    })
}

/// A page of the list, as our cursor carries it: n8n's own does not know the filters.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Page {
    workflow_id: Option<String>,
    status: Option<String>,
    started_after: Option<String>,
    started_before: Option<String>,
    limit: u64,
    raw: bool,
    cursor: Option<String>,
}

impl Page {
    fn new(arguments: &Arguments) -> Result<Self, Error> {
        match arguments.text("cursor") {
            Some(cursor) => match cursor::decode::<Self>(&cursor)? {
                page if cursor::LIMITS.contains(&page.limit) => Ok(page),
                _ => Err(cursor::refused().into()),
            },
            None => Ok(Self {
                workflow_id: arguments.text("workflowId"),
                status: arguments.text("status"),
                started_after: arguments.text("startedAfter"),
                started_before: arguments.text("startedBefore"),
                limit: arguments.integer("limit").unwrap_or(cursor::DEFAULT_LIMIT),
                raw: arguments.flag("raw"),
                cursor: None,
            }),
        }
    }

    fn behind(&self, cursor: String) -> String {
        cursor::encode(&Self { cursor: Some(cursor), ..self.clone() })
    }

    fn query(&self) -> ListQuery {
        ListQuery {
            workflow_id: self.workflow_id.clone(),
            status: self.status.clone(),
            started_after: self.started_after.clone(),
            started_before: self.started_before.clone(),
            limit: self.limit,
            cursor: self.cursor.clone(),
        }
    }
}

/// n8n's objects as we show them.
async fn entries(n8n: &Client, listing: &Listing) -> Vec<Value> {
    let names = workflow_names(n8n, listing).await;
    listing.data.iter().map(|execution| entry(execution, &names)).collect()
}

fn entry(execution: &Value, names: &HashMap<String, String>) -> Value {
    let name = text(execution, "workflowId").and_then(|id| names.get(&id));
    let time = execution["startedAt"].as_str().zip(execution["stoppedAt"].as_str());
    json!({
        "id": text(execution, "id"),
        "workflowId": text(execution, "workflowId"),
        "workflowName": name.map_or("Unknown Workflow", String::as_str),
        "status": execution["status"],
        "startedAt": execution["startedAt"],
        "stoppedAt": execution["stoppedAt"],
        "executionTime": time.and_then(|(from, to)| duration(from, to)),
    })
}

/// Ids are strings; the oldest versions of n8n send numbers.
fn text(execution: &Value, member: &str) -> Option<String> {
    match &execution[member] {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The name of each distinct workflow. The list never fails because a name did.
async fn workflow_names(n8n: &Client, listing: &Listing) -> HashMap<String, String> {
    let mut ids: Vec<_> = listing.data.iter().filter_map(|execution| text(execution, "workflowId")).collect();
    ids.sort();
    ids.dedup();
    let names = futures::stream::iter(ids).map(|id| async move {
        let name = match n8n.workflow_name(&id).await {
            Ok(Some(name)) => cut_name(name),
            Err(n8n::Error::NotFound(_)) => "Deleted Workflow".to_owned(),
            Ok(None) | Err(_) => "Unknown Workflow".to_owned(),
        };
        (id, name)
    });
    names.buffer_unordered(NAMES_AT_ONCE).collect().await
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Data<'a> {
    count: usize,
    executions: &'a [Value],
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// The answer as it is sent: where not all executions fit, the cursor goes on behind the last one.
fn answer(message: &str, executions: &[Value], listing: &Listing, page: &Page, max_tokens: usize) -> String {
    let text = |shown: usize| {
        let cursor = if shown == executions.len() {
            listing.next_cursor.clone()
        } else {
            cursor_behind(&executions[shown - 1], page.limit)
        };
        let executions = &executions[..shown];
        success(message, &Data { count: shown, executions, next_cursor: cursor.map(|cursor| page.behind(cursor)) })
    };
    let mut shown = executions.len();
    let mut whole = text(shown);
    while shown > 1 && !budget::fits(&whole, max_tokens) {
        shown = (shown * 7 / 8).max(1);
        whole = text(shown);
    }
    whole
}

/// n8n's own cursor is the last id and the limit, as JSON in base64.
fn cursor_behind(execution: &Value, limit: u64) -> Option<String> {
    let last_id = text(execution, "id")?;
    Some(STANDARD.encode(json!({"lastId": last_id, "limit": limit}).to_string()))
}
