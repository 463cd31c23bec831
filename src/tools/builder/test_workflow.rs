//! `test_workflow`: calls an active workflow at its production URL and reads its execution.
//!
//! n8n's public API cannot start a workflow: only a webhook, a form or a chat can be called.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value, json};
use tokio::time::{Instant, sleep, timeout_at};

use super::WORKFLOW_ID;
use super::answer::plain;
use crate::execution::summary::{NodeSummary, Summary, SummaryProjection};
use crate::json::shorten;
use crate::n8n::{Client, ExecutionRequest, ListQuery, ProductionCall, Progress};
use crate::toolkit::{Effect, IntegerOr, Object, Text, arguments};
use crate::tools::executions::summary_answer;
use crate::tools::workflows::{WorkflowLocation, refused};
use crate::tools::{Context, Error, Handler, Tool, ToolCall};
use crate::units::counted;
use crate::workflow::Document;
use crate::workflow::trigger::{Trigger, Triggers};

/// Between two polls for the execution.
const POLL_INTERVAL: Duration = Duration::from_millis(300);

/// How long the execution of an answered call may take to appear in n8n's list.
const ANSWERED_TIMEOUT: Duration = Duration::from_secs(10);

/// The same for a call that n8n, or the workflow itself, answered with a refusal.
const REFUSED_TIMEOUT: Duration = Duration::from_secs(2);

/// How many listed executions are searched for the one that was started.
const MAX_LISTED: u64 = 50;

/// Lines of the log.
const MAX_LINES: usize = 200;

/// The most characters of the label of a form's field in an error.
const LABEL_CHARS: usize = 60;

/// The most characters of n8n's own answer in an error.
const ANSWER_CHARS: usize = 300;

/// The tool.
pub static TOOL: Tool = Tool {
    name: "test_workflow",
    title: "Test a workflow",
    description: "Call an active n8n workflow that has a webhook, form or chat trigger at its production URL, with \
                  testData, and read its execution. This is a real run; set_workflow_active activates a workflow.",
    parameters: TestWorkflow::PARAMETERS,
    effect: Effect::Add,
    handler: Handler::of::<TestWorkflow>().answering(&[
        ("success", "boolean"),
        ("executionId", "string"),
        ("data", "object"),
        ("logs", "array"),
        ("executionTime", "integer"),
        ("status", "string"),
    ]),
};

arguments! {
    struct TestWorkflow {
        workflow_id: Text = WORKFLOW_ID,
        test_data: Option<Object> = "What to send: a JSON body, the fields of a form, or chatInput.",
        timeout: IntegerOr<60_000, 1000, 3_600_000> = "How long to wait for its end, ms.",
    }
}

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

impl ToolCall for TestWorkflow {
    async fn run(self, context: Arc<Context>, progress: Progress) -> Result<String, Error> {
        let WorkflowLocation::N8n(id) = WorkflowLocation::of(&self.workflow_id) else {
            return Err(Error::arguments(
                "Only a workflow in n8n can be tested: create it there (workflow_create with target n8n) and activate it (set_workflow_active).",
            ));
        };
        let end = Instant::now() + Duration::from_millis(self.timeout);
        let document = WorkflowLocation::N8n(id.clone()).load(&context, &progress).await?;
        let trigger = trigger(&document)?;
        let data = self.test_data.unwrap_or_default();
        let before = new_ids(context.n8n()?, &id, None, None).await?.last().copied();
        let call = production_call(&trigger, &data)?;
        let called = timeout_at(end, context.n8n()?.call_production(&call, end)).await;
        let Ok(answer) = called else {
            // It still runs or waits: report what it has done so far.
            return outcome(&context, wait_for(context.n8n()?, &id, before, end).await?, &progress).await;
        };
        let answer = answer?;
        // A workflow can return such a status itself: only without an execution was nothing started.
        let refused = matches!(answer.status, 401 | 403 | 404 | 405);
        let seen_by = Instant::now() + if refused { REFUSED_TIMEOUT } else { ANSWERED_TIMEOUT };
        match wait_for(context.n8n()?, &id, before, end.min(seen_by)).await? {
            TestRun::Nothing if refused => Err(not_started(answer.status, &answer.body)),
            TestRun::Nothing => Ok(plain(&Answer::unsaved(answer.status))),
            TestRun::Running(_) => {
                outcome(&context, wait_for(context.n8n()?, &id, before, end).await?, &progress).await
            }
            ended => outcome(&context, ended, &progress).await,
        }
    }
}

