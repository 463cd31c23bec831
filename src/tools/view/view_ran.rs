//! `view_ran`: what `describe_execution` says, with facts about values as data, so that the page words them.

use std::sync::Arc;

use super::locale;
use crate::execution::describe::DescribeProjection;
use crate::json::Projection;
use crate::n8n::Progress;
use crate::toolkit::{Effect, Flag, Id, Text, arguments};
use crate::tools::executions::describe_execution::{self, DescribeRequest};
use crate::tools::executions::{ID, IGNORE_SIZE_LIMIT_AGAIN, execution};
use crate::tools::{Context, Error, Handler, Tool, ToolCall};

/// The call.
pub static TOOL: Tool = Tool {
    name: "view_ran",
    title: "The execution as it ran",
    description: "What each node did, in order, with facts about its values as data.",
    parameters: ViewRan::PARAMETERS,
    effect: Effect::Read,
    handler: Handler::of::<ViewRan>().shared(),
};

/// How much is shown, tokens: more than anyone reads.
const TOKENS: usize = 50_000;

arguments! {
    struct ViewRan {
        id: Id = ID,
        language: Option<Text> = "en or ja.",
        ignore_data_size_limit: Option<Flag> = IGNORE_SIZE_LIMIT_AGAIN,
    }
}

impl ToolCall for ViewRan {
    async fn run(self, context: Arc<Context>, progress: Progress) -> Result<String, Error> {
        let execution = execution(self.id, self.ignore_data_size_limit);
        let request = DescribeRequest { max_tokens: TOKENS, locale: locale(self.language.as_deref(), &context) };
        let source = context.executions();
        let id = source.own_id(&execution.id);
        let projection = DescribeProjection { redacts: context.redact };
        let projection =
            projection.map(move |description| Ok(describe_execution::data(&description?, id.as_deref(), request)));
        source.read(&execution, &projection, &progress).await?.view
    }
}
