//! `stop_execution`: ends a running execution.

use std::sync::Arc;

use serde::Serialize;

use crate::execution::HeaderProjection;
use crate::n8n::{self, Progress};
use crate::toolkit::answer::success;
use crate::toolkit::{Effect, Id, arguments};
use crate::tools::{Context, Error, Handler, Tool, ToolCall};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "stop_execution",
    title: "Stop an execution",
    description: "Stop a running or waiting n8n execution.",
    parameters: StopExecution::PARAMETERS,
    effect: Effect::Overwrite,
    handler: Handler::of::<StopExecution>(),
};

arguments! {
    struct StopExecution {
        id: Id = "The execution's id.",
    }
}

#[derive(Serialize)]
struct StoppedExecution<'a> {
    id: &'a str,
    status: &'a str,
}

impl ToolCall for StopExecution {
    async fn run(self, context: Arc<Context>, progress: Progress) -> Result<String, Error> {
        let n8n = context.n8n()?;
        let stopped = n8n.stop_execution(&self.id, &HeaderProjection, &progress).await;
        let header = stopped.map_err(|error| refused(error, &self.id))?;
        let status = header.ok().and_then(|header| header.status).unwrap_or_else(|| "canceled".to_owned());
        let message = context.locale.choose("実行を停止しました", "Execution stopped");
        Ok(success(message, &StoppedExecution { id: &self.id, status: &status }))
    }
}

/// What to do about a refusal.
fn refused(error: n8n::Error, id: &str) -> Error {
    match error {
        error @ n8n::Error::Refused { .. } => Error::FailedPrecondition(format!(
            "Execution '{id}' was not stopped: {error} Only running and waiting executions can be stopped; list_executions with \
             status: running lists them."
        )),
        n8n::Error::NotFound(_) => Error::FailedPrecondition(format!(
            "Execution '{id}' was not found, or this n8n has no way to stop one over its API (n8n 1.x)."
        )),
        error => error.into(),
    }
}