/// The trigger to call.
///
/// # Errors
/// [`Error::FailedPrecondition`] if no trigger can be called, or if the workflow is not active.
fn trigger(document: &Document) -> Result<Trigger, Error> {
    let triggers = Triggers::of(document).map_err(|error| refused(&error))?;
    let types = match triggers.types.as_slice() {
        [] => "it has no trigger".to_owned(),
        types => format!("its triggers are {}", types.join(", ")),
    };
    let Some(trigger) = triggers.callable else {
        return Err(Error::FailedPrecondition(format!(
            "n8n's public API cannot start this workflow: {types}, and only a webhook with a path, a form or a public chat \
             can be called. Run it in n8n's editor and read the execution with list_executions, or add a webhook."
        )));
    };
    if !document.is_active() {
        return Err(Error::FailedPrecondition(
            "This workflow is not active, so nothing answers at its URL. Activate it with set_workflow_active, then test it."
                .to_owned(),
        ));
    }
    Ok(trigger)
}

/// # Errors
/// [`Error::Arguments`] if the data has a field that the form lacks.
fn production_call(trigger: &Trigger, data: &Map<String, Value>) -> Result<ProductionCall, Error> {
    let split = |path: &str| path.split('/').map(str::to_owned).collect::<Vec<_>>();
    let below = |first: &str, path: &str| [vec![first.to_owned()], split(path)].concat();
    let json_body = |value: Value| Some(("application/json".to_owned(), value.to_string()));
    Ok(match trigger {
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
            body: Some(form(fields, data)?),
        },
    })
}

/// n8n's forms name their fields `field-0`, `field-1`, … in the order of the form.
fn form(fields: &[String], data: &Map<String, Value>) -> Result<(String, String), Error> {
    if let Some(unknown) = data.keys().find(|name| !fields.contains(name)) {
        let known = fields.iter().map(|field| format!("'{}'", shorten(field, LABEL_CHARS))).collect::<Vec<_>>();
        let unknown = shorten(unknown, LABEL_CHARS);
        let problem = format!("has '{unknown}', which is no field of the form. Its fields are {}.", known.join(", "));
        return Err(Error::argument("testData", &problem));
    }
    let boundary = format!("n8n-lens-{}", uuid::Uuid::new_v4());
    let part = |(at, label): (usize, &String)| {
        let value = data.get(label).map(plain_text).unwrap_or_default();
        format!("--{boundary}\r\nContent-Disposition: form-data; name=\"field-{at}\"\r\n\r\n{value}\r\n")
    };
    let parts: String = fields.iter().enumerate().map(part).collect();
    Ok((format!("multipart/form-data; boundary={boundary}"), format!("{parts}--{boundary}--\r\n")))
}

fn plain_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn not_started(status: u16, body: &str) -> Error {
    let body = shorten(body, ANSWER_CHARS);
    Error::FailedPrecondition(match status {
        401 | 403 => {
            format!("The trigger requires authentication ({status}), which this tool does not have: {body}")
        }
        _ => {
            format!(
                "Nothing answers at the workflow's URL ({status}): {body} Check that it is active and that its path is unique."
            )
        }
    })
}

/// The execution that a call started, as n8n lists it.
enum TestRun {
    /// It has ended; also, how many others began in the meantime.
    Ended(String, usize),
    Running(String),
    Nothing,
}

