//! `view_trend`: the trend of a workflow as sparklines.

use std::sync::Arc;

use crate::n8n::Progress;
use crate::toolkit::{ArgumentError, Arguments, FromArguments};
use crate::tools::executions::workflow_trend::{self, WorkflowTrend};
use crate::tools::{Context, Error, Handler, Tool, ToolCall};

/// The call: the data of `workflow_trend`, with a value for each of its periods, and without a token budget.
pub static TOOL: Tool =
    Tool { name: "view_trend", handler: Handler::of::<ViewTrend>().shared(), ..workflow_trend::TOOL };

/// The arguments of `workflow_trend`.
struct ViewTrend(WorkflowTrend);

impl FromArguments for ViewTrend {
    fn read(arguments: Arguments) -> Result<Self, ArgumentError> {
        WorkflowTrend::read(arguments).map(Self)
    }
}

impl ToolCall for ViewTrend {
    async fn run(self, context: Arc<Context>, _progress: Progress) -> Result<String, Error> {
        workflow_trend::lines(self.0, &context).await
    }
}
