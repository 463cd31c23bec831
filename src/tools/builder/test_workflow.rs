//! `test_workflow`: calls an active workflow at its production address, and reads what became of it.
//!
//! n8n's public API cannot start a workflow: what can be called is a webhook, a form or a chat.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value, json};
use tokio::time::{Instant, sleep, timeout_at};

use super::WORKFLOW_ID;
use super::answer::plain;
use super::place::{Place, refused};
use crate::execution::summary::{NodeSummary, Summary, SummaryProjection};
use crate::json::shorten;
use crate::n8n::{Client, ExecutionRequest, ListQuery, ProductionCall, Progress};
use crate::toolkit::{Answers, Arguments, Effect, Kind, Parameter};
use crate::tools::executions::summary_answer;
use crate::tools::{Call, Context, Error, Tool};
use crate::workflow::Document;
use crate::workflow::trigger::{Trigger, Triggers};

const DEFAULT_TIMEOUT_MS: u64 = 60_000;

/// Between two looks for the execution.
const PAUSE: Duration = Duration::from_millis(300);

/// How long a call that was answered may take to be seen, or one that was refused.
const SAVED: Duration = Duration::from_secs(10);
const REFUSED: Duration = Duration::from_secs(2);

/// Executions that are looked at for the one that was started.
const LOOKED_AT: u64 = 50;

/// Lines of the log.
const LINES: usize = 200;

/// Characters of n8n's own answer in an error.
const ANSWER_CHARS: usize = 300;