/// The ids of the executions of a workflow after another one, ascending.
async fn new_ids(n8n: &Client, workflow: &str, status: Option<&str>, after: Option<u64>) -> Result<Vec<u64>, Error> {
    let query = ListQuery {
        workflow_id: Some(workflow.to_owned()),
        status: status.map(str::to_owned),
        limit: MAX_LISTED,
        ..ListQuery::default()
    };
    let list = n8n.list_executions(&query).await?;
    let ids = list.data.iter().filter_map(|execution| plain_text(&execution["id"]).parse().ok());
    let mut ids: Vec<_> = ids.filter(|id| after.is_none_or(|after| *id > after)).collect();
    ids.sort_unstable();
    Ok(ids)
}

/// Waits until the first execution after `before` has ended.
async fn wait_for(n8n: &Client, workflow: &str, before: Option<u64>, end: Instant) -> Result<TestRun, Error> {
    loop {
        // Without a status, the list leaves out running executions.
        let running = new_ids(n8n, workflow, Some("running"), before).await?;
        let ended = new_ids(n8n, workflow, None, before).await?;
        let others = (running.len() + ended.len()).saturating_sub(1);
        let found = match (ended.first(), running.first()) {
            (Some(ended), running) if running.is_none_or(|running| ended < running) => {
                return Ok(TestRun::Ended(ended.to_string(), others));
            }
            (_, Some(running)) => TestRun::Running(running.to_string()),
            _ => TestRun::Nothing,
        };
        if Instant::now() + POLL_INTERVAL > end {
            return Ok(found);
        }
        sleep(POLL_INTERVAL).await;
    }
}

/// The answer about a call whose time is up.
async fn outcome(context: &Context, found: TestRun, progress: &Progress) -> Result<String, Error> {
    match found {
        TestRun::Ended(execution, others) => ended(context, &execution, others, progress).await,
        TestRun::Running(execution) => Ok(plain(&Answer::running(Some(execution)))),
        TestRun::Nothing => Ok(plain(&Answer::running(None))),
    }
}

async fn ended(context: &Context, id: &str, others: usize, progress: &Progress) -> Result<String, Error> {
    let request = ExecutionRequest { id: id.to_owned(), ignore_size_limit: false };
    let summary = context.n8n()?.read_execution(&request, &SummaryProjection, progress).await?.view?;
    let text = summary_answer::compose(&summary, Some(id), 0, context.locale, context.offers_check);
    let data = serde_json::from_str::<Value>(&text).map(|answer| answer["data"].clone()).unwrap_or_default();
    let status = summary.header.status.clone().unwrap_or_else(|| "unknown".to_owned());
    let note = format!(
        "{} began meanwhile; this is the first, and might belong to another caller.",
        counted(others, "more execution", "more executions")
    );
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

    /// The answer about a call that n8n answered without saving an execution.
    fn unsaved(status: u16) -> Self {
        let (which, setting) = match status {
            400.. => ("failed", "saveDataErrorExecution"),
            _ => ("successful", "saveDataSuccessExecution"),
        };
        let note = format!(
            "n8n answered {status} and saved no execution: the workflow's settings might not save {which} ones ({setting})."
        );
        Self { note: Some(note), ..Self::without_data("unknown") }
    }

    fn without_data(status: &str) -> Self {
        let (data, logs, status) = (Value::Null, Vec::new(), status.to_owned());
        Self { success: false, execution_id: None, data, logs, execution_time: None, status, note: None }
    }
}

/// One line for each node, in the order of execution.
fn logs(summary: &Summary) -> Vec<String> {
    let mut nodes: Vec<_> = summary.nodes.iter().collect();
    nodes.sort_by_key(|node| node.position);
    let line = |node: &&NodeSummary| {
        let runs = if node.runs == 1 { String::new() } else { format!(", {}", counted(node.runs, "run", "runs")) };
        let items = counted(node.items, "item", "items");
        format!("{}: {}, {items}, {} ms{runs}", shorten(&node.name, 100), node.status, node.execution_time)
    };
    nodes.iter().take(MAX_LINES).map(line).collect()
}
