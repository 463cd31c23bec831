//! `view_summary`: the summary of an execution without a budget of tokens, as a person reads it on a terminal.

use std::sync::Arc;

use crate::execution::summary::SummaryProjection;
use crate::json::Projection;
use crate::n8n::Progress;
use crate::toolkit::{ArgumentError, Arguments, FromArguments};
use crate::tools::executions::get_execution::{self, GetExecution};
use crate::tools::executions::{execution, summary_answer};
use crate::tools::{Context, Error, Handler, Tool, ToolCall};

/// The call. Its answer has the shape of `get_execution`'s.
pub static TOOL: Tool =
    Tool { name: "view_summary", handler: Handler::of::<ViewSummary>().shared(), ..get_execution::TOOL };

/// The arguments of `get_execution`; the offset is ignored.
struct ViewSummary(GetExecution);

impl FromArguments for ViewSummary {
    fn read(arguments: Arguments) -> Result<Self, ArgumentError> {
        GetExecution::read(arguments).map(Self)
    }
}

/// The most nodes of an answer; the others are counted.
const NODES: usize = 200;

impl ToolCall for ViewSummary {
    async fn run(self, context: Arc<Context>, progress: Progress) -> Result<String, Error> {
        let compose = |summary| summary_answer::compose_for_people(&summary, NODES);
        let projection = SummaryProjection.map(move |summary| summary.map(compose));
        let execution = execution(self.0.id, self.0.ignore_data_size_limit);
        let read = context.executions().read(&execution, &projection, &progress).await?;
        Ok(read.origin.mark(read.view?))
    }
}
