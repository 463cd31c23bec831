//! `POST /view/call`: a tool, and its progress, as lines of JSON.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use futures::stream;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, watch};

use super::Page;
use crate::n8n::{Progress, Stage};
use crate::tools::Tool;
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
struct Answer<'a> {
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
    let tool = match page.toolbox.find(&call.tool) {
        Ok(tool) => tool,
        Err(error) => return rest::Error::from(error).into_response(),
    };
    let (sender, mut lines) = mpsc::channel(4);
    tokio::spawn(run(page, tool, call.arguments, sender));
    let lines = stream::poll_fn(move |context| lines.poll_recv(context).map(|line| line.map(Ok::<_, std::io::Error>)));
    let headers = [(CONTENT_TYPE, "application/x-ndjson"), (CACHE_CONTROL, "no-store")];
    (headers, Body::from_stream(lines)).into_response()
}

async fn run(page: Arc<Page>, tool: &'static Tool, arguments: Map<String, Value>, lines: mpsc::Sender<Bytes>) {
    let (progress, stages) = Progress::watched();
    let outcome = tokio::select! {
        () = lines.closed() => return,
        () = report(stages, &lines) => return,
        outcome = rest::run(tool, page.context.clone(), arguments, progress, &page.shutdown) => outcome,
    };
    let last = match outcome {
        Ok(answer) => result(&answer),
        Err(error) => {
            let (_, code, message) = error.parts();
            json!({"error": {"message": message, "code": code}}).to_string()
        }
    };
    // The client may be gone.
    let _ = lines.send(Bytes::from(last + "\n")).await;
}

/// The last line: what the tool returned, without the envelope.
fn result(answer: &str) -> String {
    let data = serde_json::from_str::<Answer<'_>>(answer).ok().and_then(|answer| answer.data);
    format!("{{\"result\":{}}}", data.map_or(answer, RawValue::get))
}

/// Sends progress for as long as the tool runs.
async fn report(mut stages: watch::Receiver<Stage>, lines: &mpsc::Sender<Bytes>) {
    while stages.changed().await.is_ok() {
        let progress = match *stages.borrow_and_update() {
            Stage::Started => continue,
            Stage::Queued | Stage::Waiting { .. } => json!({"waiting": true}),
            Stage::Reading { bytes, total } => json!({"bytes": bytes, "total": total}),
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
