//! `view_summary`: the summary of an execution without a budget of tokens, as a person reads it on a terminal.

use std::sync::Arc;

use crate::execution::summary::SummaryProjection;
use crate::json::Projection;
use crate::n8n::Progress;
use crate::toolkit::Arguments;
use crate::tools::executions::{execution, get_execution, summary_answer};
use crate::tools::{Call, Context, Handler, Tool};

/// The call. Its answer has the shape of `get_execution`'s.
pub static TOOL: Tool = Tool { name: "view_summary", handler: Handler::new(call).shared(), ..get_execution::TOOL };

/// The most nodes of an answer; the others are counted.
const NODES: usize = 200;

fn call(context: Arc<Context>, arguments: Arguments, progress: Progress) -> Call {
    Box::pin(async move {
        let compose = |summary| summary_answer::compose_for_people(&summary, NODES);
        let projection = SummaryProjection.map(move |summary| summary.map(compose));
        let read = context.executions().read(&execution(&arguments), &projection, &progress).await?;
        Ok(read.origin.mark(read.view?))
    })
}
