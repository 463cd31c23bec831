//! `get_execution`: what happened in an execution of any size, in at most 1,000 tokens.

use std::sync::Arc;

use super::{ID, IGNORE_SIZE_LIMIT, execution, summary_answer};
use crate::execution::summary::SummaryProjection;
use crate::n8n::Progress;
use crate::toolkit::{Effect, Flag, Id, Offset, arguments};
use crate::tools::{Context, Error, Handler, Tool, ToolCall};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "get_execution",
    title: "Summarize an execution",
    description: "Summarize an n8n execution of any size in at most 1,000 tokens: status, error, and each executed node \
                  with its item count, failed nodes first. Start here if a node failed, then call get_execution_by_node; if \
                  it did the wrong thing, start with describe_execution.",
    parameters: GetExecution::PARAMETERS,
    effect: Effect::Read,
    handler: Handler::of::<GetExecution>().shared(),
};

arguments! {
    pub(in crate::tools) struct GetExecution {
        id: Id = ID,
        offset: Offset = "Skip this many of availableNodes; from nextOffset.",
        ignore_data_size_limit: Option<Flag> = IGNORE_SIZE_LIMIT,
    }
}

impl ToolCall for GetExecution {
    async fn run(self, context: Arc<Context>, progress: Progress) -> Result<String, Error> {
        let execution = execution(self.id, self.ignore_data_size_limit);
        let (locale, offers_check) = (context.locale, context.offers_check);
        let compose = move |summary, id: Option<&str>| {
            Ok(summary_answer::compose(&summary, id, self.offset, locale, offers_check))
        };
        context.executions().answer(&execution, SummaryProjection, &progress, compose).await
    }
}