/// The tool.
pub static TOOL: Tool = Tool {
    name: "test_workflow",
    title: "Test a workflow",
    description: "Call an active n8n workflow with a webhook, form or chat trigger at its production address, with \
                  testData, and read its execution. It really runs.",
    parameters: &[
        WORKFLOW_ID,
        Parameter::optional("testData", Kind::Object, "What is sent: a JSON body, the fields of a form, or chatInput."),
        Parameter::optional(
            "timeout",
            Kind::Integer { range: 1000..=3_600_000, default: Some(DEFAULT_TIMEOUT_MS) },
            "How long to wait for its end, ms.",
        ),
    ],
    ignored: &[],
    answers: Answers::Plain(&[
        ("success", "boolean"),
        ("executionId", "string"),
        ("data", "object"),
        ("logs", "array"),
        ("executionTime", "integer"),
        ("status", "string"),
    ]),
    effect: Effect::Add,
    max_result_chars: None,
    call,
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    success: bool,
    execution_id: Option<String>,
    data: Value,
    logs: Vec<String>,
    execution_time: Option<i64>,
    status: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

fn call(context: Arc<Context>, mut arguments: Arguments, progress: Progress) -> Call {
    Box::pin(async move {
        let Place::N8n(id) = Place::of(&arguments.text("workflowId").unwrap_or_default()) else {
            return Err(Error::Argument(
                "Only a workflow in n8n can be tested: create it there (workflow_create with target n8n), and activate it in n8n."
                    .to_owned(),
            ));
        };
        let wait = Duration::from_millis(arguments.integer("timeout").unwrap_or(DEFAULT_TIMEOUT_MS));
        let end = Instant::now() + wait;
        let document = Place::N8n(id.clone()).load(&context, &progress).await?;
        let trigger = trigger(&document)?;
        let data = arguments.take_object("testData");
        let before = new_ids(&context.n8n, &id, None, None).await?.last().copied();
        let called = timeout_at(end, context.n8n.call_production(&production_call(&trigger, &data))).await;
        let Ok(answer) = called else {
            // It still runs, or waits: whatever there is of it.
            return outcome(&context, wait_for(&context.n8n, &id, before, end).await?, &progress).await;
        };
        let answer = answer?;
        // A workflow may answer like this itself: only without an execution nothing was started.
        let refused = matches!(answer.status, 401 | 403 | 404 | 405);
        let seen_by = Instant::now() + if refused { REFUSED } else { SAVED };
        match wait_for(&context.n8n, &id, before, end.min(seen_by)).await? {
            Found::Nothing if refused => Err(not_started(answer.status, &answer.body)),
            Found::Nothing => Ok(plain(&Answer::unsaved(answer.status))),
            Found::Running(_) => outcome(&context, wait_for(&context.n8n, &id, before, end).await?, &progress).await,
            ended => outcome(&context, ended, &progress).await,
        }
    })
}

/// The trigger to call, or why there is none.
fn trigger(document: &Document) -> Result<Trigger, Error> {
    let triggers = Triggers::of(document).map_err(|error| refused(&error))?;
    let types = if triggers.types.is_empty() { "none".to_owned() } else { triggers.types.join(", ") };
    let Some(trigger) = triggers.callable else {
        return Err(Error::NotThere(format!(
            "n8n's public API cannot start this workflow: its triggers are {types}, and only a webhook, a form or a chat can be \
             called. Run it in n8n's editor and read the execution with list_executions, or add a webhook."
        )));
    };
    if !document.is_active() {
        return Err(Error::NotThere(
            "This workflow is not active, and nothing answers at its address. Activate it in n8n (this tool never does), then test it."
                .to_owned(),
        ));
    }
    Ok(trigger)
}

fn production_call(trigger: &Trigger, data: &Map<String, Value>) -> ProductionCall {
    let split = |path: &str| path.split('/').map(str::to_owned).collect::<Vec<_>>();
    let below = |first: &str, path: &str| [vec![first.to_owned()], split(path)].concat();
    let json_body = |value: Value| Some(("application/json".to_owned(), value.to_string()));
    match trigger {
        Trigger::Webhook { method, path } if matches!(method.as_str(), "GET" | "HEAD" | "DELETE") => ProductionCall {
            method: method.clone(),
            segments: below("webhook", path),
            query: data.iter().map(|(name, value)| (name.clone(), plain_text(value))).collect(),
            body: None,
        },
        Trigger::Webhook { method, path } => ProductionCall {
            method: method.clone(),
            segments: below("webhook", path),
            query: Vec::new(),
            body: json_body(Value::Object(data.clone())),
        },
        Trigger::Chat { id } => {
            let mut body = data.clone();
            body.entry("action").or_insert_with(|| json!("sendMessage"));
            body.entry("sessionId").or_insert_with(|| json!(uuid::Uuid::new_v4().to_string()));
            ProductionCall {
                method: "POST".to_owned(),
                segments: below("webhook", &format!("{id}/chat")),
                query: Vec::new(),
                body: json_body(Value::Object(body)),
            }
        }
        Trigger::Form { path, fields } => ProductionCall {
            method: "POST".to_owned(),
            segments: below("form", path),
            query: Vec::new(),
            body: Some(form(fields, data)),
        },
    }
}

/// n8n's forms name their fields `field-0`, `field-1`, … in the order of the form.
fn form(fields: &[String], data: &Map<String, Value>) -> (String, String) {
    let boundary = format!("n8n-lens-{}", uuid::Uuid::new_v4());
    let part = |(at, label): (usize, &String)| {
        let value = data.get(label).map(plain_text).unwrap_or_default();
        format!("--{boundary}\r\nContent-Disposition: form-data; name=\"field-{at}\"\r\n\r\n{value}\r\n")
    };
    let parts: String = fields.iter().enumerate().map(part).collect();
    (format!("multipart/form-data; boundary={boundary}"), format!("{parts}--{boundary}--\r\n"))
}

fn plain_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn not_started(status: u16, body: &str) -> Error {
    let body = shorten(body, ANSWER_CHARS);
    Error::NotThere(match status {
        401 | 403 => {
            format!("The trigger wants an authentication of its own ({status}), which this tool does not have: {body}")
        }
        _ => {
            format!("Nothing answers at the workflow's address ({status}): {body} Is it active, and its path its own?")
        }
    })
}

/// What became of a call.
enum Found {
    /// An execution that has ended, and how many others began meanwhile.
    Ended(String, usize),
    Running(String),
    Nothing,
}

/// The ids of the executions of a workflow after another one, ascending.
async fn new_ids(n8n: &Client, workflow: &str, status: Option<&str>, after: Option<u64>) -> Result<Vec<u64>, Error> {
    let query = ListQuery {
        workflow_id: Some(workflow.to_owned()),
        status: status.map(str::to_owned),
        limit: LOOKED_AT,
        ..ListQuery::default()
    };
    let list = n8n.list_executions(&query).await?;
    let ids = list.data.iter().filter_map(|execution| plain_text(&execution["id"]).parse().ok());
    let mut ids: Vec<_> = ids.filter(|id| after.is_none_or(|after| *id > after)).collect();
    ids.sort_unstable();
    Ok(ids)
}

/// Waits for the end of the first execution that came after `before`.
async fn wait_for(n8n: &Client, workflow: &str, before: Option<u64>, end: Instant) -> Result<Found, Error> {
    loop {
        // The list leaves out what is running.
        let running = new_ids(n8n, workflow, Some("running"), before).await?;
        let ended = new_ids(n8n, workflow, None, before).await?;
        let others = (running.len() + ended.len()).saturating_sub(1);
        let found = match (ended.first(), running.first()) {
            (Some(ended), running) if running.is_none_or(|running| ended < running) => {
                return Ok(Found::Ended(ended.to_string(), others));
            }
            (_, Some(running)) => Found::Running(running.to_string()),
            _ => Found::Nothing,
        };
        if Instant::now() + PAUSE > end {
            return Ok(found);
        }
        sleep(PAUSE).await;
    }
}

/// What is told of a call, at the end of its time.
async fn outcome(context: &Context, found: Found, progress: &Progress) -> Result<String, Error> {
    match found {
        Found::Ended(execution, others) => ended(context, &execution, others, progress).await,
        Found::Running(execution) => Ok(plain(&Answer::running(Some(execution)))),
        Found::Nothing => Ok(plain(&Answer::running(None))),
    }
}

async fn ended(context: &Context, id: &str, others: usize, progress: &Progress) -> Result<String, Error> {
    let request = ExecutionRequest { id: id.to_owned(), ignore_size_limit: false };
    let summary = context.n8n.read_execution(&request, &SummaryProjection, progress).await??;
    let text = summary_answer::compose(&summary, Some(id), 0, context.locale);
    let data = serde_json::from_str::<Value>(&text).map(|answer| answer["data"].clone()).unwrap_or_default();
    let status = summary.header.status.clone().unwrap_or_else(|| "unknown".to_owned());
    let note = format!("{others} more executions began meanwhile; this is the first, and may be another caller's.");
    Ok(plain(&Answer {
        success: status == "success",
        execution_id: Some(id.to_owned()),
        data,
        logs: logs(&summary),
        execution_time: summary.header.duration(),
        status,
        note: (others > 0).then_some(note),
    }))
}

impl Answer {
    fn running(execution_id: Option<String>) -> Self {
        Self { execution_id, ..Self::without_data("running") }
    }

    /// n8n answered, and keeps nothing of it.
    fn unsaved(status: u16) -> Self {
        let note = format!(
            "n8n answered {status} and saved no execution: the workflow's settings may keep none that succeed (saveDataSuccessExecution)."
        );
        Self { note: Some(note), ..Self::without_data("unknown") }
    }

    fn without_data(status: &str) -> Self {
        let (data, logs, status) = (Value::Null, Vec::new(), status.to_owned());
        Self { success: false, execution_id: None, data, logs, execution_time: None, status, note: None }
    }
}

/// One line a node, in the order of execution.
fn logs(summary: &Summary) -> Vec<String> {
    let mut nodes: Vec<_> = summary.nodes.iter().collect();
    nodes.sort_by(|one, other| one.order(other));
    let line = |node: &&NodeSummary| {
        let runs = if node.runs == 1 { String::new() } else { format!(", {} runs", node.runs) };
        format!("{}: {}, {} items, {} ms{runs}", shorten(&node.name, 100), node.status, node.items, node.execution_time)
    };
    nodes.iter().take(LINES).map(line).collect()
}
