//! `POST /view/call`: a tool, and its progress, as lines of JSON. `POST /view/prove`: the same for the only action of the page
//! other than reading, which requires more than access to the page.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ORIGIN};
use axum::response::{IntoResponse, Response};
use futures::stream;
use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, watch};

use super::Page;
use crate::n8n::{Progress, Stage};
use crate::toolkit::answer;
use crate::tools::view::{PAGE, locale};
use crate::tools::{Context, Tool};
use crate::transport::rest;

/// The shortest time between two lines of progress.
const INTERVAL: Duration = Duration::from_millis(100);

/// The body of a request.
#[derive(Deserialize)]
struct ToolCall {
    tool: String,
    #[serde(default)]
    arguments: Map<String, Value>,
}

impl rest::Request for ToolCall {
    const SHAPE: &str = r#"{"tool": …, "arguments": {…}}"#;
}

/// An answer, in the envelope or plain.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

/// Runs a tool. A client that closes the connection drops the call.
pub(super) async fn call(State(page): State<Arc<Page>>, headers: HeaderMap, body: Body) -> Response {
    if let Some(refusal) = page.refusal(&headers) {
        return refusal.into_response();
    }
    let call = match rest::parse::<ToolCall>(&page.limits, &headers, body).await {
        Ok(call) => call,
        Err(error) => return error.into_response(),
    };
    match page.toolbox.find(&call.tool) {
        Ok(tool) => start(page.context.clone(), page, tool, call.arguments),
        Err(error) => rest::Error::from(error).into_response(),
    }
}

/// The confirmation that a person gives before their draft is proven.
#[derive(Deserialize)]
struct Proof {
    /// The execution whose data are used.
    id: String,
    /// Whether the person has read what this creates in n8n, and agreed.
    confirmed: bool,
    /// The language of the page: `en` or `ja`.
    language: Option<String>,
}

impl rest::Request for Proof {
    const SHAPE: &str = r#"{"id": "…", "confirmed": true}"#;
}

/// Proves the draft if this server offers that, the page itself requests it, and a person agreed.
pub(super) async fn prove(State(page): State<Arc<Page>>, headers: HeaderMap, body: Body) -> Response {
    if let Some(refusal) = page.refusal(&headers) {
        return refusal.into_response();
    }
    let Some(prover) = page.prover else {
        let refusal =
            "This page proves nothing: start n8n-lens with the toolset proof (--toolsets), and without --read-only.";
        return rest::Error::NotFound(refusal.to_owned()).into_response();
    };
    // Every browser sends an origin with a POST, and `refusal` has checked that it is ours.
    if !headers.contains_key(ORIGIN) {
        return rest::Error::Format("Only the page itself can start a proof.".to_owned()).into_response();
    }
    match rest::parse::<Proof>(&page.limits, &headers, body).await {
        Ok(Proof { confirmed: false, .. }) => {
            rest::Error::Format("A proof must be confirmed first.".to_owned()).into_response()
        }
        Ok(Proof { id, language, .. }) => {
            let locale = locale(language.as_deref(), &page.context);
            let context = Arc::new(Context { locale, ..(*page.context).clone() });
            start(context, page, prover, Map::from_iter([("id".to_owned(), id.into())]))
        }
        Err(error) => error.into_response(),
    }
}

/// The lines of a call that runs.
fn start(context: Arc<Context>, page: Arc<Page>, tool: &'static Tool, arguments: Map<String, Value>) -> Response {
    let (sender, mut lines) = mpsc::channel(4);
    tokio::spawn(run(context, page, tool, arguments, sender));
    let lines = stream::poll_fn(move |context| lines.poll_recv(context).map(|line| line.map(Ok::<_, std::io::Error>)));
    let headers = [(CONTENT_TYPE, "application/x-ndjson"), (CACHE_CONTROL, "no-store")];
    (headers, Body::from_stream(lines)).into_response()
}

async fn run(
    context: Arc<Context>,
    page: Arc<Page>,
    tool: &'static Tool,
    arguments: Map<String, Value>,
    lines: mpsc::Sender<Bytes>,
) {
    let (progress, stages) = Progress::watched();
    let outcome = tokio::select! {
        () = lines.closed() => return,
        () = report(stages, &lines) => return,
        outcome = rest::run(tool, context, arguments, progress, &page.shutdown) => outcome,
    };
    let last = match outcome {
        Ok(answer) => result(&answer),
        Err(error) => {
            let (_, code, message) = error.parts();
            json!({"error": {"message": PAGE.tell(&message), "code": code}}).to_string()
        }
    };
    // The client may be gone.
    let _ = lines.send(Bytes::from(last + "\n")).await;
}

/// The last line.
fn result(answer: &str) -> String {
    format!("{{\"result\":{}}}", for_page(answer))
}

/// A tool's answer without the envelope, with its hints worded for the page.
pub(in crate::transport) fn for_page(answer: &str) -> Cow<'_, str> {
    let data = serde_json::from_str::<Envelope<'_>>(answer).ok().and_then(|answer| answer.data);
    let data = data.map_or(answer, RawValue::get);
    told(data).map_or(data.into(), Cow::Owned)
}

/// An answer with `truncated.reason` and `notes` worded for the page; `None` if it has neither.
fn told(data: &str) -> Option<String> {
    let mut members: IndexMap<String, Box<RawValue>> = serde_json::from_str(data).ok()?;
    let reason = members.get("truncated").and_then(|truncated| {
        let mut truncated: Map<String, Value> = serde_json::from_str(truncated.get()).ok()?;
        let told = PAGE.tell(truncated.get("reason")?.as_str()?).into_owned();
        truncated.insert("reason".to_owned(), told.into());
        Some(("truncated", answer::json(&Value::Object(truncated).to_string())))
    });
    let notes = members.get("notes").and_then(|notes| {
        let notes: Vec<String> = serde_json::from_str(notes.get()).ok()?;
        let told: Vec<_> = notes.iter().map(|note| PAGE.tell(note)).collect();
        Some(("notes", answer::json(&json!(told).to_string())))
    });
    let told: Vec<_> = reason.into_iter().chain(notes).collect();
    if told.is_empty() {
        return None;
    }
    told.into_iter().for_each(|(name, value)| drop(members.insert(name.to_owned(), value)));
    serde_json::to_string(&members).ok()
}

/// Sends progress for as long as the tool runs.
async fn report(mut stages: watch::Receiver<Stage>, lines: &mpsc::Sender<Bytes>) {
    while stages.changed().await.is_ok() {
        let progress = match *stages.borrow_and_update() {
            Stage::Started => continue,
            Stage::Queued | Stage::Waiting { .. } => json!({"waiting": true}),
            Stage::Reading { bytes, total } => json!({"bytes": bytes, "total": total}),
            Stage::Step(step) => json!({"step": step}),
        };
        let line = json!({ "progress": progress }).to_string() + "\n";
        if lines.send(line.into()).await.is_err() {
            return;
        }
        tokio::time::sleep(INTERVAL).await;
    }
    // The call is about to return its answer.
    std::future::pending().await
}
