//! `describe_execution`: describes in one answer what an execution did.

mod answer;
mod flow;
mod node;
mod sample;
mod shown;

use std::sync::Arc;

use super::{ID, IGNORE_SIZE_LIMIT_AGAIN, MARK_TOKENS, execution};
use crate::execution::describe::{DescribeProjection, Description};
use crate::n8n::Progress;
use crate::toolkit::answer::{FEW_TOKENS, Tokens};
use crate::toolkit::{Effect, Flag, Id, Locale, arguments};
use crate::tools::{Context, Error, Handler, Tool, ToolCall};

/// The default budget, tokens.
const DESCRIBE_TOKENS: usize = 3000;

/// The tool.
pub static TOOL: Tool = Tool {
    name: "describe_execution",
    title: "Describe an execution",
    description: "Say what an execution did: each node in order with what it does, items in and out, a sample item and how \
                  the values are distributed. Start here if nothing failed, but the result is wrong.",
    parameters: DescribeExecution::PARAMETERS,
    effect: Effect::Read,
    handler: Handler::of::<DescribeExecution>().shared(),
};

arguments! {
    struct DescribeExecution {
        id: Id = ID,
        max_tokens: Tokens<DESCRIBE_TOKENS> = FEW_TOKENS,
        ignore_data_size_limit: Option<Flag> = IGNORE_SIZE_LIMIT_AGAIN,
    }
}

/// The request of a call.
#[derive(Clone, Copy, Debug)]
pub struct DescribeRequest {
    /// The token budget, not counting the source mark.
    pub max_tokens: usize,
    /// The language of the message.
    pub locale: Locale,
}

/// How what is known of the values is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// As lines for agents.
    Words,
    /// As data for the page, which has words of its own; the language of what is said in sentences nevertheless.
    Data(Locale),
}

impl Form {
    /// Agents receive English.
    fn locale(self) -> Locale {
        if let Self::Data(locale) = self { locale } else { Locale::En }
    }
}

impl ToolCall for DescribeExecution {
    async fn run(self, context: Arc<Context>, progress: Progress) -> Result<String, Error> {
        let execution = execution(self.id, self.ignore_data_size_limit);
        let projection = DescribeProjection { redacts: context.redact };
        let request = DescribeRequest { max_tokens: self.max_tokens - MARK_TOKENS, locale: context.locale };
        let compose = move |description, id: Option<&str>| Ok(answer(&description, id, request));
        context.executions().answer(&execution, projection, &progress, compose).await
    }
}

/// The answer as it is sent. `id` is the requested id, if the execution was requested by id.
pub fn answer(description: &Description, id: Option<&str>, request: DescribeRequest) -> String {
    answer::compose(description, id, request, Form::Words)
}

/// The same for the page: facts about values are data, and a sample that continues that of another node names it in `sampleOf`.
pub(in crate::tools) fn data(description: &Description, id: Option<&str>, request: DescribeRequest) -> String {
    answer::compose(description, id, request, Form::Data(request.locale))
}
